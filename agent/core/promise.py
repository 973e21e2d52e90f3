"""The promise, judged on every state that a cluster goes through.

``Checker`` takes a first state as it is and then one event after another, in the order of their
resourceVersions (one etcd has one counter, so that order is the order of the states; events of a model
cluster have theirs). After each event every invariant of ``INVARIANTS`` looks at what the event touched.
A state in which anything is broken is a broken state; ``Verdict`` counts them and tells each story.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from agent.core.invariant import Court, Invariant
from agent.core.keep_backends import StrangersStayOut, TrustStays
from agent.core.keep_entry import PodsCanBeEntered
from agent.core.keep_objects import DataStays, ForeignObjectsStay, PodsKeepWhatTheyUse
from agent.core.keep_paths import PathsServe, PointersWaitForEndpoints
from agent.core.keep_reach import PodsKeepTheirReach
from agent.core.keep_rights import CallersKeepTheirRights, PodsKeepTheirRights
from agent.core.model import Body, GroupKind, ObjectId
from agent.core.network import NETWORK_POLICY
from agent.core.rbac import RBAC_GROUP
from agent.core.serving import CRD, Path, Routes
from agent.core.states import NAMESPACE, POD, SERVICE, SLICE, Event, State
from agent.core.terms import Terms

INVARIANTS: Final[tuple[type[Invariant], ...]] = (
    PathsServe,
    PointersWaitForEndpoints,
    TrustStays,
    StrangersStayOut,
    PodsKeepTheirRights,
    CallersKeepTheirRights,
    PodsKeepWhatTheyUse,
    PodsKeepTheirReach,
    PodsCanBeEntered,
    ForeignObjectsStay,
    DataStays,
)

WATCHED: Final[tuple[GroupKind, ...]] = (
    NAMESPACE,
    POD,
    SERVICE,
    SLICE,
    GroupKind("", "ServiceAccount"),
    GroupKind("", "ConfigMap"),
    GroupKind("", "Secret"),
    GroupKind("", "PersistentVolumeClaim"),
    GroupKind("apps", "Deployment"),
    GroupKind("apps", "ReplicaSet"),
    GroupKind("apps", "StatefulSet"),
    GroupKind("apps", "DaemonSet"),
    GroupKind("autoscaling", "HorizontalPodAutoscaler"),
    GroupKind("networking.k8s.io", "Ingress"),
    NETWORK_POLICY,
    GroupKind("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    GroupKind("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    GroupKind("apiregistration.k8s.io", "APIService"),
    CRD,
    *(GroupKind(RBAC_GROUP, kind) for kind in ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")),
)
"""The kinds that the promise speaks of; pointers of other kinds are watched where a cluster has them."""


class PathRecord(NamedTuple):
    """One serving path: the fewest ready endpoints it ever had, of how many, and when that was.

    None where the path needs no endpoints. ``version`` and ``time`` are those of the state that ``lowest``
    was seen in first.
    """

    name: str
    lowest: int | None
    of: int | None
    version: int
    time: str


@dataclass(frozen=True, slots=True)
class Broken:
    """One subject for which an invariant did not hold, from ``version`` on for ``states`` states.

    ``is_mended`` is False where it was still so in the last state.
    """

    invariant: str
    subject: str
    story: str
    version: int
    time: str
    states: int = 1
    is_mended: bool = True

    def __str__(self) -> str:
        """``serving path Service shop/web [port 80]: ... (at 123, 4 states)``."""
        lasted = f"{self.states} state{'s' if self.states > 1 else ''}"
        end = lasted if self.is_mended else f"{lasted}, to the end"
        at = f"{self.version}{f' ({self.time})' if self.time else ''}"
        return f"{self.invariant}: {self.subject}: {self.story} (at {at}, {end})"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the promise was kept over ``states`` states, of which ``broken_states`` broke it.

    ``unseen`` tells what was not seen (a watch that ended and left a gap): nothing is known of that.
    """

    states: int
    broken_states: int
    paths: tuple[PathRecord, ...]
    broken: tuple[Broken, ...]
    unseen: tuple[str, ...] = ()

    @property
    def is_kept(self) -> bool:
        """Whether every state was seen and none is broken."""
        return not self.broken and not self.unseen

    def lines(self) -> Iterator[str]:
        """The verdict for people: the count, each path with its lowest, each break, what was not seen."""
        yield f"{self.states} states, {self.broken_states} of them broken"
        for path in self.paths:
            has = f"lowest {path.lowest} of {path.of} ready endpoints, at {path.version}"
            yield f"path {path.name}: {'needs no endpoints' if path.lowest is None else has}"
        yield from map(str, self.broken)
        yield from (f"not seen: {what}" for what in self.unseen)


class Checker:
    """Judges a history; made from its first state, of which it believes that all is as it should be."""

    def __init__(
        self,
        objects: Iterable[tuple[ObjectId, Body]],
        routes: Routes,
        terms: Terms | None = None,
        *,
        version: int = 0,
    ) -> None:
        self._state = State(objects, version)
        court = Court(routes, terms or Terms())
        self._invariants = [invariant(court, self._state) for invariant in INVARIANTS]
        self._open: dict[tuple[str, str], Broken] = {}
        self._closed: tuple[Broken, ...] = ()
        self._states = 1
        self._broken_states = 0

    def copy(self) -> Checker:
        """An independent checker that has seen the same history."""
        other = copy(self)
        vars(other).update(
            _state=self._state.copy(),
            _invariants=[invariant.copy() for invariant in self._invariants],
            _open=dict(self._open),
        )
        return other

    def under(self, terms: Terms) -> Checker:
        """An independent checker that has seen the same history, and goes on under other terms."""
        other = self.copy()
        vars(other).update(
            _invariants=[invariant.under(terms, self._state) for invariant in self._invariants]
        )
        return other

    def step(self, event: Event) -> tuple[Broken, ...]:
        """Move on by one event; what is newly broken in the state after it."""
        move = self._state.apply(event)
        still = {key: replace(broken, states=broken.states + 1) for key, broken in self._open.items()}
        new: list[Broken] = []
        passing: list[Broken] = []
        for invariant in self._invariants:
            for subject, story, lasts in invariant.judge(move, self._state):
                key = (invariant.name, subject)
                if story and not lasts:
                    passing.append(Broken(invariant.name, subject, story, event.version, event.time))
                elif not story:
                    still.pop(key, None)
                elif key not in still:
                    still[key] = Broken(*key, story, event.version, event.time, is_mended=False)
                    new.append(still[key])
        mended = [replace(b, is_mended=True) for key, b in self._open.items() if key not in still]
        self._closed = (*self._closed, *mended, *passing)
        self._open = still
        self._states += 1
        self._broken_states += bool(still or passing)
        return (*new, *passing)

    @property
    def open_breaks(self) -> frozenset[tuple[str, str]]:
        """Invariant and subject of everything that is broken in this state."""
        return frozenset(self._open)

    def capacities(self) -> dict[Path, int | None]:
        """The ready endpoints in this state of each path that has worked; None where it needs none."""
        paths = next(i for i in self._invariants if isinstance(i, PathsServe))
        return {path: paths.court.routes.read(path, self._state).capacity for path in sorted(paths.paths)}

    def verdict(self, unseen: Iterable[str] = ()) -> Verdict:
        """What can be said by now; ``unseen`` is what the one who saw the events knows to have missed."""
        broken = (*self._closed, *self._open.values())
        paths = next(i for i in self._invariants if isinstance(i, PathsServe)).paths
        return Verdict(
            states=self._states,
            broken_states=self._broken_states,
            paths=tuple(
                PathRecord(str(path), c.lowest, c.had, c.version, c.time) for path, c in sorted(paths.items())
            ),
            broken=tuple(sorted(broken, key=lambda b: (b.version, b.invariant, b.subject))),
            unseen=tuple(unseen),
        )
