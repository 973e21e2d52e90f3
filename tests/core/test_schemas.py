"""Schemas as rows: of the server's documents, and inside the definitions of the set itself."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.model import Body, GroupKind, path_text
from agent.core.schemas import schema_of
from agent.core.tables import ListRow
from tests.core.upgrades import release, upgrade

KIND = GroupKind("example.test", "Pool")
QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)


def listed(schema: Body, components: dict[str, Body] | None = None) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(row.path, row.type, row.keys) for row in schema_of(KIND, schema, components).lists]


def spec(**properties: Any) -> Body:
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}


MAP = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}


@pytest.mark.parametrize(
    ("field", "rows"),
    [
        (MAP, [("spec.x", "map", ("name",))]),
        ({"type": "array", "x-kubernetes-list-type": "set"}, [("spec.x", "set", ())]),
        ({"type": "object", "x-kubernetes-map-type": "atomic"}, [("spec.x", "atomic", ())]),
        ({"type": "array", "x-kubernetes-list-type": "atomic"}, []),
        ({"type": "array", "items": spec(y=MAP)}, [("spec.x[].spec.y", "map", ("name",))]),
        ({"type": "object", "additionalProperties": MAP}, [("spec.x.*", "map", ("name",))]),
    ],
)
def test_lists(field: Body, rows: list[tuple[str, str, tuple[str, ...]]]) -> None:
    assert listed(spec(x=field)) == rows


def test_references_are_followed_and_one_to_itself_ends() -> None:
    ref = {"$ref": "#/components/schemas/Node"}
    node = {"properties": {"children": {**MAP, "items": {"allOf": [ref], "default": {}}}}}
    assert listed(spec(x={"allOf": [ref]}), {"Node": node}) == [("spec.x.children", "map", ("name",))]


def test_what_every_object_has_is_left_to_the_tables() -> None:
    every = dict.fromkeys(("metadata", "status", "apiVersion", "kind"), MAP)
    assert listed({"properties": every}) == []


def test_defaults_and_quantities() -> None:
    found = schema_of(KIND, spec(a={"default": 3}, b={"default": {}}, c={"pattern": QUANTITY}))
    assert [(row.path, row.value) for row in found.defaults] == [("spec.a", 3)]
    assert [row.path for row in found.quantities] == ["spec.c"]
    assert all(isinstance(row, ListRow) for row in found.lists)


DEFINITION = f"""
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: pools.example.test}}
spec:
  group: example.test
  scope: Namespaced
  names: {{kind: Pool, plural: pools}}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {{anyOf: [{{type: integer}}, {{type: string}}], pattern: '{QUANTITY}'}}
              mode: {{type: string, default: Fast}}
              zones:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {{type: object, properties: {{name: {{type: string}}, weight: {{type: integer}}}}}}
---
"""


def pool(text: str) -> str:
    head = "apiVersion: example.test/v1\nkind: Pool\nmetadata: {name: a, namespace: shop}\n"
    return f"{DEFINITION}{head}spec: {text}\n"


@pytest.mark.parametrize(
    ("old", "new", "paths"),
    [
        ("{size: 1000m}", "{size: 1}", []),
        ("{size: 1000m}", "{size: 1001m}", ["spec.size"]),
        ("{mode: Fast}", "{}", []),
        ("{mode: Slow}", "{}", ["spec.mode"]),
        ("{zones: [{name: a}, {name: b}]}", "{zones: [{name: b}, {name: a}]}", []),
        ("{zones: [{name: a, weight: 1}]}", "{zones: [{name: a, weight: 2}]}", ["spec.zones[a].weight"]),
    ],
)
def test_objects_of_a_kind_that_the_set_defines_are_compared_by_its_schema(
    old: str, new: str, paths: list[str]
) -> None:
    changes = upgrade(pool(old), pool(new)).plan().changes
    assert [path_text(field.path) for change in changes for field in change.fields] == paths


def test_objects_of_a_kind_that_the_cluster_defines_are_compared_by_its_schema() -> None:
    """The definition is another set's."""
    (definition,) = (manifest.body for manifest in release(DEFINITION).manifests.values())
    base, head = (pool(text).removeprefix(DEFINITION) for text in ("{size: 1000m}", "{size: 1}"))
    assert upgrade(base, head, definition).plan().changes == ()
    assert len(upgrade(base, head).plan().changes) == 1


def test_entry_twice_in_a_list_of_a_kind_that_the_set_defines_is_told() -> None:
    (finding,) = upgrade("", pool("{zones: [{name: a}, {name: a}]}")).plan().findings
    assert "spec.zones[a] stands twice" in finding.message
