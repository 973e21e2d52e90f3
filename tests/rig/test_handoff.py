"""The rig can tell a right handoff of an aggregated server from a wrong one: the first loses nothing.

The same releases, moved by hand: in the order that holds, and in the obvious one (apply, then prune).
"""

import copy
from typing import Any

from tests.rig.cluster import Cluster
from tests.rig.test_aggregated import aggregated

Bodies = list[dict[str, Any]]
SHARED = frozenset({"ClusterRoleBinding", "RoleBinding"})


def moved(bodies: Bodies, *, both: bool = False) -> Bodies:
    """The release in the namespace ext2, its server ready after 3 s; with the subjects of both releases."""
    new = copy.deepcopy([body for body in bodies if body["kind"] != "CustomResourceDefinition"])
    for body in new:
        match body["kind"]:
            case "Namespace":
                body["metadata"]["name"] = "ext2"
            case "ClusterRoleBinding" | "RoleBinding":
                moved_subjects = [{**subject, "namespace": "ext2"} for subject in body["subjects"]]
                body["subjects"] = [*body["subjects"], *moved_subjects] if both else moved_subjects
            case "APIService":
                body["spec"]["service"]["namespace"] = "ext2"
            case "Deployment":
                annotations = {"standin.dev/ready-after": "3"}
                body["spec"]["template"]["metadata"]["annotations"] = annotations
        if body["metadata"].get("namespace") == "ext":
            body["metadata"]["namespace"] = "ext2"
    return new


def of_kinds(bodies: Bodies, *kinds: str) -> Bodies:
    """The bodies of these kinds."""
    return [body for body in bodies if body["kind"] in kinds]


def start(cluster: Cluster) -> Bodies:
    """Put the old release in service and return it."""
    old = aggregated(cluster)
    cluster.apply(old)
    cluster.wait_ready("ext", "server")
    cluster.wait_available("v3.example.dev")
    return old


def test_widened_then_repointed_then_narrowed_loses_nothing(cluster: Cluster) -> None:
    old = start(cluster)
    new = moved(old)
    with cluster.sampling(cluster.through_aggregator("example.dev/v3", "widgets")) as sampler:
        sampler.wait_samples(10)
        cluster.apply(of_kinds(moved(old, both=True), *SHARED))
        cluster.apply([body for body in new if body["kind"] not in {*SHARED, "APIService"}])
        cluster.wait_ready("ext2", "server")
        cluster.apply(of_kinds(new, "APIService"))
        cluster.wait_available("v3.example.dev")
        cluster.delete(of_kinds(old, "Deployment"))
        cluster.wait("the old pods gone", lambda: not cluster.pods("ext"))
        cluster.apply(of_kinds(new, *SHARED))
        cluster.delete(of_kinds(old, "Namespace"))
        sampler.wait_samples(sampler.so_far().samples + 20)
    assert sampler.result.valid, str(sampler.result)
    assert sampler.result.lost == 0, str(sampler.result)


def test_applied_then_pruned_loses_samples(cluster: Cluster) -> None:
    old = start(cluster)
    with cluster.sampling(cluster.through_aggregator("example.dev/v3", "widgets")) as sampler:
        good = sampler.wait_samples(10)
        cluster.apply(moved(old))
        cluster.delete(of_kinds(old, "Namespace"))
        cluster.wait_ready("ext2", "server")
        cluster.wait_available("v3.example.dev")
    assert good.lost == 0, str(good)
    assert sampler.result.valid, str(sampler.result)
    assert sampler.result.lost >= 10, str(sampler.result)
