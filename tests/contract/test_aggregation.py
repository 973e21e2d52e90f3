"""A kind behind an APIService: served while its backend serves, by the rights that the backend has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.core.model import Body, ObjectId
from agent.errors import ClusterError, NotServed, Unreachable
from agent.shell.cluster import Resource
from tests.contract.bench import RBAC, Bench, condition, named
from tests.rig.resources import load

MANIFESTS = Path(__file__).parents[1] / "rig" / "manifests" / "aggregated.yaml"
API_SERVICE = named("apiregistration.k8s.io/v1", "APIService", "v3.example.dev")
SERVER = named("apps/v1", "Deployment", "server", "ext")
WIDGET = named("example.dev/v3", "Widget", "one", "shop", spec={"size": 1})
SCALER = "scaler"


@pytest.fixture
def served(bench: Bench) -> Bench:
    """The group ``example.dev`` in service: stored as ``store.example.dev`` behind one pod."""
    for body in load(MANIFESTS):
        if body["kind"] == "APIService":
            body["spec"]["caBundle"] = bench.ca_bundle
        bench.apply(body)
    bench.until("available", lambda: available(bench) == "True")
    bench.until("discovered", lambda: discovered(bench))
    return bench


def available(bench: Bench) -> str:
    return condition(bench.must(API_SERVICE), "Available")


def discovered(bench: Bench) -> Resource | None:
    bench.known.clear()
    try:
        return bench.of(WIDGET)
    except NotServed:
        return None


def scale(bench: Bench, replicas: int) -> None:
    bench.apply({**SERVER, "spec": {"replicas": replicas}}, SCALER, take_over=True)


def error_of(bench: Bench, widgets: Resource) -> ClusterError | None:
    try:
        bench.cluster.list(widgets)
    except ClusterError as error:
        return error
    return None


def test_objects_go_through_the_backend_into_its_storage(served: Bench) -> None:
    made = served.apply(WIDGET)
    assert (made["apiVersion"], made["spec"]) == ("example.dev/v3", {"size": 1})
    stored: dict[str, Any] = named("store.example.dev/v1", "Widget", "one", "shop")
    assert served.must(stored)["spec"] == {"size": 1}
    (listed,) = served.cluster.list(served.of(WIDGET)).items
    assert listed["metadata"]["name"] == "one"


def test_a_backend_without_pods_is_unavailable_and_unreachable_until_it_is_back(served: Bench) -> None:
    widgets = served.of(WIDGET)
    scale(served, 0)
    served.until("unavailable", lambda: available(served) == "False")
    assert isinstance(error_of(served, widgets), Unreachable)
    assert served.cluster.read("/apis/example.dev/v3") == 503
    served.until("discovery tells", lambda: "example.dev/v3" in served.cluster.discover().failed)
    scale(served, 1)
    served.until("available again", lambda: available(served) == "True")
    served.until("served again", lambda: error_of(served, widgets) is None)


def test_a_backend_that_loses_its_rights_answers_with_errors_at_once(served: Bench) -> None:
    widgets = served.of(WIDGET)
    storage = named(f"{RBAC}/v1", "ClusterRoleBinding", "widget-storage")
    served.delete_soon(storage)
    served.until("the rights are gone", lambda: error_of(served, widgets))
    error = error_of(served, widgets)
    assert not isinstance(error, NotServed)
    with pytest.raises(ClusterError):
        served.cluster.get(widgets, ObjectId("example.dev", "Widget", "shop", "one"))
    body: Body = next(
        one for one in load(MANIFESTS) if one["metadata"]["name"] == "widget-storage" and "roleRef" in one
    )
    served.apply(body)
    served.until("the rights are back", lambda: error_of(served, widgets) is None)
