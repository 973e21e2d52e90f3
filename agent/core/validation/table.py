"""The shipped table of schemas, made from the OpenAPI v3 documents of a Kubernetes API server.

It keeps what is compared, filled in and checked; descriptions, and what nothing refers to, are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from agent.core.model import Body
from agent.core.validation.closing import COMPONENTS

_KEPT: Final = frozenset(
    {
        "type", "format", "enum", "required", "default", "oneOf", "$ref",
        "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type",
    }
)  # fmt: skip
_OF_KIND: Final = "x-kubernetes-group-version-kind"


def table_of(version: str, documents: Iterable[Body]) -> Body:
    """``version`` of Kubernetes, ``kinds`` ("apps/v1 Deployment") by component, and the ``components``."""
    nodes: dict[str, Body] = {}
    kinds: dict[str, str] = {}
    for document in documents:
        for name, node in ((document.get("components") or {}).get("schemas") or {}).items():
            nodes[name] = _kept(node)
            if "metadata" in (node.get("properties") or {}):
                kinds |= {kind_key(one): name for one in node.get(_OF_KIND) or ()}
    kinds = {key: name for key, name in kinds.items() if "items" not in nodes[name]["properties"]}
    used: set[str] = set()
    for name in kinds.values():
        _follow(name, nodes, used)
    components = {name: nodes[name] for name in sorted(used)}
    return {"version": version, "kinds": dict(sorted(kinds.items())), "components": components}


def kind_key(kind: Mapping[str, Any]) -> str:
    """``apps/v1 Deployment``, of a group, version and kind."""
    group = f"{kind['group']}/" if kind.get("group") else ""
    return f"{group}{kind['version']} {kind['kind']}"


def _kept(node: Body) -> Body:
    parts: list[Body] = node.get("allOf") or []
    if len(parts) == 1:
        node = {**node, **parts[0]}
    out = {key: value for key, value in node.items() if key in _KEPT and (key, value) != ("default", {})}
    if "properties" in node:
        out["properties"] = {name: _kept(below) for name, below in node["properties"].items()}
    for word in ("items", "additionalProperties"):
        if isinstance(node.get(word), dict):
            out[word] = _kept(node[word])
    return out


def _follow(name: str, nodes: Mapping[str, Body], used: set[str]) -> None:
    if name not in used:
        used.add(name)
        for other in _references(nodes[name]):
            _follow(other, nodes, used)


def _references(node: Any) -> Iterable[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"].removeprefix(COMPONENTS)
        for below in node.values():
            yield from _references(below)
    elif isinstance(node, list):
        for below in node:
            yield from _references(below)
