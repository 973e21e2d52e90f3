"""Every move in every scene: breadth first, so that the first story of a break is a shortest one.

What keeps it finite and small, and why no break is missed by it:

- Requests that the agent sends together are one move: they take nothing away, and each is on an object of its
  own, so that every order of them ends in one scene. Dying between them is a move of its own.
- Where all that the agent would write next is added and waits for nothing, it is written at once: time and
  readiness come to the same scene whether they come before or after.
- Where controllers have nothing to do about a write, it makes no difference whether they have seen it.
- Scenes that agree in all that decides what comes next (``identity``) are one.
- A failure, a crash or a change of Git is tried wherever the agent sends something for the first time with
  the same workloads ready, one in a history, and the agent then goes on without delay. Only there the
  rehearsal is no exhaustive search over what else may happen meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from agent.core.model import ObjectId
from agent.core.promise import Broken, Checker
from agent.core.rehearsal.agent import Setup
from agent.core.rehearsal.identity import ledger_key
from agent.core.rehearsal.moves import Kind, Move, Options, moves, promptly
from agent.core.rehearsal.scene import Scene
from agent.core.rehearsal.turn import Turn, turn
from agent.core.serving import Path
from agent.core.simulation.identity import Identities
from agent.core.states import Event
from agent.core.steps import Gate, GateState

_AGENT_AND_MORE: Final = 2
"""Moves of a scene in which the agent's tick is not all that can happen."""
_ACCEPTED: Final = "the API server takes it"
_SILENT: Final = frozenset({"Event", "ReplicaSet", "ConfigMap", "Secret"})
"""Kinds that carry no path: their writes change no capacity."""


class Trail(NamedTuple):
    """How a scene was reached: the trail before its last move, and that move (None at the start)."""

    before: Trail | None
    move: Move | None
    length: int

    def moves(self) -> tuple[Move, ...]:
        """From the start on."""
        found: list[Move] = []
        at: Trail | None = self
        while at is not None and at.move is not None:
            found.append(at.move)
            at = at.before
        return tuple(reversed(found))


class Break(NamedTuple):
    """The promise broken by the last move of ``trail``."""

    broken: Broken
    trail: Trail


class Rest(NamedTuple):
    """A scene in which nothing happens any more, with what is still held and by which gates."""

    trail: Trail
    scene: Scene
    held: tuple[tuple[str, tuple[Gate, ...]], ...]
    is_done: bool
    hindered: tuple[tuple[ObjectId, str], ...] = ()
    """Workloads that cannot become ready here, and why."""


@dataclass
class Found:
    """What an exploration has seen. ``lowest``: by the last step written and path, the fewest endpoints.

    ``scenes`` are different ones, ``moves`` all that were taken, ``apart`` the scenes that there would be
    with each request on its own; ``left`` those that the budget left unvisited, ``depth`` how many moves
    deep the deepest visited one lies.
    """

    scenes: int = 0
    moves: int = 0
    states: int = 0
    apart: int = 0
    left: int = 0
    depth: int = 0
    faults: int = 0
    changes: int = 0
    walks: int = 0
    breaks: list[Break] = field(default_factory=list)
    losses: list[Break] = field(default_factory=list)
    rests: list[Rest] = field(default_factory=list)
    scenes_after: dict[str, tuple[Scene, Checker]] = field(default_factory=dict)
    """The first scene in which each step was the last one written, with nothing else gone wrong."""
    lowest: dict[str, dict[Path, int | None]] = field(default_factory=dict)

    @property
    def is_exhaustive(self) -> bool:
        """Whether no scene within the moves that were tried was left unvisited."""
        return self.left == 0


class _Node(NamedTuple):
    scene: Scene
    checker: Checker
    trail: Trail
    step: str


class Explorer:
    """One exploration from ``start``. ``choose(n)`` gives a number below n, for walks beyond the budget."""

    def __init__(self, setup: Setup, start: Scene, checker: Checker, options: Options) -> None:
        self._setup = setup
        self._options = options
        self._identities = Identities()
        self._seen: set[object] = set()
        self._tried: set[object] = set()
        self._told: set[tuple[str, str, str]] = set()
        self._side: deque[_Node] = deque()
        self._queue: deque[_Node] = deque()
        self.found = Found()
        self._admit(_Node(start, checker, Trail(None, None, 0), ""), self._queue)

    def run(
        self,
        choose: Callable[[int], int] | None = None,
        goes_on: Callable[[int], bool] = lambda _: True,
    ) -> Found:
        """Explore until nothing is left or the budget is spent; then walk, where ``choose`` is given.

        ``goes_on`` is told how many scenes were visited, and may end the exploration there.
        """
        found = self.found
        early = self._straight(self._queue[0])
        for queue in (self._queue, self._side):
            while queue and found.scenes < self._options.budget and goes_on(found.scenes):
                node = queue.popleft()
                if node.trail.length >= self._options.depth:
                    found.left += 1
                    continue
                found.depth = max(found.depth, node.trail.length)
                self._expand(node)
        open_nodes = [*self._queue, *self._side]
        found.left += len(open_nodes)
        if open_nodes and choose:
            self._walk(open_nodes, choose)
        for one in early:
            self._tell(one, is_loss=False)
        return found

    def _straight(self, node: _Node) -> list[Break]:
        """The history in which nothing goes wrong and nothing is late, to its end: every step is on it.

        So the paths are told over all steps also where the budget ends before them. Its breaks are given
        back: they have a shorter story where the exploration comes to them.
        """
        is_closed = False
        for _ in range(self._options.straight):
            seen = turn(self._setup, node.scene)
            ways = list(promptly(seen, self._options))
            if seen.is_done or (is_closed and len(ways) < _AGENT_AND_MORE):
                break
            is_closed = not seen.steps and not is_closed
            node = self._taken(node, ways[0] if seen.steps or is_closed else ways[1])
        early, self.found.breaks = self.found.breaks, []
        self._told.clear()
        return early

    def _expand(self, node: _Node) -> None:
        """Every move of a scene."""
        self.found.scenes += 1
        seen = turn(self._setup, node.scene)
        self.found.apart += seen.orders() if seen.steps else 1
        successors = [self._taken(node, move) for move in moves(seen, self._options)]
        fresh = [one for one in successors if self._admit(one, self._queue_for(one))]
        if not any(one.trail.move and one.trail.move.kind.goes_on for one in fresh) and not seen.steps:
            self._rest(node, seen, successors)

    def _queue_for(self, node: _Node) -> deque[_Node]:
        return self._side if node.scene.is_disturbed else self._queue

    def _rest(self, node: _Node, seen: Turn, successors: list[_Node]) -> None:
        """Nothing but a readiness that may never come goes on from here."""
        key = self._key(node.scene)
        if any(
            self._key(one.scene) != key
            for one in successors
            if one.trail.move and one.trail.move.kind in (Kind.AGENT, Kind.TIME)
        ):
            return
        refused = ((step, error) for step, error in seen.refusals() if error)
        held = (
            *((step.key, (Gate("accepted", _ACCEPTED, GateState.HELD, error),)) for step, error in refused),
            *((step.key, step.closed_gates) for step in seen.plan.held_steps),
        )
        waits = tuple(gate for gate in seen.plan.handover if not gate.is_open)
        if waits and not held:
            held = ((f"generation {seen.plan.generation}", waits),)
        missing = [key for key in self._options.workloads if key not in node.scene.ready]
        whys = [(key, self._options.hindrance(key, node.scene.world)) for key in missing]
        hindered = tuple((key, why) for key, why in whys if why)
        self.found.rests.append(Rest(node.trail, node.scene, held, seen.is_done, hindered))

    def _taken(self, node: _Node, move: Move) -> _Node:
        """The node after a move; every write on the way is judged."""
        self.found.moves += 1
        checker = node.checker.copy()
        if move.kind is Kind.REVISION:
            checker = checker.under(self._options.terms(node.scene.world, move.scene.wanted))
        trail = Trail(node.trail, move, node.trail.length + 1)
        step = move.step or node.step
        is_loss = move.kind is Kind.LOST or (node.scene.lost and move.kind is not Kind.AGENT)
        for event in move.scene.world.events_after(node.scene.world.version):
            self.found.states += 1
            body = None if event.type == "DELETED" else event.body
            for broken in checker.step(Event(event.version, "", event.id, body)):
                self._tell(Break(broken, trail), is_loss=bool(is_loss))
            if event.id.kind not in _SILENT and not move.scene.lost and not move.scene.is_disturbed:
                self._measure(step, checker)
        return _Node(move.scene, checker, trail, step)

    def _measure(self, step: str, checker: Checker) -> None:
        lowest = self.found.lowest.setdefault(step, {})
        for path, capacity in checker.capacities().items():
            if path not in lowest:
                lowest[path] = capacity
            elif capacity is not None:
                known = lowest[path]
                lowest[path] = capacity if known is None else min(known, capacity)

    def _tell(self, broken: Break, *, is_loss: bool) -> None:
        """Each break once, with the first and so shortest story."""
        move = broken.trail.move
        key = (broken.broken.invariant, broken.broken.subject, "loss" if is_loss else "")
        if key not in self._told and move is not None:
            self._told.add(key)
            (self.found.losses if is_loss else self.found.breaks).append(broken)

    def _admit(self, node: _Node, queue: deque[_Node]) -> bool:
        """Whether the scene is new; then it is queued."""
        move = node.trail.move
        if move is not None and move.once is not None:
            if move.once in self._tried:
                return False
            self._tried.add(move.once)
            self.found.faults += move.kind is Kind.FAULT
            self.found.changes += move.kind is Kind.REVISION
        key = self._key(node.scene)
        if key in self._seen:
            return False
        self._seen.add(key)
        if not node.scene.is_disturbed and not node.scene.lost:
            self.found.scenes_after.setdefault(node.step, (node.scene, node.checker))
        queue.append(node)
        return True

    def _key(self, scene: Scene) -> object:
        settle = self._setup.rules.settle
        return (
            self._identities.digest(scene.world),
            ledger_key(scene.ledger, scene.world, settle),
            scene.wanted,
            scene.ready,
            scene.lost,
            scene.refused,
        )

    def _walk(self, nodes: list[_Node], choose: Callable[[int], int]) -> None:
        """Random histories from where the budget ended: what they do not find may be there all the same."""
        for _ in range(self._options.walks):
            node = nodes[choose(len(nodes))]
            self.found.walks += 1
            for _ in range(self._options.walk_length):
                seen = turn(self._setup, node.scene)
                ways = list(moves(seen, self._options))
                if not ways:
                    break
                node = self._taken(node, ways[choose(len(ways))])
