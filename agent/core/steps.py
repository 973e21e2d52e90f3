"""The plan's values: changes, gates, steps, and the questions that only the outside can answer.

``make_plan`` builds them, everything else walks them: preview, plan, sync, status, rehearsal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

from agent.core.ledger import Orphan, Source
from agent.core.model import (
    Action,
    Body,
    Category,
    FieldChange,
    FieldPath,
    Finding,
    Form,
    GroupKind,
    ObjectId,
)
from agent.core.propagation import Propagation
from agent.core.table_replacements import Way


class GateState(Enum):
    """What a gate answers; only OPEN lets a step go."""

    OPEN = "open"
    HELD = "held"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition that must be seen true before a step.

    ``name`` is the rule (serves, idle, settled ...), ``wants`` what opens it (said in previews, before
    anything was observed), ``reason`` what was seen, with numbers.
    """

    name: str
    wants: str
    state: GateState
    reason: str

    @property
    def is_open(self) -> bool:
        """Whether the step may pass this gate."""
        return self.state is GateState.OPEN


NEEDS_A_PERSON: Final = frozenset(
    {
        "accepted",
        "agreed",
        "allowed",
        "approved",
        "budget",
        "deadline",
        "followed",
        "foreign",
        "hook-failed",
        "in-place",
        "lockout",
        "named",
        "ours",
        "owned",
        "owner",
        "owning",
        "protected",
        "suspended",
    }
)
"""Names of gates that no amount of waiting opens."""


class Verb(Enum):
    """What a step does; the value is what is printed."""

    CREATE = "create"
    UPDATE = "update"
    WIDEN = "widen"
    CUTOVER = "cutover"
    POINT_BACK = "point back"
    NARROW = "narrow"
    DELETE = "delete"
    ABANDON = "let go of"
    """Our fields and labels are taken off, the object stays (names that are never deleted)."""
    MIGRATE = "migrate"
    """Every object of a definition is rewritten, so that none is stored in a version that goes."""
    REPLACE = "replace"
    """The API server refuses the change in place: deleted, to be made anew (agent/core/replacement)."""


@dataclass(frozen=True, slots=True)
class Step:
    """One request of the plan.

    ``body`` is what is applied (with our labels), None for a delete. ``form`` is what stands on the server
    afterwards, ``bases`` the sources of which something then still stands. ``uid`` and
    ``resource_version`` are the preconditions (empty: the object is not there). ``is_pointer`` says
    that the object points at a backend, so that writing it moves or opens a serving path. ``withdraws`` are
    fields of predecessors that the apply alone would leave; they are taken out just before it. A REPLACE says
    which ``way`` it goes and what it leaves behind (``orphans``); ``propagation`` is that of a delete.
    """

    id: ObjectId
    verb: Verb
    category: Category
    form: Form
    says: str
    gates: tuple[Gate, ...] = ()
    body: Body | None = None
    bases: tuple[Source, ...] = ()
    uid: str = ""
    resource_version: str = ""
    is_pointer: bool = False
    withdraws: tuple[FieldPath, ...] = ()
    way: Way | None = None
    propagation: Propagation = Propagation.BACKGROUND
    orphans: tuple[Orphan, ...] = ()

    @property
    def key(self) -> str:
        """Names the step in the ledger, in approvals and in status: ``verb Kind ns/name``."""
        return f"{self.verb.value} {self.id}"

    @property
    def is_open(self) -> bool:
        """Whether all gates are open."""
        return all(gate.is_open for gate in self.gates)

    @property
    def is_additive(self) -> bool:
        """Whether it takes nothing away and moves nothing (widening counts)."""
        return self.verb in (Verb.CREATE, Verb.UPDATE, Verb.WIDEN)

    @property
    def closed_gates(self) -> tuple[Gate, ...]:
        """The gates that hold it, unknown ones included."""
        return tuple(gate for gate in self.gates if not gate.is_open)


@dataclass(frozen=True, slots=True)
class Change:
    """One object's difference: what is done to it, its worst category and why, field by field.

    ``secrets`` are values that must not be shown, wherever in the fields they stand.
    """

    id: ObjectId
    action: Action
    category: Category
    reason: str
    fields: tuple[FieldChange, ...] = ()
    secrets: frozenset[str] = field(default=frozenset(), repr=False)


class DryRun(NamedTuple):
    """What would the server make of this body under our field manager? Asked once per object."""

    id: ObjectId
    digest: str


class Access(NamedTuple):
    """May we do this? (SelfSubjectAccessReview); ``namespace`` and ``name`` empty for all."""

    verb: str
    group: str
    kind: str
    namespace: str
    name: str


class Request(NamedTuple):
    """What does a real request through this pointer answer?"""

    pointer: ObjectId


class Admits(NamedTuple):
    """Do the webhooks of this configuration answer, when a dry run of an object goes through them?"""

    pointer: ObjectId


class Log(NamedTuple):
    """What did this pod say at last? The answer's reason is its log, with whatever secrets stand in it."""

    pod: ObjectId


class Trust(NamedTuple):
    """Do the certificates of the Service's ready endpoints verify with this CA bundle (base64 PEM)?"""

    namespace: str
    service: str
    port: int
    bundle: str


class NamespaceContents(NamedTuple):
    """What stands in this namespace, of any kind that the server lists?"""

    namespace: str


class KindContents(NamedTuple):
    """Which objects of this kind stand, whoever made them?"""

    kind: GroupKind


Question: TypeAlias = DryRun | Access | Request | Admits | Log | Trust | NamespaceContents | KindContents


@dataclass(frozen=True, slots=True)
class Answer:
    """What the outside said. ``state``: OPEN yes, HELD no, UNKNOWN could not be asked.

    ``body`` is the dry run's result; ``ids`` the contents of a namespace or kind; ``reason`` in words.
    ``conflict`` names the other field manager, ``immutable`` is set when the server refuses the change
    in place.
    """

    state: GateState
    reason: str = ""
    body: Body | None = None
    ids: tuple[ObjectId, ...] = ()
    conflict: str = ""
    immutable: bool = False


Answers: TypeAlias = Mapping[Question, Answer]


@dataclass(frozen=True)
class Plan:
    """Everything between now and the end of the handoff, in the order in which it will happen.

    ``requests`` are the bodies of the dry runs asked for. ``generation`` is our number for ``revision``;
    ``base_revision`` is what is in service now, empty at the first sync. ``handover`` are the gates
    that must open before the new generation is in service and the old one may go; ``gone`` are ledger
    members that nobody wants and that are absent from the cluster. ``left`` are members that another set
    goes on with, ``shared`` desired objects that stand under another set's label. ``late`` says that
    the deadline passed, ``given_up`` why the handoff is given up for it.
    """

    set_name: str
    revision: str
    base_revision: str
    generation: int
    changes: tuple[Change, ...]
    steps: tuple[Step, ...]
    unchanged: int
    findings: tuple[Finding, ...] = ()
    questions: frozenset[Question] = frozenset()
    requests: Mapping[DryRun, Body] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    handover: tuple[Gate, ...] = ()
    gone: tuple[ObjectId, ...] = ()
    late: str = ""
    given_up: str = ""
    left: frozenset[ObjectId] = frozenset()
    shared: frozenset[ObjectId] = frozenset()

    @property
    def open_steps(self) -> tuple[Step, ...]:
        """The steps whose gates are all open, in order."""
        return tuple(step for step in self.steps if step.is_open)

    @property
    def held_steps(self) -> tuple[Step, ...]:
        """The steps that wait, in order."""
        return tuple(step for step in self.steps if not step.is_open)

    @property
    def needs_a_person(self) -> bool:
        """Whether a step is held by something that no waiting will open."""
        closed = (gate for step in self.steps for gate in step.closed_gates)
        return any(gate.name in NEEDS_A_PERSON and gate.state is GateState.HELD for gate in closed)

    @property
    def is_done(self) -> bool:
        """Whether the generation is in service and nothing is left to do."""
        return not self.steps and all(gate.is_open for gate in self.handover)
