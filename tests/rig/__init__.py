"""The rig: a real control plane for tests, with pods that are sockets and servers honest about their rights.

A test takes the fixture `cluster` (a `tests.rig.cluster.Cluster`) and is marked `cluster` by that alone. One
control plane per worker is started when the first test asks for it (4 s); after each test the cluster is as
it was, so a test may use any names. A test that cannot have its control plane fails; build it once with
`make controlplane`. Whoever wants the process itself (logs, folder) takes `control_plane`::

    def test_web_moves(cluster: Cluster) -> None:
        cluster.apply(Path("release-1"))          # text, file, folder, objects; server-side apply
        cluster.wait_ready("web", "frontend")     # Deployments of the namespace have rolled out
        cluster.wait_available("v3.projectcalico.org")
        with cluster.sampling(
            cluster.through_aggregator("projectcalico.org/v3", "networkpolicies"),
            cluster.through_service("web", "frontend"),
            cluster.through_webhook({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}),
        ) as sampler:
            run_the_agent(cluster.kubeconfig)     # a subprocess is in the same network
            sampler.wait_samples(300)
        assert sampler.result.valid, sampler.result
        assert sampler.result.lost == 0, sampler.result

Looking: `cluster.get(api_version, kind, name, namespace)`, `.objects(...)`, `.pods(namespace, selector)`,
`.wait(what, look)`, and `cluster.api`, an admin's client of plain paths. Knobs: annotations `standin.dev/...`
in a pod template, `cluster.turn(namespace, selector, never_ready="true")` on running pods, `cluster.room(1)`
for the node. Images and their flags: see `tests.rig.kubelet`. Certificates: `cluster.ca_bundle` verifies the
servers of the stand-ins and the Secrets of `cluster.tls_secret(namespace, name, service)`.

By hand: `make cluster` leaves one running, `python -m tests.rig shell` opens a shell in its network, and
`python -m tests.rig run -- COMMAND` runs a command beside a control plane of its own.
"""
