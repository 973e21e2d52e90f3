"""A test leaves its cluster as it found it, whatever it broke."""

from pathlib import Path

from tests.rig.cleanup import Baseline
from tests.rig.cluster import Cluster
from tests.rig.test_aggregated import WIDGETS, aggregated, widget
from tests.rig.test_webhook import guarding_config_maps

MANIFESTS = Path(__file__).parent / "manifests"


def test_broken_discovery_dead_webhooks_and_finalizers_are_no_hindrance(cluster: Cluster) -> None:
    before = Baseline.take(cluster.api)
    cluster.apply(aggregated(cluster))
    cluster.apply(guarding_config_maps(cluster))
    cluster.wait_available("v3.example.dev")
    cluster.apply({**widget("held"), "metadata": {"name": "held", "finalizers": ["example.dev/never"]}})
    held = {"name": "held", "namespace": "ext", "finalizers": ["example.dev/never"]}
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": held})
    cluster.api.delete("/apis/apps/v1/namespaces/ext/deployments/server")
    cluster.api.delete("/api/v1/namespaces/ext")
    before.restore(cluster.api)
    assert cluster.api.find("/api/v1/namespaces/ext") is None
    assert (
        cluster.api.find("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.store.example.dev")
        is None
    )
    assert cluster.api.find(WIDGETS) is None


def test_changed_and_deleted_objects_are_put_back(cluster: Cluster) -> None:
    before = Baseline.take(cluster.api)
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    rules = cluster.api.get(f"{roles}/view")["rules"]
    cluster.api.patch(f"{roles}/admin", {"metadata": {"labels": {"touched": "yes"}}})
    cluster.api.delete(f"{roles}/view")
    cluster.room(1)
    before.restore(cluster.api)
    assert "touched" not in cluster.api.get(f"{roles}/admin")["metadata"]["labels"]
    assert cluster.api.get(f"{roles}/view")["rules"] == rules
    room = "/api/v1/nodes/node"
    cluster.wait("the room", lambda: cluster.api.get(room)["status"]["allocatable"]["pods"] == "200")


def test_next_test_finds_none_of_it(cluster: Cluster) -> None:
    names = {row["metadata"]["name"] for row in cluster.objects("v1", "Namespace")}
    assert names == {"default", "kube-node-lease", "kube-public", "kube-system"}
    assert cluster.api.get("/api/v1/pods")["items"] == []
