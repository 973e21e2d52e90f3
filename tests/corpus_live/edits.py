"""Edits of one declared field, as a person would make them, chosen by the server's own list of them.

What is declared, and in which units, is read from ``managedFields`` (Kubernetes: server-side apply): an
atomic list is one leaf there. Nothing here knows the agent's tables.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from enum import Enum
from random import Random
from typing import Any, NamedTuple

from agent.core.model import Body, FieldPath, ObjectId, PathPart

NOTHING = object()
"""No value at all."""


class Kind(Enum):
    """What is done to a field."""

    CHANGE = "change"
    REMOVE = "remove"
    ADD = "add"


class Edit(NamedTuple):
    """One edit of one object: the leaf, and what is done to it."""

    id: ObjectId
    path: FieldPath
    kind: Kind

    def __str__(self) -> str:
        """As failures show it."""
        return f"{self.kind.value} {self.id} {self.path}"


def declared(live: Body, manager: str) -> Iterator[FieldPath]:
    """The leaves that ``manager`` applied, without the names of list items and what the agent adds itself."""
    for entry in live["metadata"].get("managedFields") or ():
        if entry["manager"] == manager and entry["operation"] == "Apply" and not entry.get("subresource"):
            yield from (path for path in _leaves((), entry["fieldsV1"]) if not _is_own(path))


def _leaves(path: FieldPath, node: dict[str, Any]) -> Iterator[FieldPath]:
    for name, below in node.items():
        if name == ".":
            continue
        part = _part(name)
        is_key = bool(path) and isinstance(path[-1], tuple) and part in dict(path[-1])
        if below:
            yield from _leaves((*path, part), below)
        elif not is_key:
            yield (*path, part)


def _part(name: str) -> PathPart:
    form, _, text = name.partition(":")
    if form == "f":
        return text
    value = json.loads(text)
    return tuple(sorted(value.items())) if form == "k" else (("", value),)


def _is_own(path: FieldPath) -> bool:
    return path[0] == "metadata" and str(path[-1]).startswith("trapeze.dev/")


def value_at(body: Any, path: FieldPath) -> Any:
    """The raw value at a path, or NOTHING."""
    for part in path:
        key = _key(body, part)
        if key is NOTHING:
            return NOTHING
        body = body[key]
    return body


def _key(body: Any, part: PathPart) -> Any:
    """What ``part`` is called in ``body``: a key or an index, NOTHING where it is not there."""
    if isinstance(part, str):
        return part if isinstance(body, dict) and part in body else NOTHING
    if isinstance(part, int) or not isinstance(body, list):
        return NOTHING
    for at, item in enumerate(body):
        if part[0][0] == "":
            if item == part[0][1]:
                return at
        elif isinstance(item, dict) and all(item.get(key, value) == value for key, value in part):
            return at
    return NOTHING


def highest_missing(body: Body, path: FieldPath) -> FieldPath:
    """The shortest start of ``path`` that ``body`` does not have; all of it where it is there."""
    starts = (path[:length] for length in range(1, len(path) + 1))
    return next((start for start in starts if value_at(body, start) is NOTHING), path)


def edited(body: Body, edit: Edit, rng: Random) -> Body | None:
    """A copy with the edit made; None where it has no meaning at this field."""
    body = copy.deepcopy(body)
    parent = value_at(body, edit.path[:-1])
    key = _key(parent, edit.path[-1]) if parent is not NOTHING else NOTHING
    if key is NOTHING:
        return None
    if edit.kind is Kind.REMOVE:
        del parent[key]
        return body
    make = _changed if edit.kind is Kind.CHANGE else _added
    value = make(parent[key], rng)
    if value is NOTHING:
        return None
    parent[key] = value
    return body


def _changed(value: Any, rng: Random) -> Any:
    """Another value of the same type; one place of it where it is a list or map."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return str(int(value) + 1) if value.isdecimal() and value.isascii() else f"{value}x"
        case list() | dict() if value:
            keys = list(value) if isinstance(value, dict) else list(range(len(value)))
            key = rng.choice(keys)
            inner = _changed(value[key], rng)
            if inner is NOTHING:
                return NOTHING
            out: Any = dict(value) if isinstance(value, dict) else list(value)
            out[key] = inner
            return out
        case _:
            return NOTHING


def _added(value: Any, rng: Random) -> Any:
    """One more entry in a list or map that belongs to one manager as a whole."""
    if isinstance(value, list) and value:
        more = _changed(rng.choice(value), rng)
        return NOTHING if more is NOTHING else [*value, more]
    if isinstance(value, dict) and all(isinstance(one, str) for one in value.values()):
        return {**value, "added": "by-hand"}
    return NOTHING
