"""Which fields of a live object are ours to take away, by managedFields and by what was applied.

Source of the format: kubernetes.io/docs/reference/using-api/server-side-apply (fieldsV1).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from agent.core.model import Body, FieldPath, PathPart
from agent.core.rules import MISSING

Node: TypeAlias = Mapping[str, Any]
"""One level of fieldsV1: ``f:name``, ``k:{keys}`` and ``v:value`` to the level below."""

Bases: TypeAlias = Callable[[], Sequence[Any]]
"""The trees of the applied bodies (below the root: leaves too), made only when they are asked for."""


def owned_by(manager: str, live: Body) -> tuple[Node, ...]:
    """The fieldsV1 trees of what ``manager`` applied in a live body (one for each API version used)."""
    entries = (live.get("metadata") or {}).get("managedFields") or []
    return tuple(
        entry["fieldsV1"]
        for entry in entries
        if entry.get("manager") == manager
        and entry.get("operation") == "Apply"
        and not entry.get("subresource")
        and entry.get("fieldsV1")
    )


def owned_by_others(manager: str, live: Body, path: FieldPath) -> bool:
    """Whether another field manager than ``manager`` owns this field, by an apply or an update."""
    for entry in (live.get("metadata") or {}).get("managedFields") or []:
        node = entry.get("fieldsV1") or {}
        for part in path:
            node = node.get(field_name(part)) if isinstance(node, Mapping) else None
        if node is not None and entry.get("manager") != manager:
            return True
    return False


def part_of(name: str) -> PathPart | None:
    """The part of a path that a key of fieldsV1 names; None for the whole itself and for values of sets."""
    sort, _, text = name.partition(":")
    match sort:
        case "f":
            return text
        case "k":
            return tuple(sorted(json.loads(text).items()))
        case "i":
            return int(text)
        case _:
            return None


class Claims:
    """What is ours at one field and below it: owned nodes, and the same field in the applied bodies."""

    __slots__ = ("_bases", "_owned")

    def __init__(self, owned: tuple[Node, ...], bases: Bases) -> None:
        self._owned = owned
        self._bases = bases

    @property
    def is_held(self) -> bool:
        """Whether the field itself is ours."""
        return bool(self._owned) or bool(self._bases())

    def below(self, part: PathPart) -> Claims:
        """The claims of a child field."""
        owned = nodes_below(self._owned, part)
        bases = self._bases

        def of_part() -> Sequence[Any]:
            children = (tree.get(part, MISSING) for tree in bases() if isinstance(tree, dict))
            return [child for child in children if child is not MISSING]

        return Claims(owned, of_part)


class AllClaims(Claims):
    """Everything is ours: for two whole bodies, and inside what belongs to one manager as a whole."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__((), list)

    @property
    def is_held(self) -> bool:
        """Always."""
        return True

    def below(self, part: PathPart) -> Claims:
        """The same."""
        del part
        return self


def nodes_below(nodes: tuple[Node, ...], part: PathPart) -> tuple[Node, ...]:
    """What of these levels of fieldsV1 stands below a part of a path."""
    name = field_name(part) if nodes else ""
    return tuple(node[name] for node in nodes if node.get(name) is not None)


def field_name(part: PathPart) -> str:
    """What fieldsV1 calls a part of a path."""
    if isinstance(part, str):
        return f"f:{part}"
    if isinstance(part, int):
        return f"i:{part}"
    if part[0][0] == "":
        return "v:" + json.dumps(part[0][1], ensure_ascii=False)
    return "k:" + json.dumps(dict(part), separators=(",", ":"), ensure_ascii=False)
