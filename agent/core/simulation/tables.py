"""What the model knows of built-in kinds, as tables (``policies/model/cluster.yaml``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from agent.core.model import Body, GroupKind

Steps: TypeAlias = tuple[str, ...]
"""A path below a body: map keys, ``[]`` for each item, ``?`` for "only where the field stands"."""

EACH: Final = "[]"
IF_THERE: Final = "?"

Merge: TypeAlias = tuple[str, ...] | Literal["set", "atomic"]
"""Merge keys of a list, a set of scalars, or a value with one owner."""


class Served(NamedTuple):
    """How a kind is served.

    ``versions``: preferred first; ``storage``: the kind under which its objects are kept (another one where
    an aggregated API server keeps them as custom resources), ``storage_version`` the version that it writes
    there (empty: the one of the request); ``is_counted``: has metadata.generation;
    ``has_status``: status is a subresource; ``provider``: the CRD or APIService that serves it, or empty.
    """

    kind: GroupKind
    versions: tuple[str, ...]
    plural: str
    is_namespaced: bool
    storage: GroupKind
    is_counted: bool = True
    has_status: bool = True
    provider: str = ""
    storage_version: str = ""


class Default(NamedTuple):
    """A value that the server fills in; ``source`` copies a sibling; ``when`` holds first."""

    path: Steps
    value: Any
    source: str
    when: tuple[tuple[Steps, Any], ...]


class Required(NamedTuple):
    """A path that must be filled, unless one of these fields has this value."""

    path: Steps
    unless: tuple[tuple[Steps, Any], ...]


class Immutable(NamedTuple):
    """A path that an update may not change, ``but`` for these fields below it."""

    path: Steps
    but: frozenset[str]
    when: tuple[tuple[Steps, Any], ...]
    says: str


def steps(text: str) -> Steps:
    """``spec.ports[].port`` as ("spec", "ports", "[]", "port")."""
    if not text:
        return ()
    return tuple(text.replace(EACH, f".{EACH}").replace(IF_THERE, f".{IF_THERE}").split("."))


@dataclass(frozen=True)
class Tables:
    """The tables by kind name (built-in kinds have unique names, Event apart)."""

    served: Mapping[GroupKind, Served]
    templates: Mapping[str, Steps]
    merge: Mapping[str, Mapping[Steps, Merge]]
    null_when_empty: Mapping[str, tuple[Steps, ...]]
    defaults: Mapping[str, tuple[Default, ...]]
    immutable: Mapping[str, tuple[Immutable, ...]]
    required: Mapping[str, tuple[Required, ...]]
    fields: Mapping[str, tuple[tuple[Steps, frozenset[str]], ...]]
    integers: Mapping[str, tuple[Steps, ...]]
    text_maps: Mapping[str, tuple[Steps, ...]]
    free_names: frozenset[GroupKind]
    remade: Mapping[str, frozenset[str]]
    reckoned: frozenset[str]
    also_read: frozenset[GroupKind]

    @cached_property
    def groups(self) -> frozenset[str]:
        """The groups of built-in kinds."""
        return frozenset(kind.group for kind in self.served)

    @classmethod
    def parse(cls, table: Mapping[str, Any], kinds: Iterable[Mapping[str, Any]]) -> Tables:
        """The tables from their YAML form, already parsed; ``kinds`` are the rows of ``policies/kinds.yaml``.

        A missing table or kind is a KeyError: the files are shipped, not written by users.
        """
        templates = {kind: steps(path) for kind, path in table["templates"].items()}
        known = {GroupKind(row["group"], row["kind"]): row for row in kinds}
        served = _served(table["served"], known, _kinds(table["uncounted"]))

        def each(name: str, build: Callable[[Mapping[str, Any], Steps], Any]) -> dict[str, tuple[Any, ...]]:
            rows: dict[str, tuple[Any, ...]] = {}
            for row in table[name]:
                for kind, path in _places(row, templates, [gk.kind for gk in served]):
                    rows[kind] = (*rows.get(kind, ()), build(row, path))
            return rows

        return cls(
            served=served,
            templates=templates,
            merge={kind: dict(rows) for kind, rows in each("merge", _merge).items()},
            null_when_empty=each("null_when_empty", lambda _, path: path),
            defaults=each("defaults", _default),
            immutable=each("immutable", _immutable),
            required=each("required", lambda row, path: Required(path, _values(row, "unless"))),
            fields=each("fields", lambda row, path: (path, frozenset(row["known"]))),
            integers=each("integers", lambda _, path: path),
            text_maps=each("text_maps", lambda _, path: path),
            free_names=_kinds([table["free_names"]]),
            remade={kind: frozenset(owners) for kind, owners in table["remade"].items()},
            reckoned=frozenset(table["reckoned"]),
            also_read=_kinds(table["also_read"]),
        )


def _kinds(rows: Iterable[Mapping[str, Any]]) -> frozenset[GroupKind]:
    return frozenset(GroupKind(row["group"], kind) for row in rows for kind in row["kinds"])


def _served(
    table: Mapping[str, Any], rows: Mapping[GroupKind, Mapping[str, Any]], uncounted: frozenset[GroupKind]
) -> dict[GroupKind, Served]:
    served: dict[GroupKind, Served] = {}
    for api_version, kinds in table.items():
        group, _, version = api_version.rpartition("/")
        for kind in kinds:
            key = GroupKind(group, kind)
            versions = (*served[key].versions, version) if key in served else (version,)
            row = rows[key]
            served[key] = Served(key, versions, row["plural"], row["namespaced"], key, key not in uncounted)
    return served


def _places(
    row: Mapping[str, Any], templates: Mapping[str, Steps], kinds: Iterable[str]
) -> Iterable[tuple[str, Steps]]:
    if "pod" in row:
        return [(kind, (*prefix, *steps(row["pod"]))) for kind, prefix in templates.items()]
    return [(kind, steps(row["path"])) for kind in row.get("kinds", ("", *kinds))]


def _merge(row: Mapping[str, Any], path: Steps) -> tuple[Steps, Merge]:
    if "keys" in row:
        return path, tuple(row["keys"])
    return path, "set" if row.get("set") else "atomic"


def _values(row: Mapping[str, Any], name: str) -> tuple[tuple[Steps, Any], ...]:
    return tuple((steps(path), value) for path, value in row.get(name, {}).items())


def _default(row: Mapping[str, Any], path: Steps) -> Default:
    return Default(path, row.get("value"), row.get("from", ""), _values(row, "when"))


def _immutable(row: Mapping[str, Any], path: Steps) -> Immutable:
    return Immutable(path, frozenset(row.get("except", ())), _values(row, "when"), row["says"])


def dig(body: Any, path: Iterable[str]) -> Any:
    """What stands at a path of map keys, or None."""
    for part in path:
        if not isinstance(body, dict):
            return None
        body = body.get(part)
    return body


def each_at(body: Any, path: Steps) -> Iterator[Any]:
    """What stands at a path, once for each item where it visits items; nothing where it is not there."""
    for depth, part in enumerate(path):
        if part == EACH:
            for item in body if isinstance(body, list) else ():
                yield from each_at(item, path[depth + 1 :])
            return
        if not isinstance(body, dict) or part not in body:
            return
        body = body[part]
    yield body


def put(body: Body, path: Steps, value: Any) -> Body:
    """The body with ``value`` at a path of map keys; everything beside the path is shared."""
    head, *rest = path
    if not rest:
        return {**body, head: value}
    return {**body, head: put(body.get(head) or {}, tuple(rest), value)}
