"""Discovery at the wire: aggregated where the server knows it, else one group-version after another."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.model import GroupKind
from agent.errors import Unauthorized
from agent.shell.cluster import Resource
from agent.shell.kube import KubeCluster
from tests.shell.wire import Answer, Wire, status

VERBS = frozenset({"get", "list"})
DEPLOYMENT = GroupKind("apps", "Deployment")
WIDGET = GroupKind("example.dev", "Widget")
WIDGETS = {
    "kind": "APIResourceList",
    "resources": [
        {"name": "widgets", "kind": "Widget", "namespaced": True, "verbs": ["list", "get"]},
        {"name": "widgets/status", "kind": "Widget", "namespaced": True, "verbs": ["patch"]},
    ],
}


def entry(kind: str, plural: str, *, scope: str = "Namespaced") -> dict[str, Any]:
    return {"resource": plural, "responseKind": {"kind": kind}, "scope": scope, "verbs": ["get", "list"]}


def version(name: str, *resources: dict[str, Any], freshness: str = "Current") -> dict[str, Any]:
    return {"version": name, "freshness": freshness, "resources": list(resources)}


def aggregated(**groups: list[dict[str, Any]]) -> Answer:
    items = [
        {"metadata": {"name": name.replace("_", ".")}, "versions": found} for name, found in groups.items()
    ]
    return Answer(body={"kind": "APIGroupDiscoveryList", "items": items})


def resource(kind: GroupKind, plural: str, *versions: str) -> Resource:
    return Resource(kind, versions, plural, is_namespaced=True, verbs=VERBS)


def core() -> Answer:
    items = [{"metadata": {}, "versions": [version("v1", entry("Node", "nodes", scope="Cluster"))]}]
    return Answer(body={"kind": "APIGroupDiscoveryList", "items": items})


def test_two_requests_tell_every_kind_with_its_versions_preferred_first(
    wire: Wire, kube: KubeCluster
) -> None:
    deployments = entry("Deployment", "deployments")
    bare = {"resource": "logs", "scope": "Cluster", "subresources": [{"subresource": "tail"}]}
    wire.answer("GET /api", core())
    wire.answer(
        "GET /apis", aggregated(apps=[version("v1", deployments, bare), version("v1beta1", deployments)])
    )
    found = kube.discover()
    assert found.resources == {
        GroupKind("", "Node"): Resource(
            GroupKind("", "Node"), ("v1",), "nodes", is_namespaced=False, verbs=VERBS
        ),
        DEPLOYMENT: resource(DEPLOYMENT, "deployments", "v1", "v1beta1"),
    }
    assert not found.failed
    assert len(wire.seen) == 2
    assert "as=APIGroupDiscoveryList" in wire.seen[0].headers["accept"]


def test_a_kind_that_two_resources_answer_with_is_the_first(wire: Wire, kube: KubeCluster) -> None:
    wire.answer("GET /api", core())
    wire.answer(
        "GET /apis",
        aggregated(apps=[version("v1", entry("Deployment", "deployments"), entry("Deployment", "more"))]),
    )
    assert kube.discover().resources[DEPLOYMENT] == resource(DEPLOYMENT, "deployments", "v1")


def test_a_stale_group_version_is_asked_itself(wire: Wire, kube: KubeCluster) -> None:
    wire.answer("GET /api", core())
    wire.answer("GET /apis", aggregated(example_dev=[version("v1", freshness="Stale")]))
    wire.answer("GET /apis/example.dev/v1", Answer(body=WIDGETS), Answer(503, b"service unavailable"))
    assert kube.discover().resources[WIDGET] == resource(WIDGET, "widgets", "v1")
    dead = kube.discover()
    assert WIDGET not in dead.resources
    assert "service unavailable" in dead.failed["example.dev/v1"]


def test_an_old_server_is_asked_group_by_group_and_what_fails_is_named(wire: Wire, kube: KubeCluster) -> None:
    nodes = {"resources": [{"name": "nodes", "kind": "Node", "namespaced": False, "verbs": ["get", "list"]}]}
    versions = [{"version": "v1beta1"}, {"version": "v1"}]
    groups = [
        {"name": "example.dev", "versions": versions, "preferredVersion": {"version": "v1"}},
        {"name": "dead.dev", "versions": [{"version": "v2"}]},
    ]
    wire.answer("GET /api", Answer(body={"kind": "APIVersions", "versions": ["v1"]}))
    wire.answer("GET /api/v1", Answer(body=nodes))
    wire.answer("GET /apis", Answer(body={"kind": "APIGroupList", "groups": groups}))
    wire.answer("GET /apis/example.dev/v1", Answer(body=WIDGETS))
    wire.answer("GET /apis/example.dev/v1beta1", Answer(body=WIDGETS))
    wire.answer("GET /apis/dead.dev/v2", status(503, "ServiceUnavailable", "no endpoints"))
    found = kube.discover()
    assert found.resources[WIDGET] == resource(WIDGET, "widgets", "v1", "v1beta1")
    assert set(found.resources) == {WIDGET, GroupKind("", "Node")}
    assert found.failed.keys() == {"dead.dev/v2"}
    assert "no endpoints" in found.failed["dead.dev/v2"]


def test_a_server_that_refuses_us_is_no_empty_server(wire: Wire, kube: KubeCluster) -> None:
    wire.answer("GET /api", status(401, "Unauthorized", "Unauthorized"))
    with pytest.raises(Unauthorized, match="cannot discover /api"):
        kube.discover()
