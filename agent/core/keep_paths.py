"""The promise's invariants about pointers and serving paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agent.core.invariant import Invariant, Judgement
from agent.core.model import Body, ObjectId
from agent.core.serving import CRD, Path, Reading, carried
from agent.core.states import POD, SERVICE, SLICE, Move, State, is_deleting, service_of


class Capacity(NamedTuple):
    """What a path had at most and at least since it first worked, and the state of that least.

    ``is_rising``: it came after the first state and has never had fewer than before; the least of a new path
    is told from where it stands in full, not from its first endpoint on.
    """

    had: int | None
    lowest: int | None
    version: int
    time: str
    is_rising: bool


class PathsServe(Invariant):
    """A path that has worked works, with the capacity asked, or the release gives it up and it is gone.

    A pointer that is to go must still lead somewhere for as long as it stands: callers before what they
    call. Only a Service's own ports may fall silent before it goes, since nothing tells who calls them.
    """

    name = "serving path"

    def start(self, state: State) -> None:
        """Every path that works in the first state is held to it."""
        self.paths: dict[Path, Capacity] = {}
        self._known: dict[ObjectId, frozenset[Path]] = {}
        self._to: dict[ObjectId, frozenset[Path]] = {}
        for object_id, body in state.items():
            for path in self._learn(object_id, body):
                self._note(path, self._read(path, state), state, "", is_rising=False)

    def judge(self, move: Move, state: State) -> Iterator[Judgement]:
        """The paths of a pointer that was written, and those that lead to what was written."""
        event = move.event
        touched = set(self._learn(event.id, event.body))
        for target in _targets(move, state):
            touched |= self._to.get(target, frozenset())
        for path in sorted(touched):
            reading = self._read(path, state)
            self._note(path, reading, state, event.time)
            if path in self.paths:
                yield Judgement(str(path), self._story(path, reading, state))

    def _learn(self, object_id: ObjectId, body: Body | None) -> frozenset[Path]:
        paths = {} if body is None else self.court.routes.of(object_id, body)
        before = self._known.pop(object_id, frozenset())
        if not paths:
            return before
        now = self._known[object_id] = frozenset(paths)
        for target in paths.values():
            if target is not None:
                self._to[target.id] = self._to.get(target.id, frozenset()) | now
        return before | now

    def _read(self, path: Path, state: State) -> Reading:
        return self.court.routes.read(path, state)

    def _note(self, path: Path, reading: Reading, state: State, time: str, *, is_rising: bool = True) -> None:
        known, capacity = self.paths.get(path), reading.capacity
        if known is None:
            if capacity != 0 and reading.leads_somewhere:
                self.paths[path] = Capacity(capacity, capacity, state.version, time, is_rising)
        elif capacity is not None and not self._is_let_off(path, state):
            if known.lowest is None or capacity < known.lowest:
                known = known._replace(lowest=capacity, version=state.version, time=time, is_rising=False)
            elif known.is_rising and capacity > known.lowest:
                known = known._replace(lowest=capacity, version=state.version, time=time)
            self.paths[path] = known._replace(had=max(known.had or 0, capacity))

    def _is_let_off(self, path: Path, state: State) -> bool:
        if path in self.court.terms.interrupted:
            return True
        if not self.court.terms.retires(path):
            return False
        body = state.get(path.pointer)
        is_gone = body is None or path not in self.court.routes.of(path.pointer, body)
        # A kind that is retired ends with its objects, which takes the time of their finalizers.
        is_ending = path.pointer.group_kind == CRD and body is not None and is_deleting(body)
        return is_gone or is_ending or path.pointer.group_kind == SERVICE

    def _story(self, path: Path, reading: Reading, state: State) -> str:
        had = self.paths[path].had
        asked = max(1, min(had or 1, self.court.terms.minimum))
        if reading.capacity is None or reading.capacity >= asked or self._is_let_off(path, state):
            return ""
        return reading.why or f"{reading.capacity} ready endpoints where {asked} are asked (it had {had})"


def _targets(move: Move, state: State) -> Iterator[ObjectId]:
    event = move.event
    yield event.id
    if event.id.group_kind == SLICE:
        for body in (event.body, move.before):
            if body is not None:
                yield service_of(event.id, body)
    elif event.id.group_kind == POD and move.comes_or_goes:
        yield from state.services_with(event.id)


class PointersWaitForEndpoints(Invariant):
    """A pointer that a set of ours writes leads, when it is written, to a Service with ready endpoints.

    Paths that have worked are held to more by ``PathsServe``; this is for those that never did: a new
    webhook with failurePolicy Fail and nobody behind it refuses every write from its first moment on.
    """

    name = "pointed too early"

    def start(self, state: State) -> None:
        """Nothing to remember: the object before the event tells."""

    def judge(self, move: Move, state: State) -> Iterator[Judgement]:
        """Each target that is new in this write."""
        event = move.event
        if event.body is None or event.id.group_kind == SERVICE or not state.is_ours(event.body):
            return
        routes = self.court.routes
        before = routes.of(event.id, move.before) if move.before is not None else {}
        for path, target in routes.of(event.id, event.body).items():
            if target is not None and target != before.get(path) and target.id.group_kind == SERVICE:
                reading = carried(target, state)
                if reading.capacity == 0:
                    yield Judgement(str(path), f"pointed at {target.id}, and {reading.why}", lasts=False)
