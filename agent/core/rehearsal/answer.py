"""What a rehearsal answers: the verdict, the stories, the paths over the steps, who waits for whom."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from agent.core.model import Desired, LiveObject, ObjectId
from agent.core.rehearsal.explore import Break, Found, Rest
from agent.core.rehearsal.rollback import Rollback
from agent.core.serving import Path
from agent.core.simulation.world import controller_of
from agent.core.steps import NEEDS_A_PERSON, Gate, GateState, Plan
from agent.core.terms import Terms

BEFORE = "before the first step"


class Verdict(Enum):
    """What came of it; ``Rehearsal.is_exhaustive`` says whether that is all that can happen in the model."""

    KEPT = "kept"
    """No explored state breaks the promise, and where everything becomes ready the upgrade ends."""
    ANNOUNCED = "announced"
    """No explored state breaks it, and the plan says before the first write what it will not do alone."""
    STUCK = "stuck"
    """No explored state breaks it, and the upgrade does not end though everything becomes ready."""
    BROKEN = "broken"
    """Some explored state breaks the promise."""


class Story(NamedTuple):
    """One break: whose promise (``subject``) by which invariant, at which step, and how it comes to that."""

    invariant: str
    subject: str
    says: str
    step: str
    moves: tuple[str, ...]


class Wait(NamedTuple):
    """What stays undone while ``workloads`` are not ready: each step with what it waits for.

    ``because``: why they cannot become ready, where a hint says so; ``way_out`` for waits that nothing ends.
    """

    workloads: tuple[str, ...]
    steps: tuple[tuple[str, tuple[str, ...]], ...]
    needs_a_person: bool = False
    because: tuple[str, ...] = ()
    way_out: str = ""


class Row(NamedTuple):
    """One serving path: the fewest ready endpoints while each step was the last one written.

    None: the path needs no endpoints, or does not stand yet. ``is_given_up``: the new release does
    without it.
    """

    path: str
    lowest: tuple[int | None, ...]
    is_given_up: bool = False


class Reach(NamedTuple):
    """How far the rehearsal looked.

    ``scenes`` are the states that differ, ``apart`` what they would be at least with every request on its
    own; ``writes`` the states of the cluster that the promise was judged on; ``left`` scenes that the budget
    left out, each of them a beginning that was not followed; ``walks`` random histories from there.
    """

    scenes: int
    apart: int
    writes: int
    left: int
    depth: int
    faults: int
    changes: int
    walks: int


@dataclass(frozen=True)
class Rehearsal:
    """The answer.

    ``left_behind`` is of the set and not wanted, at an end. ``losses`` are breaks by pods of the new release
    that fail after they were ready.
    """

    set_name: str
    base: str
    head: str
    order: str
    verdict: Verdict
    reach: Reach
    steps: tuple[str, ...]
    paths: tuple[Row, ...]
    stories: tuple[Story, ...]
    losses: tuple[Story, ...]
    waits: tuple[Wait, ...]
    deadlocks: tuple[Wait, ...]
    left_behind: tuple[str, ...]
    rollbacks: tuple[Rollback, ...]
    announced: tuple[str, ...]
    assumed: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def is_exhaustive(self) -> bool:
        """Whether every scene was visited: a budget that ran out makes a sample, and no sample is a proof."""
        return self.reach.left == 0

    @property
    def is_safe(self) -> bool:
        """Whether the promise is kept in every explored state, and nothing has to be accepted first."""
        return self.verdict is Verdict.KEPT


def reach_of(found: Found) -> Reach:
    """The figures of an exploration."""
    return Reach(
        found.scenes,
        found.apart,
        found.states,
        found.left,
        found.depth,
        found.faults,
        found.changes,
        found.walks,
    )


def verdict_of(found: Found, announced: Iterable[str], unfinished: Iterable[object]) -> Verdict:
    """The worst of what was found."""
    if found.breaks:
        return Verdict.BROKEN
    if tuple(announced):
        return Verdict.ANNOUNCED
    return Verdict.STUCK if tuple(unfinished) else Verdict.KEPT


def left_behind(found: Found, head: Desired) -> tuple[str, ...]:
    """Objects under the set's label that the new release does not want, where it counts as in service."""
    ends = (rest.scene.world for rest in found.rests if rest.is_done and rest.scene.wanted == head.revision)
    left = {
        key
        for world in ends
        for key, body in world.objects().items()
        if LiveObject(key, body).set_name == head.set_name
        and not controller_of(body)
        and not any((key.kind, *key[2:]) == (own.kind, *own[2:]) for own in head.manifests)
    }
    return tuple(str(key) for key in sorted(left))


def stories_of(breaks: Iterable[Break]) -> tuple[Story, ...]:
    """Each break with the shortest way to it, shortest first."""
    ordered = sorted(breaks, key=lambda one: one.trail.length)
    return tuple(_story(one) for one in ordered)


def _story(one: Break) -> Story:
    moves = one.trail.moves()
    step = next((move.step for move in reversed(moves) if move.step), BEFORE)
    broken = one.broken
    return Story(broken.invariant, broken.subject, broken.story, step, tuple(move.says for move in moves))


def rows_of(found: Found, given_up: Callable[[Path], bool]) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    """The steps in the order in which they were first written, and each path over them."""
    steps = tuple(found.lowest)
    paths = sorted({path for lowest in found.lowest.values() for path in lowest})
    rows = tuple(
        Row(str(path), tuple(found.lowest[step].get(path) for step in steps), given_up(path))
        for path in paths
    )
    return tuple(step or BEFORE for step in steps), rows


def waits_of(found: Found, workloads: Iterable[ObjectId]) -> tuple[tuple[Wait, ...], tuple[Wait, ...]]:
    """What waits for workloads that are not ready, and what waits though all of them are."""
    everything = frozenset(workloads)
    waits: dict[tuple[str, ...], Wait] = {}
    deadlocks: dict[tuple[str, ...], Wait] = {}
    for rest in found.rests:
        if rest.is_done or rest.scene.lost or rest.scene.is_disturbed:
            continue
        missing = tuple(sorted(str(key) for key in everything - rest.scene.ready))
        wait = _wait(missing, rest)
        is_dead = not missing or {str(key) for key, _ in rest.hindered} == set(missing)
        place = deadlocks if is_dead else waits
        place.setdefault(missing or tuple(step for step, _ in wait.steps), wait)
    return tuple(waits.values()), tuple(deadlocks.values())


def _wait(missing: tuple[str, ...], rest: Rest) -> Wait:
    steps = tuple((step, tuple(gate.reason for gate in gates)) for step, gates in rest.held)
    needs = any(_needs_a_person(gate) for _, gates in rest.held for gate in gates)
    why = tuple(f"{key}: {reason}" for key, reason in rest.hindered)
    return Wait(missing, steps, needs, why, _way_out(rest, needs=needs))


def _way_out(rest: Rest, *, needs: bool) -> str:
    """What a person can do about a wait that nothing ends."""
    if needs:
        return "the reasons name what has to be allowed"
    if any("is gone" in reason for _, reason in rest.hindered):
        return (
            "let the old one go in a release of its own (replicas: 0) and accept the gap, "
            "or let the new one start without its lock"
        )
    if rest.hindered:
        return "put what its pods lack into the release or into one before it, or make room for them"
    return "look at the reasons: what they wait for is in no manifest of this release"


def _needs_a_person(gate: Gate) -> bool:
    return gate.name in NEEDS_A_PERSON and gate.state is GateState.HELD


def announced_by(plan: Plan, terms: Terms) -> tuple[str, ...]:
    """What the plan says before the first write that it will not do without a person, or may interrupt."""
    told: Mapping[str, str] = {
        step.key: gate.reason for step in plan.steps for gate in step.closed_gates if _needs_a_person(gate)
    }
    allowed = (f"{path} may be interrupted: the downtime is allowed" for path in sorted(terms.interrupted))
    return (*(f"{step}: {reason}" for step, reason in told.items()), *allowed)
