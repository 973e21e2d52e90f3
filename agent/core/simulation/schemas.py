"""How the fields of one kind merge: the table's rows for built-in kinds, a CRD's schema for custom ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agent.core.model import Body
from agent.core.simulation.fields import Schema
from agent.core.simulation.tables import EACH, Merge, Served, Steps, dig
from agent.core.simulation.world import State

EVERY_KIND: Final = ""
"""Rows that name no kind hold for custom resources too (metadata, status.conditions)."""


def schema_of(state: State, served: Served, version: str) -> Schema:
    """The merge rules of a served kind."""
    if served.kind in state.tables.served:
        return state.tables.merge.get(served.kind.kind, {})
    common = state.tables.merge.get(EVERY_KIND, {})
    for crd in state.of("apiextensions.k8s.io", "CustomResourceDefinition").values():
        spec = crd["spec"]
        if (spec["group"], spec["names"]["kind"]) == served.storage:
            for entry in spec["versions"]:
                if entry["name"] == version:
                    return {**common, **dict(_custom(dig(entry, ("schema", "openAPIV3Schema")) or {}, ()))}
    return common


def _custom(schema: Mapping[str, Any], at: Steps) -> Iterator[tuple[Steps, Merge]]:
    """``x-kubernetes-list-type`` and ``x-kubernetes-map-type`` of a structural schema.

    https://kubernetes.io/docs/reference/using-api/server-side-apply/#custom-resources-and-server-side-apply
    """
    if schema.get("x-kubernetes-map-type") == "atomic":
        yield at, "atomic"
    match schema.get("x-kubernetes-list-type"):
        case "map":
            yield at, tuple(schema["x-kubernetes-list-map-keys"])
        case "set":
            yield at, "set"
    for name, inner in (schema.get("properties") or {}).items():
        yield from _custom(inner, (*at, name))
    items = schema.get("items")
    if isinstance(items, dict):
        yield from _custom(items, (*at, EACH))


def storage_version(crd: Body) -> str:
    """The version in which a CRD's objects are stored."""
    return next(str(entry["name"]) for entry in crd["spec"]["versions"] if entry.get("storage"))
