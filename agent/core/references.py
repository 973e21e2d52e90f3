"""Who names whom: from each object to what it needs, by the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

from agent.core.fields import find, get
from agent.core.model import Body, FieldPath, GroupKind, ObjectId
from agent.core.paths import Pattern
from agent.core.policy import PODS, Policy, group_kind_of, id_of
from agent.core.tables import TargetRow
from agent.core.targets import Target, target_of


class Reference(NamedTuple):
    """One field that names an object, or objects by their labels; with ``grants`` the holder serves them."""

    path: FieldPath
    target: ObjectId | Target
    grants: bool = False


Objects: TypeAlias = Mapping[ObjectId, Body]


def uses(body: Body, policy: Policy) -> tuple[Reference, ...]:
    """Everything that an object names, in the order of the tables (pointers included)."""
    return policy.recalled("uses", body, _uses)


def _uses(body: Body, policy: Policy) -> tuple[Reference, ...]:
    kind = policy.of(group_kind_of(body))
    own = id_of(body).namespace
    found: list[Reference] = []
    named = {p.pattern for p in kind.references}
    rows: list[tuple[Pattern, TargetRow, bool]] = [
        (p.pattern, p.row.target, False) for p in kind.pointers if p.pattern not in named
    ]
    rows += [(p.pattern, p.row.target, p.row.grants) for p in kind.references]
    for pattern, row, grants in rows:
        for path, value in find(body, pattern, kind.rules):
            target = target_of(row, value, own)
            if target is not None:
                found.append(Reference(path, target.id or target, grants))
    return tuple(found)


def pod_template(body: Body, policy: Policy) -> Body | None:
    """The pod template of a workload, the whole body of a Pod, None for every other object."""
    kind = policy.of(group_kind_of(body))
    if kind.pod_template is None:
        return None
    path = tuple(part for part in kind.pod_template if isinstance(part, str))
    template = get(body, path, kind.rules)
    return template if isinstance(template, dict) else None


_NOBODY: Final[frozenset[ObjectId]] = frozenset()


class Graph:
    """The references between these objects, both ways."""

    def __init__(self, objects: Objects, policy: Policy) -> None:
        self._objects = objects
        self._policy = policy

    def users_of(self, object_id: ObjectId) -> frozenset[ObjectId]:
        """The objects that name this one, by name or by selector."""
        return self._users.get(object_id, _NOBODY)

    def used_by(self, object_id: ObjectId) -> frozenset[ObjectId]:
        """The objects that this one names; absent ones, named by name, are among them."""
        return frozenset(target for target, _ in self._edges.get(object_id, ()))

    def closure(self, object_id: ObjectId) -> frozenset[ObjectId]:
        """All that serves behind this object: what it names, and what grants or guards those, and so on.

        A pointer leads to its Service, to the workloads whose template matches, to their ServiceAccount,
        its bindings and their roles, and to ConfigMaps, Secrets and claims.
        """
        seen: set[ObjectId] = set()
        open_ids = [object_id]
        while open_ids:
            at = open_ids.pop()
            named = {target for target, grants in self._edges.get(at, ()) if not grants}
            near = (named | self._granters.get(at, set())) - seen
            seen |= near
            open_ids.extend(near)
        return frozenset(seen - {object_id})

    @cached_property
    def _edges(self) -> dict[ObjectId, frozenset[tuple[ObjectId, bool]]]:
        return {
            object_id: frozenset(self._resolved(object_id, body)) for object_id, body in self._objects.items()
        }

    @cached_property
    def _users(self) -> dict[ObjectId, frozenset[ObjectId]]:
        users: dict[ObjectId, set[ObjectId]] = {}
        for object_id, edges in self._edges.items():
            for target, _ in edges:
                users.setdefault(target, set()).add(object_id)
        return {target: frozenset(names) for target, names in users.items()}

    @cached_property
    def _granters(self) -> dict[ObjectId, set[ObjectId]]:
        granters: dict[ObjectId, set[ObjectId]] = {}
        for object_id, edges in self._edges.items():
            for target, grants in edges:
                if grants:
                    granters.setdefault(target, set()).add(object_id)
        return granters

    @cached_property
    def _labelled(self) -> dict[GroupKind, list[tuple[ObjectId, Mapping[str, str]]]]:
        """By kind, everything with its labels; workloads stand under the pods that they make."""
        found: dict[GroupKind, list[tuple[ObjectId, Mapping[str, str]]]] = {}
        for object_id, body in self._objects.items():
            template = pod_template(body, self._policy)
            for kind, holder in ((object_id.group_kind, body), (PODS, template)):
                if holder is not None:
                    labels = (holder.get("metadata") or {}).get("labels") or {}
                    found.setdefault(kind, []).append((object_id, labels))
        return found

    def _resolved(self, object_id: ObjectId, body: Body) -> Iterator[tuple[ObjectId, bool]]:
        for _, target, grants in uses(body, self._policy):
            if isinstance(target, Target):
                for other, labels in self._labelled.get(target.kind, ()):
                    if other != object_id and target.takes(other.namespace, labels):
                        yield other, grants
            else:
                yield self._there(target), grants

    def _there(self, target: ObjectId) -> ObjectId:
        """An owner may be cluster-scoped where its reference cannot say so."""
        unscoped = target._replace(namespace="")
        return unscoped if target not in self._objects and unscoped in self._objects else target
