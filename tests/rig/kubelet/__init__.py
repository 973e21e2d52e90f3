"""The kubelet's stand-in: pods are sockets on addresses of their own, with their own ServiceAccount's rights.

Run as `python -m tests.rig.kubelet FOLDER`, one process beside each control plane. It makes the Node, binds
pods to it, gives each an address, opens its containers' ports, probes them, writes their status, ends them
when they are deleted. NetworkPolicies are enforced by nothing here; `blocked-by` stands for a network that
drops packets.

What a container does follows from its image, `standin/<name>:<version>`:

- `standin/http`: answers every request with its version and pod name as JSON. Any other image does the same.
- `standin/apiserver`: an aggregated API server in front of custom resources of another group, see
    `aggregated`.
- `standin/webhook`: answers AdmissionReview and ConversionReview, see `webhook`.

Flags that all of them take (args of the container): `--need=PATH`, read under the pod's own identity for
every request, and `--need-at-start=PATH`, read before the ports open; both can be given several times, and
`{namespace}` stands for the pod's own. A path is an API path such as
`/api/v1/namespaces/{namespace}/configmaps/settings`. `--tls` serves TLS; `--tls-secret=NAME` with the
certificate of that Secret, which the pod waits for as for any volume (default: a certificate of the rig's
authority for *.NAMESPACE.svc).

A node annotated `standin.dev/stands-in-for-all` is for releases of others: pods of images that nobody has
here are ready without a port, a probe or what they mount, and a test answers at their addresses.

Knobs are annotations `standin.dev/<knob>` on the pod (in a template, or put on the running pod), see `knobs`.
"""
