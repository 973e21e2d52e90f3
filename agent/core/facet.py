"""Facets: the parts of an in-place change, and what the rules that find them look at."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from agent.core.fields import find, get
from agent.core.kind_policy import KindPolicy
from agent.core.model import Body, Category, FieldChange, FieldPath
from agent.core.policy import Policy, id_of
from agent.core.tables import Placed, PointerRow, SharedRow
from agent.core.targets import Target


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


@dataclass(frozen=True, slots=True)
class Facet:
    """One part of an in-place change.

    ``path`` is the shared list, the pointer, the part. For UNION ``added`` are entries that live lacks,
    ``removed`` entries that only a former Git version wanted, ``foreign`` entries that no Git version had.
    ``gains`` and ``loses`` say the first two in words. For POINTS ``old`` and ``new`` are what live and
    desired point at (None: at nothing that is named).
    """

    kind: FacetKind
    category: Category
    fields: tuple[FieldChange, ...]
    reason: str
    path: FieldPath = ()
    added: tuple[Any, ...] = ()
    removed: tuple[Any, ...] = ()
    foreign: tuple[Any, ...] = ()
    gains: str = ""
    loses: str = ""
    old: Target | None = None
    new: Target | None = None


@dataclass(frozen=True)
class Sides:
    """What the rules look at: the two bodies, what was applied, and the tables of the kind."""

    desired: Body
    live: Body
    applied: tuple[Body, ...]
    policy: Policy
    kind: KindPolicy

    def wanted(self, path: FieldPath) -> Any:
        """The desired value at a path, or MISSING."""
        return get(self.desired, path, self.kind.rules)

    def has(self, path: FieldPath) -> Any:
        """The live value at a path, or MISSING."""
        return get(self.live, path, self.kind.rules)

    @property
    def namespace(self) -> str:
        """Where the object stands."""
        return id_of(self.desired).namespace or id_of(self.live).namespace


def instances(sides: Sides, placed: Placed[PointerRow] | Placed[SharedRow]) -> list[FieldPath]:
    """Every path that the row names in either body, live ones first."""
    paths = [path for path, _ in find(sides.live, placed.pattern, sides.kind.rules)]
    paths += [path for path, _ in find(sides.desired, placed.pattern, sides.kind.rules)]
    return list(dict.fromkeys(paths))
