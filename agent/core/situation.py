"""Everything that a plan is made from, and the indexes over it that gates share."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from agent.core.budget import Budget
from agent.core.health import HealthRules
from agent.core.hints import Hint
from agent.core.ledger import Ledger
from agent.core.model import Body, Desired, Finding, Live, LiveObject, ObjectId
from agent.core.neighbours import Neighbours
from agent.core.policy import Policy
from agent.core.references import Graph
from agent.core.scaling import scaled_by
from agent.core.steps import Answers
from agent.core.workloads import Workloads


class Foreign(Enum):
    """What becomes of entries in shared lists that no Git version ever had."""

    HOLD = "hold"
    KEEP = "keep"
    DROP = "drop"


class ConfigChanges(Enum):
    """What becomes of changed values that pods of the generation before read (agent/core/content.py)."""

    WRITE = "write"
    HOLD = "hold"


class AfterDeadline(Enum):
    """What becomes of a handoff whose deadline has passed (agent/core/deadline.py)."""

    HOLD = "hold"
    """It goes on waiting, and goes on once its gates open."""
    POINT_BACK = "point-back"
    """Pointers that moved go back to the old backend; what moves or takes away holds until a person acts."""
    REVERT = "revert"
    """The set goes back to the generation in service, as if a person had aborted the handoff."""


class Window(NamedTuple):
    """A maintenance window: ``lasts`` seconds from each time of a cron expression, in a named time zone."""

    cron: str
    lasts: float
    timezone: str

    def __str__(self) -> str:
        """As a person reads it: ``0 2 * * sat for 7200 s (UTC)``."""
        return f"{self.cron} for {self.lasts:g} s ({self.timezone})"


class Span(NamedTuple):
    """A time during which a window is open, seconds of the Unix epoch; ``end`` is no part of it."""

    start: float
    end: float


@dataclass(frozen=True)
class Rules:
    """What the set's configuration says to the plan.

    ``settle`` in seconds; ``allow`` are kinds (``Namespace``) or objects (``Namespace old``) that may be
    pruned although policy asks for approval; ``allow_downtime`` are objects (``Deployment ns/name``);
    ``take_over`` are field managers that the set follows: what they wrote is its own. ``budget`` is how much
    may be pruned at once; ``ledger_namespace`` is where the ledgers live, empty where no cluster is meant.
    ``config_changes`` is what becomes of changed values that old pods read. ``deadline`` is how long a
    handoff may take, in seconds, 0 for ever. Outside of ``windows`` nothing moves or goes, and with
    ``windows_for_all`` nothing is written; without any all times are good.
    ``formerly`` are names that the set had; ``depends_on`` and ``dependents`` other sets; ``is_absent``
    says that the whole set shall go. ``hints`` are what manifests alone cannot tell.
    """

    manager: str
    settle: float = 10.0
    allow: frozenset[str] = frozenset()
    allow_downtime: frozenset[str] = frozenset()
    foreign: Foreign = Foreign.HOLD
    take_over: frozenset[str] = frozenset()
    budget: Budget = field(default_factory=Budget)
    ledger_namespace: str = ""
    config_changes: ConfigChanges = ConfigChanges.WRITE
    deadline: float = 0.0
    after_deadline: AfterDeadline = AfterDeadline.HOLD
    windows: tuple[Window, ...] = ()
    windows_for_all: bool = False
    formerly: frozenset[str] = frozenset()
    depends_on: tuple[str, ...] = ()
    dependents: tuple[str, ...] = ()
    is_absent: bool = False
    hints: tuple[Hint, ...] = ()


def is_listed(object_id: ObjectId, names: Collection[str]) -> bool:
    """Whether ``names`` (``Kind namespace/name``, ``Kind.group``, ``Kind``) has this object or its kind."""
    return not {str(object_id), str(object_id.group_kind), object_id.kind}.isdisjoint(names)


def owner_references(body: Body) -> tuple[Body, ...]:
    """The ownerReferences of an object."""
    return tuple((body.get("metadata") or {}).get("ownerReferences") or ())


@dataclass(frozen=True)
class Situation:
    """The input of ``make_plan``. ``applied`` are, for each member, the bodies of its ledger bases.

    ``now`` is in seconds of the Unix epoch, on the clock that the cluster's timestamps are compared with.
    ``lost`` says which of ``applied`` Git no longer has: their entries in shared lists then count as foreign.
    ``refused`` are desired objects that the server would refuse (agent/core/refused.py).
    ``neighbours`` are the other sets of the cluster.
    ``spans`` are when the set's windows are open, now and next.
    ``is_observed`` is False in a preview, where ``live`` is what another revision wants.
    """

    desired: Desired
    live: Live
    applied: Mapping[ObjectId, tuple[Body, ...]]
    ledger: Ledger
    policy: Policy
    health: HealthRules
    rules: Rules
    now: float
    answers: Answers = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    is_observed: bool = True
    refused: Mapping[ObjectId, Finding] = field(default_factory=dict)
    neighbours: Neighbours = field(default_factory=Neighbours)
    spans: tuple[Span, ...] = ()

    @cached_property
    def workloads(self) -> Workloads:
        """Pods and workloads of the observation."""
        return Workloads(self.live, self.policy)

    @cached_property
    def owned(self) -> Mapping[str, tuple[LiveObject, ...]]:
        """What ownerReferences own, by the uid of the owner."""
        found: dict[str, list[LiveObject]] = {}
        for obj in self.live.objects.values():
            for ref in owner_references(obj.body):
                found.setdefault(str(ref.get("uid")), []).append(obj)
        return {uid: tuple(objs) for uid, objs in found.items()}

    @cached_property
    def live_graph(self) -> Graph:
        """Who names whom in the cluster now."""
        return Graph({key: obj.body for key, obj in self.live.objects.items()}, self.policy)

    @cached_property
    def next_graph(self) -> Graph:
        """Who names whom once everything desired stands beside what is live."""
        bodies = {key: obj.body for key, obj in self.live.objects.items()}
        wanted = {key: manifest.body for key, manifest in self.desired.manifests.items()}
        return Graph(bodies | wanted, self.policy)

    @cached_property
    def scaled(self) -> frozenset[ObjectId]:
        """Workloads whose replicas an autoscaler owns: one that Git wants, or a live one that stays."""
        leaving = self.ledger.entries.keys() - self.desired.manifests.keys()
        bodies = [obj.body for key, obj in self.live.objects.items() if key not in leaving]
        bodies += [manifest.body for manifest in self.desired.manifests.values()]
        return frozenset(key for body in bodies for key in scaled_by(body, self.policy))
