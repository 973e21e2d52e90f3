"""The kubelet's stand-in: a pod does what its spec and its knobs say."""

from typing import Any

from tests.rig.api import Api
from tests.rig.cluster import Cluster


def deployment(name: str = "web", **knobs: str) -> dict[str, Any]:
    """A Deployment of plain HTTP servers in the namespace web."""
    annotations = {f"standin.dev/{key.replace('_', '-')}": value for key, value in knobs.items()}
    container = {"name": "web", "image": "standin/http:v1", "ports": [{"containerPort": 80}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "web"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}, "annotations": annotations},
                "spec": {"containers": [container]},
            },
        },
    }


NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "web"}}
SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web", "namespace": "web"},
    "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
}


def test_deployment_of_two_behind_a_service_both_pods_answer(cluster: Cluster) -> None:
    cluster.apply([NAMESPACE, deployment(), SERVICE])
    cluster.wait_ready("web", "web")
    address = cluster.api.get("/api/v1/namespaces/web/services/web")["spec"]["clusterIP"]
    client = Api(f"http://{address}", "none", cluster.api.ca)
    names = {pod["metadata"]["name"] for pod in cluster.pods("web")}
    seen: set[str] = set()

    def both_answered() -> bool:
        reply = client.raw("GET", "/", headers={"Connection": "close"})
        assert reply.json()["version"] == "v1"
        seen.add(reply.json()["pod"])
        return seen == names

    cluster.wait("answers of both pods", both_answered)
    assert len(names) == 2
