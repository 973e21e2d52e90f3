"""What happens by itself after a write: rollouts, endpoints, garbage collection, namespaces, CRDs."""

from __future__ import annotations

import pytest

from agent.core.model import Body
from agent.errors import NotServed
from agent.shell.cluster import Resource
from tests.contract.bench import (
    RBAC,
    Bench,
    condition,
    config_map,
    crd,
    deployment,
    id_of,
    named,
    namespace,
    service,
)


def listed(bench: Bench, group: str, kind: str, selector: str = "") -> list[Body]:
    return list(bench.cluster.list(bench.resource(group, kind), "shop", selector).items)


def available(bench: Bench, wanted: int, name: str = "web") -> Body | None:
    """The Deployment when its controller has seen the spec and all its pods are available."""
    live = bench.must(deployment(name))
    status = live.get("status") or {}
    counts = [status.get(key, 0) for key in ("replicas", "updatedReplicas", "availableReplicas")]
    is_seen = status.get("observedGeneration") == live["metadata"]["generation"]
    return live if is_seen and counts == [wanted] * 3 else None


def ready_endpoints(bench: Bench) -> list[str]:
    slices = listed(bench, "discovery.k8s.io", "EndpointSlice", "kubernetes.io/service-name=web")
    endpoints = [end for one in slices for end in one.get("endpoints") or []]
    return sorted(end["targetRef"]["name"] for end in endpoints if end["conditions"]["ready"])


def ready_pods(bench: Bench, selector: str) -> list[str]:
    pods = listed(bench, "", "Pod", selector)
    return sorted(pod["metadata"]["name"] for pod in pods if condition(pod, "Ready") == "True")


def test_a_deployment_becomes_ready_and_its_service_finds_the_pods(bench: Bench) -> None:
    bench.apply(service())
    bench.apply(deployment(replicas=2))
    live = bench.until("two replicas", lambda: available(bench, 2))
    assert condition(live, "Available") == "True"
    bench.until("two endpoints", lambda: len(ready_endpoints(bench)) == 2)
    assert ready_endpoints(bench) == ready_pods(bench, "app=web")


def test_a_service_follows_its_selector(bench: Bench) -> None:
    bench.apply(service(app="old"))
    bench.apply(deployment("old", app="old"))
    bench.apply(deployment("new", app="new"))
    bench.until("old is ready", lambda: available(bench, 1, "old"))
    bench.until("new is ready", lambda: available(bench, 1, "new"))
    bench.until("the old pod", lambda: ready_endpoints(bench) == ready_pods(bench, "app=old"))
    bench.apply(service(app="new"))
    bench.until("the new pod", lambda: ready_endpoints(bench) == ready_pods(bench, "app=new"))


def test_a_rollout_makes_a_second_replica_set_and_ends_the_old_pods(bench: Bench) -> None:
    bench.apply(deployment(replicas=2))
    bench.until("the first", lambda: available(bench, 2))
    first = {one["metadata"]["name"] for one in listed(bench, "apps", "ReplicaSet")}
    bench.apply(deployment(replicas=2, version="v2"))
    bench.until("the second", lambda: available(bench, 2))
    sets = {one["metadata"]["name"]: one["spec"]["replicas"] for one in listed(bench, "apps", "ReplicaSet")}
    assert len(sets) == 2
    assert [sets[name] for name in first] == [0]
    bench.until("two pods", lambda: len(listed(bench, "", "Pod")) == 2)
    images = {pod["spec"]["containers"][0]["image"] for pod in listed(bench, "", "Pod")}
    assert images == {"standin/http:v2"}


def test_what_a_deployment_owns_goes_with_it(bench: Bench) -> None:
    bench.apply(deployment())
    live = bench.until("a replica", lambda: available(bench, 1))
    (owned,) = listed(bench, "apps", "ReplicaSet")
    (owner,) = owned["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("Deployment", live["metadata"]["uid"], True)
    bench.delete_soon(live)
    bench.until("the Deployment is gone", lambda: bench.live(live) is None)
    bench.until("its ReplicaSet is gone", lambda: not listed(bench, "apps", "ReplicaSet"))
    bench.until("its pods are gone", lambda: not listed(bench, "", "Pod"))


def test_a_namespace_takes_its_contents_along(bench: Bench) -> None:
    bench.apply(config_map(a="1"))
    held = config_map("held")
    held["metadata"]["finalizers"] = ["example.dev/hold"]
    bench.apply(held)
    bench.delete_soon(namespace())
    bench.until("the ConfigMap is gone", lambda: bench.live(config_map()) is None)
    going = bench.must(namespace())
    assert going["metadata"]["deletionTimestamp"]
    assert going["status"]["phase"] == "Terminating"
    bench.apply(config_map("held"))
    bench.until("the namespace is gone", lambda: bench.live(namespace()) is None)


def test_a_kind_is_served_once_its_crd_is_established_and_no_longer_when_it_is_gone(bench: Bench) -> None:
    gadget = named("example.dev/v1", "Gadget", "one", "shop", spec={"size": 3})
    with pytest.raises(NotServed):
        bench.of(gadget)
    bench.apply(crd())
    bench.until("established", lambda: condition(bench.must(crd()), "Established") == "True")
    bench.until("served", lambda: bench.cluster.read("/apis/example.dev/v1") == 200)
    resource = bench.until("discovered", lambda: _discovered(bench))
    made = bench.apply(gadget)
    assert made["spec"] == {"size": 3}
    assert bench.must(gadget) == made
    bench.delete_soon(crd())
    bench.until("the CRD is gone", lambda: bench.live(crd()) is None)
    bench.until("no longer served", lambda: bench.cluster.read("/apis/example.dev/v1") == 404)
    with pytest.raises(NotServed):
        bench.cluster.get(resource, id_of(gadget))


def _discovered(bench: Bench) -> Resource | None:
    bench.known.clear()
    try:
        return bench.resource("example.dev", "Gadget")
    except NotServed:
        return None


def test_an_aggregated_role_follows_its_labels(bench: Bench) -> None:
    label = {"example.dev/aggregate": "yes"}
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    whole = named(f"{RBAC}/v1", "ClusterRole", "whole")
    bench.apply({**whole, "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": label}]}})
    part = named(f"{RBAC}/v1", "ClusterRole", "part", rules=[rule])
    part["metadata"]["labels"] = label
    bench.apply(part)
    bench.until("the rule arrives", lambda: bench.must(whole).get("rules") == [rule])
    bench.delete_soon(part)
    bench.until("the rule goes", lambda: not bench.must(whole).get("rules"))


def test_rules_that_were_gathered_stay_when_their_declaration_goes(bench: Bench) -> None:
    label = {"example.dev/aggregate": "kept"}
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    bench.apply(
        named(f"{RBAC}/v1", "ClusterRole", "part", rules=[rule])
        | {"metadata": {"name": "part", "labels": label}}
    )
    whole = named(f"{RBAC}/v1", "ClusterRole", "whole")
    whole["aggregationRule"] = {"clusterRoleSelectors": [{"matchLabels": label}]}
    bench.apply({**whole, "rules": []})
    bench.until("the rule arrives", lambda: bench.must(whole).get("rules") == [rule])
    assert bench.apply(whole)["rules"] == [rule]
