"""The ledger's values: per set, what each generation consists of and how far its handoff is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from agent.core.acts import Act
from agent.core.model import Form, ObjectId


class Source(NamedTuple):
    """Where a written body came from.

    ``document`` counts from 1 what the file yields, as in ``Origin``: each document that holds something,
    and each entry of a List in its place. It depends on the file's bytes alone.
    """

    commit: str
    file: str
    document: int


class GenerationState(Enum):
    """How far a generation is: rolling-out -> in-service -> retiring -> absent."""

    ROLLING_OUT = "rolling-out"
    IN_SERVICE = "in-service"
    RETIRING = "retiring"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Generation:
    """One revision that was taken up. Times are seconds of the Unix epoch: ``since`` that of its state.

    ``served`` is when it last got in service, 0 for never; ``returns`` how often it was taken up again while
    it still stood. Its number stays then: it is what the label of its objects says.
    """

    number: int
    revision: str
    state: GenerationState
    since: float
    served: float = 0.0
    returns: int = 0

    @property
    def is_standing(self) -> bool:
        """Whether something of it may still be there."""
        return self.state is not GenerationState.ABSENT


class Fingerprint(NamedTuple):
    """What a metadata LIST tells of an object; equal to the last good one means nothing moved.

    ``version`` is ``metadata.generation`` where the kind has one, else ``resourceVersion``;
    ``meta`` digests labels and annotations (never content).
    """

    uid: str
    version: str
    meta: str


class Orphan(NamedTuple):
    """An object that was left behind on purpose when its owner was deleted, to go when it is not needed."""

    id: ObjectId
    uid: str


class Pruned(NamedTuple):
    """A member that was taken away and was seen to be absent; ``at`` in epoch seconds."""

    id: ObjectId
    generation: int
    uid: str
    at: float


class How(Enum):
    """How an object became a member."""

    MADE = "made"
    ADOPTED = "adopted"
    """A person had it taken over from whoever installed it."""
    REBUILT = "rebuilt"
    """The ledger was lost: its labels say that it is one."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One member of the set.

    ``bases`` are all sources of which something may still stand in the live object: one for a final
    form, more while it is widened or its cutover has not settled; the last is the one last written.
    ``digest`` is the content hash of the body last written, empty for Secrets and where that is not known.
    ``cutover_at`` is when its pointer last moved (epoch seconds, 0 for never), ``points_back`` how often
    it had to be pointed back in this handoff. ``orphans`` are what an earlier object of
    this name left behind. A member that was not made by this ledger's word (``how``) is pruned only once a
    person has agreed. ``is_left``
    marks what the set wants no more and another set may take (agent/core/neighbours.py).
    """

    id: ObjectId
    api_version: str
    generation: int
    bases: tuple[Source, ...]
    form: Form
    uid: str = ""
    digest: str = ""
    fingerprint: Fingerprint | None = None
    cutover_at: float = 0.0
    points_back: int = 0
    orphans: tuple[Orphan, ...] = ()
    how: How = How.MADE
    is_left: bool = False


class IntentKind(Enum):
    """What a tick is about to write: additive steps together, every other step alone."""

    ADDITIVE = "additive"
    STEP = "step"


@dataclass(frozen=True, slots=True)
class Intent:
    """Written before the objects: after a crash it tells which of them may have been made.

    ``keys`` are step keys, ``entries`` the entries as they shall be once the steps are done (without uid).
    """

    kind: IntentKind
    keys: tuple[str, ...]
    entries: tuple[Entry, ...]


class Hold(NamedTuple):
    """A step that waits: since when (epoch seconds) and the reason when last seen."""

    since: float
    reason: str


@dataclass(frozen=True)
class Ledger:
    """One set's ledger. ``entries`` are all members of generations that are not absent.

    ``acts`` are what people decided, ``pruned`` what was taken away, both oldest first.
    """

    set_name: str
    generations: tuple[Generation, ...] = ()
    entries: Mapping[ObjectId, Entry] = field(default_factory=dict)
    holds: Mapping[str, Hold] = field(default_factory=dict)
    intent: Intent | None = None
    acts: tuple[Act, ...] = ()
    pruned: tuple[Pruned, ...] = ()

    @property
    def newest(self) -> Generation | None:
        """The generation that is desired now, or None before the first sync."""
        standing = [g for g in self.generations if g.is_standing]
        return max(
            (g for g in standing if g.state is not GenerationState.RETIRING),
            key=lambda g: g.since,
            default=None,
        )

    @property
    def last_in_service(self) -> Generation | None:
        """The generation that is in service, or was last, or None where none ever was."""
        standing = [g for g in self.generations if g.is_standing and g.served]
        return max(standing, key=lambda g: g.served, default=None)
