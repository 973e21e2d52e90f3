"""Server-side apply: one body, its field managers, and what an apply or an update makes of them.

https://kubernetes.io/docs/reference/using-api/server-side-apply/ and structured-merge-diff, merge/update.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from agent.core.model import Body
from agent.core.simulation.fields import (
    FieldSet,
    Path,
    Schema,
    changed,
    field_set,
    from_fields_v1,
    merge,
    path_words,
    remove,
    to_fields_v1,
)


class Manager(NamedTuple):
    """Who owns fields: an Apply has no version in its identity, an Update has (managedfields docs)."""

    name: str
    operation: str
    api_version: str


Owners: TypeAlias = Mapping[Manager, tuple[FieldSet, str, str]]
"""Manager -> (fields, apiVersion, time of the last change)."""


class Clash(NamedTuple):
    """A field that another manager owns with another value."""

    manager: Manager
    api_version: str
    path: Path

    def __str__(self) -> str:
        """The API server's own words."""
        return f'conflict with "{self.manager.name}" using {self.api_version}: {path_words(self.path)}'


class Applied(NamedTuple):
    """What an apply leads to; with clashes nothing may be stored."""

    body: Body
    clashes: tuple[Clash, ...]


def owners_of(body: Body) -> Owners:
    """The field managers as the body's metadata names them."""
    owners: dict[Manager, tuple[FieldSet, str, str]] = {}
    for entry in body.get("metadata", {}).get("managedFields", ()):
        is_apply = entry["operation"] == "Apply"
        manager = Manager(entry["manager"], entry["operation"], "" if is_apply else entry["apiVersion"])
        fields = frozenset(from_fields_v1(entry.get("fieldsV1", {})))
        owners[manager] = (fields, entry["apiVersion"], entry.get("time", ""))
    return owners


def with_owners(body: Body, owners: Owners) -> Body:
    """The body with its managedFields written; managers that own nothing are left out."""
    entries = [
        {
            "manager": manager.name,
            "operation": manager.operation,
            "apiVersion": api_version,
            "time": time,
            "fieldsType": "FieldsV1",
            "fieldsV1": to_fields_v1(fields),
        }
        for manager, (fields, api_version, time) in sorted(owners.items())
        if fields
    ]
    return body | {"metadata": body["metadata"] | {"managedFields": entries}}


def apply(live: Body | None, config: Body, manager: str, schema: Schema, *, at: str, force: bool) -> Applied:
    """Server-side apply of ``config`` by ``manager`` at the time ``at`` (RFC 3339)."""
    who = Manager(manager, "Apply", "")
    mine = field_set(config, schema)
    if live is None:
        body = config | {"metadata": {k: v for k, v in config["metadata"].items() if k != "managedFields"}}
        return Applied(with_owners(body, {who: (mine, config["apiVersion"], at)}), ())
    owners = owners_of(live)
    merged = merge(live, config, schema)
    lost = owners.get(who, (frozenset(), "", ""))[0] - mine
    others = frozenset[Path]().union(*(fields for other, (fields, _, _) in owners.items() if other != who))
    pruned = remove(merged, _with_parents(_unheld(lost, mine | others), mine | others), schema)
    moved, gone = changed(live, pruned, schema)
    clashes = tuple(
        Clash(other, version, path)
        for other, (fields, version, _) in sorted(owners.items())
        if other != who
        for path in sorted(fields & moved)
    )
    if clashes and not force:
        return Applied(live, clashes)
    took = frozenset(clash.path for clash in clashes) | gone
    after = {other: (fields - took, version, time) for other, (fields, version, time) in owners.items()}
    after[who] = (mine, config["apiVersion"], at)
    return Applied(with_owners(pruned, after), ())


def _with_parents(lost: FieldSet, held: FieldSet) -> FieldSet:
    """With each field what stands around it and belongs to nobody: a probe goes whole, defaults and all.

    structured-merge-diff, merge/update.go, prune. Metadata is left alone: the model's controllers write there
    without an entry of their own.
    """
    kept = {path[:size] for path in held for size in range(len(path) + 1)} if lost else set()
    found = set(lost)
    for path in lost:
        for size in range(len(path) - 1, 1, -1):
            if path[:size] in kept or path[0] == "f:metadata":
                break
            found.add(path[:size])
    return frozenset(found)


def update(live: Body, body: Body, manager: str, schema: Schema, *, at: str) -> Body:
    """A plain update: the changed fields become the manager's, others lose what changed or went."""
    owners = owners_of(live)
    who = Manager(manager, "Update", body["apiVersion"])
    moved, gone = changed(live, body, schema)
    if not moved and not gone:
        return with_owners(body, owners)
    after = {
        other: (fields - moved - gone, version, time) for other, (fields, version, time) in owners.items()
    }
    mine = owners.get(who, (frozenset(), "", ""))[0]
    after[who] = ((mine | moved) - gone, body["apiVersion"], at)
    return with_owners(body, after)


def is_same(before: Body, after: Body) -> bool:
    """Whether nothing but the times in managedFields differs: then the server stores nothing."""
    if _bare(before) != _bare(after):
        return False
    return _untimed(owners_of(before)) == _untimed(owners_of(after))


def _bare(body: Body) -> Body:
    metadata = {key: value for key, value in body["metadata"].items() if key != "managedFields"}
    return body | {"metadata": metadata}


def _untimed(owners: Owners) -> dict[Manager, tuple[FieldSet, str]]:
    return {manager: (fields, version) for manager, (fields, version, _) in owners.items()}


def _unheld(lost: FieldSet, held: FieldSet) -> FieldSet:
    """Of the paths no longer applied, those that nobody holds, themselves or anything below them."""
    above = {path[:depth] for path in held for depth in range(1, len(path) + 1)}
    return lost - above
