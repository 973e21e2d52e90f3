"""Who names whom: from each object to what it needs, by the tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from agent.core.model import Body, FieldPath, ObjectId
from agent.core.policy import Policy


class Requirement(NamedTuple):
    """One matchExpression of a LabelSelector: ``operator`` is In, NotIn, Exists or DoesNotExist."""

    key: str
    operator: str
    values: tuple[str, ...]


class PodSelector(NamedTuple):
    """Pods of a namespace by their labels; no labels and no requirements is every pod of it."""

    namespace: str
    labels: tuple[tuple[str, str], ...]
    requirements: tuple[Requirement, ...] = ()

    def matches(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Whether a pod (or a template) there with these labels is meant."""
        return namespace == self.namespace and all(labels.get(k) == v for k, v in self.labels)


class Reference(NamedTuple):
    """One field that names what its object needs."""

    path: FieldPath
    target: ObjectId | PodSelector


Objects: TypeAlias = Mapping[ObjectId, Body]


def uses(body: Body, policy: Policy) -> tuple[Reference, ...]:
    """Everything that an object names, in the order of the tables (pointers included)."""
    del body, policy
    return ()


class Graph:
    """The references between these objects, both ways."""

    def __init__(self, objects: Objects, policy: Policy) -> None:
        self._objects = objects
        self._policy = policy

    def users_of(self, object_id: ObjectId) -> frozenset[ObjectId]:
        """The objects that name this one, by name or by selector."""
        return frozenset(i for i in self._objects if object_id in self.used_by(i))

    def used_by(self, object_id: ObjectId) -> frozenset[ObjectId]:
        """The objects that this one names; absent ones, named by name, are among them."""
        body = self._objects.get(object_id, {})
        return frozenset(r.target for r in uses(body, self._policy) if isinstance(r.target, ObjectId))

    def closure(self, object_id: ObjectId) -> frozenset[ObjectId]:
        """All that serves behind this object: what it names, and what grants or guards those, and so on."""
        return self.used_by(object_id)
