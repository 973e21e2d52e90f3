"""The aggregated API server's stand-in answers by its own rights, and shows at once when they are gone."""

from pathlib import Path
from typing import Any

import pytest

from tests.rig.api import Api, ApiError
from tests.rig.cluster import Cluster
from tests.rig.resources import load

MANIFESTS = Path(__file__).parent / "manifests"
WIDGETS = "/apis/example.dev/v3/namespaces/default/widgets"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


def aggregated(cluster: Cluster) -> list[dict[str, Any]]:
    """The manifests, with the CA that verifies the server."""
    bodies = list(load(MANIFESTS / "aggregated.yaml"))
    for body in bodies:
        if body["kind"] == "APIService":
            body["spec"]["caBundle"] = cluster.ca_bundle
    return bodies


@pytest.fixture
def served(cluster: Cluster) -> Cluster:
    """A cluster with the aggregated server in service."""
    cluster.apply(aggregated(cluster))
    cluster.wait_ready("ext", "server")
    cluster.wait_available("v3.example.dev")
    return cluster


def widget(name: str) -> dict[str, Any]:
    """A widget."""
    return {"apiVersion": "example.dev/v3", "kind": "Widget", "metadata": {"name": name}, "spec": {"size": 1}}


def test_objects_made_through_the_aggregator_are_stored_in_the_other_group(served: Cluster) -> None:
    served.apply(widget("one"))
    read = served.api.get(f"{WIDGETS}/one")
    stored = served.api.get("/apis/store.example.dev/v1/namespaces/default/widgets/one")
    assert read["apiVersion"] == "example.dev/v3"
    assert read["metadata"]["managedFields"][0]["apiVersion"] == "example.dev/v3"
    assert read["spec"] == stored["spec"] == {"size": 1}
    served.api.delete(f"{WIDGETS}/one")
    assert served.api.get(WIDGETS)["items"] == []


def test_watch_through_the_aggregator_sends_what_is_made(served: Cluster) -> None:
    version = served.api.get(WIDGETS)["metadata"]["resourceVersion"]
    served.apply(widget("two"))
    event = next(served.api.watch(WIDGETS, version, seconds=5))
    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "two")
    assert event["object"]["apiVersion"] == "example.dev/v3"


@pytest.mark.parametrize(
    ("binding", "told"),
    [("widget-storage", "storage: 403"), ("widget-delegation", "cannot authorize")],
)
def test_binding_taken_away_requests_fail_until_it_is_back(served: Cluster, binding: str, told: str) -> None:
    served.api.get(WIDGETS)
    served.api.delete(f"{RBAC}/clusterrolebindings/{binding}")

    def fails() -> ApiError | None:
        try:
            served.api.get(WIDGETS)
        except ApiError as error:
            return error
        return None

    error = served.wait("an error", fails, timeout=2)
    assert error.status in {500, 503}
    if error.status == 500:
        assert told in error.text
    served.apply([body for body in aggregated(served) if body["metadata"]["name"] == binding])
    served.wait("an answer", lambda: served.api.get(WIDGETS), timeout=15)


def test_caller_without_rights_is_refused_by_the_server(served: Cluster) -> None:
    account = "/api/v1/namespaces/default/serviceaccounts/default/token"
    token = served.api.create(account, {"spec": {"expirationSeconds": 3600}})["status"]["token"]
    caller = Api(served.api.server, token, served.api.ca)
    with pytest.raises(ApiError, match="403"):
        caller.get(WIDGETS)
    caller.close()


def test_server_that_may_not_read_the_authentication_config_never_gets_ready(cluster: Cluster) -> None:
    bodies = [body for body in aggregated(cluster) if body["metadata"]["name"] != "widget-auth-reader"]
    cluster.apply(bodies)
    row = cluster.wait(
        "a reason in the pod's status",
        lambda: [
            row["message"]
            for pod in cluster.pods("ext")
            for row in pod["status"].get("conditions", [])
            if row["type"] == "Ready" and "extension-apiserver-authentication" in row.get("message", "")
        ],
    )
    assert "403" in row[0]


def test_certificate_of_a_mounted_secret_is_served_once_the_secret_is_there(cluster: Cluster) -> None:
    bodies = aggregated(cluster)
    for body in bodies:
        if body["kind"] == "Deployment":
            body["spec"]["template"]["spec"]["containers"][0]["args"].append("--tls-secret=server-tls")
    cluster.apply(bodies)
    cluster.wait("a pod that waits", lambda: waiting_for(cluster, 'secrets "server-tls" not found'))
    cluster.apply(cluster.tls_secret("ext", "server-tls", "server"))
    cluster.wait_available("v3.example.dev")
    assert cluster.api.get(WIDGETS)["items"] == []


def waiting_for(cluster: Cluster, reason: str) -> bool:
    """Whether a pod of the server says that it waits for this."""
    rows = [row for pod in cluster.pods("ext") for row in pod["status"].get("conditions", [])]
    return any(row.get("message") == reason for row in rows)
