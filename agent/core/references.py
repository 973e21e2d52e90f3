"""Who names whom: from each object to what it needs, by the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

from agent.core import targets
from agent.core.fields import find, get
from agent.core.model import Body, FieldPath, ObjectId
from agent.core.policy import PODS, Policy, group_kind_of, id_of
from agent.core.tables import TargetRow


class Requirement(NamedTuple):
    """One matchExpression of a LabelSelector: ``operator`` is In, NotIn, Exists or DoesNotExist."""

    key: str
    operator: str
    values: tuple[str, ...]

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels meet it; an operator that is not known is met by nothing."""
        match self.operator:
            case "In":
                return labels.get(self.key) in self.values
            case "NotIn":
                return labels.get(self.key) not in self.values
            case "Exists":
                return self.key in labels
            case "DoesNotExist":
                return self.key not in labels
            case _:
                return False


class PodSelector(NamedTuple):
    """Pods of a namespace by their labels; no labels and no requirements is every pod of it."""

    namespace: str
    labels: tuple[tuple[str, str], ...]
    requirements: tuple[Requirement, ...] = ()

    def matches(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Whether a pod (or a template) there with these labels is meant."""
        return (
            namespace == self.namespace
            and all(labels.get(key) == value for key, value in self.labels)
            and all(requirement.matches(labels) for requirement in self.requirements)
        )


class Reference(NamedTuple):
    """One field that names another object; with ``grants`` the holder serves what it names."""

    path: FieldPath
    target: ObjectId | PodSelector
    grants: bool = False


Objects: TypeAlias = Mapping[ObjectId, Body]


def uses(body: Body, policy: Policy) -> tuple[Reference, ...]:
    """Everything that an object names, in the order of the tables (pointers included)."""
    kind = policy.of(group_kind_of(body))
    own = id_of(body).namespace
    found: list[Reference] = []
    rows: list[tuple[Any, TargetRow, bool]] = [(p.pattern, p.row.target, False) for p in kind.pointers]
    rows += [(p.pattern, p.row.target, p.row.grants) for p in kind.references]
    for pattern, row, grants in rows:
        for path, value in find(body, pattern, kind.rules):
            target = _target(row, value, own)
            if target is not None:
                found.append(Reference(path, target, grants))
    return tuple(found)


def _target(row: TargetRow, value: Any, own: str) -> ObjectId | PodSelector | None:
    kind = targets.kind_named(row, value)
    if kind is None or value is None:
        return None
    if kind == PODS and row.kind == "pods":
        return _selector(row, value, own)
    name = targets.name_of(row, value)
    return ObjectId(*kind, targets.namespace_of(row, kind, value, own), name) if name else None


def _selector(row: TargetRow, value: Any, own: str) -> PodSelector | None:
    """A map of labels that is empty selects nothing (a Service), an empty LabelSelector everything."""
    if not isinstance(value, dict):
        return None
    if row.select == "labels":
        return PodSelector(own, _pairs(value)) if value else None
    requirements = tuple(
        Requirement(str(one.get("key")), str(one.get("operator")), tuple(map(str, one.get("values") or ())))
        for one in value.get("matchExpressions") or ()
    )
    return PodSelector(own, _pairs(value.get("matchLabels") or {}), requirements)


def _pairs(labels: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((str(key), str(value)) for key, value in labels.items()))


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
    def _pods(self) -> dict[str, list[tuple[ObjectId, Mapping[str, str]]]]:
        """By namespace, everything that is a pod or makes pods, with the labels of those."""
        pods: dict[str, list[tuple[ObjectId, Mapping[str, str]]]] = {}
        for object_id, body in self._objects.items():
            template = pod_template(body, self._policy)
            if template is not None:
                labels = (template.get("metadata") or {}).get("labels") or {}
                pods.setdefault(object_id.namespace, []).append((object_id, labels))
        return pods

    def _resolved(self, object_id: ObjectId, body: Body) -> Iterator[tuple[ObjectId, bool]]:
        for _, target, grants in uses(body, self._policy):
            if isinstance(target, PodSelector):
                for pod, labels in self._pods.get(target.namespace, ()):
                    if pod != object_id and target.matches(target.namespace, labels):
                        yield pod, grants
            else:
                yield self._there(target), grants

    def _there(self, target: ObjectId) -> ObjectId:
        """An owner may be cluster-scoped where its reference cannot say so."""
        unscoped = target._replace(namespace="")
        return unscoped if target not in self._objects and unscoped in self._objects else target
