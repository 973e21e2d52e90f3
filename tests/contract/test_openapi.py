"""What a cluster says of kinds that definitions bring: lists, defaults, fields; one key for one content."""

from __future__ import annotations

from copy import deepcopy

from agent.core.model import Body, GroupKind
from agent.core.schemas import Schema, described
from tests.contract.bench import Bench, crd

GADGET = GroupKind("example.dev", "Gadget")
VERSION = "example.dev/v1"
PARTS = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    "items": {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}, "size": {"type": "integer", "default": 3}},
    },
}


def definition(parts: Body) -> Body:
    body = deepcopy(crd())
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"parts": parts}}}}
    body["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": schema}
    return body


def schema(bench: Bench) -> Schema | None:
    document = bench.cluster.openapi({VERSION}).get(VERSION)
    return described(document.body, VERSION).get(GADGET) if document else None


def test_a_definition_is_described_and_described_anew_when_it_changes(bench: Bench) -> None:
    bench.apply(definition(PARTS))
    found = bench.until("the kind is described", lambda: schema(bench))
    assert [(row.path, row.type, row.keys) for row in found.lists] == [("spec.parts", "map", ("name",))]
    assert [(row.path, row.value) for row in found.defaults] == [("spec.parts[].size", 3)]
    key = bench.cluster.openapi({VERSION})[VERSION].key
    assert bench.cluster.openapi({VERSION})[VERSION].key == key
    bench.apply(definition({"type": "array", "items": {"type": "string"}}))
    bench.until("the change is described", lambda: (now := schema(bench)) is not None and not now.lists)
    assert bench.cluster.openapi({VERSION})[VERSION].key != key


def test_a_group_version_that_nobody_serves_is_left_out(bench: Bench) -> None:
    assert dict(bench.cluster.openapi({"nothing.example/v1"})) == {}
