"""What can happen next in a scene."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, NamedTuple

from agent.core.hints import Hint, is_named
from agent.core.model import Body, ObjectId
from agent.core.rehearsal.scene import Scene, governed, later, new_pods, settled, unstarted
from agent.core.rehearsal.turn import Turn
from agent.core.simulation.controllers.common import is_ready
from agent.core.simulation.world import World
from agent.core.terms import Terms


class Kind(Enum):
    """Who moves."""

    AGENT = "agent"
    TIME = "time"
    READY = "ready"
    LOST = "lost"
    FAULT = "fault"
    REVISION = "revision"

    @property
    def goes_on(self) -> bool:
        """Whether it happens by itself, sooner or later."""
        return self in (Kind.AGENT, Kind.TIME)


class Move(NamedTuple):
    """One move and the scene after it. ``step`` names the request last sent, where the agent sent some.

    ``once``: tried for the first scene that has this key only; None for always.
    """

    kind: Kind
    says: str
    scene: Scene
    step: str = ""
    once: object = None


@dataclass(frozen=True)
class Options:
    """What is tried, and how far. ``workloads`` are those whose pods the upgrade makes, after ``since``.

    ``terms`` gives what counts from a scene's world on once another revision is wanted; ``changes`` are the
    revisions that may come in between. ``budget`` counts scenes, ``depth`` moves, ``straight`` those of the
    one history in which nothing goes wrong. ``reduces`` False takes every request apart.
    """

    workloads: tuple[ObjectId, ...]
    since: int
    terms: Callable[[World, str], Terms]
    changes: tuple[str, ...] = ()
    hints: Mapping[ObjectId, Hint] = field(default_factory=dict)
    budget: int = 5_000
    depth: int = 10**6
    faults: bool = True
    losses: bool = True
    reduces: bool = True
    walks: int = 8
    walk_length: int = 60
    straight: int = 1_000

    def hindered(self, workload: ObjectId, world: World) -> str:
        """What a hint says keeps the workload from becoming ready in this world, or empty."""
        hint = self.hints.get(workload, Hint())
        if hint.gone and any(is_named(hint.gone, key) for key in world.objects()):
            return f"it becomes ready only once {hint.gone} is gone"
        jobs = world.of("batch", "Job").items()
        if hint.done and not any(is_named(hint.done, key) and _is_complete(job) for key, job in jobs):
            return f"it becomes ready only once {hint.done} has completed"
        return ""

    def hindrance(self, workload: ObjectId, world: World) -> str:
        """Why a workload of a world at rest can never become ready in it, or empty."""
        return self.hindered(workload, world) or unstarted(world, workload, self.since)

    def seen(self, scene: Scene) -> Scene:
        """The scene with its pods ready or not as it says, and with idle controllers up to date."""
        scene = governed(scene, self.workloads, self.since)
        return settled(scene) if self.reduces else scene


ALL_TOGETHER: Final = "adds {} objects"


def moves(seen: Turn, options: Options) -> Iterator[Move]:
    """Every move from the turn's scene; a disturbed one goes on without delay, one move at a time."""
    scene = seen.scene
    if scene.is_disturbed:
        yield from promptly(seen, options)
        return
    yield from (_agent(one, options) for one in (_apart(seen) if not options.reduces else (seen,)))
    if options.faults and seen.steps:
        yield from _faults(seen, options)
    if options.changes and _has_begun(scene):
        yield from _revisions(seen, options)
    if options.reduces and seen.steps and all(step.is_additive and not step.gates for step in seen.steps):
        return
    yield from _world(seen, options)


def _apart(seen: Turn) -> Iterator[Turn]:
    """The turn as one request alone, for each that may be the first to arrive."""
    rank = seen.setup.policy.rank
    first = [pair for pair in seen.pairs if rank(pair[0].id.group_kind) == rank(seen.steps[0].id.group_kind)]
    yield from (replace(seen, pairs=(pair,)) for pair in first)
    if not seen.pairs:
        yield seen


def _agent(seen: Turn, options: Options) -> Move:
    scene, _ = seen.after()
    after = options.seen(scene)
    if not seen.steps:
        return Move(Kind.AGENT, "the agent looks and closes its tick", after)
    first = seen.steps[0].key
    says = first if len(seen.steps) == 1 else f"{ALL_TOGETHER.format(len(seen.steps))}: {first}, ..."
    return Move(Kind.AGENT, says, after, step=says)


def _world(seen: Turn, options: Options) -> Iterator[Move]:
    scene = seen.scene
    after = later(scene, seen.setup.rules.settle)
    if after is not None:
        passed = after.world.now - scene.world.now
        yield Move(Kind.TIME, f"{passed:g} s pass" if passed else "controllers act", options.seen(after))
    for workload in options.workloads:
        pods = [pod for _, pod in new_pods(scene.world, workload, options.since)]
        if workload not in scene.ready:
            runs = any((pod.get("status") or {}).get("phase") == "Running" for pod in pods)
            if runs and not options.hindered(workload, scene.world):
                ready = replace(scene, ready=scene.ready | {workload})
                yield Move(Kind.READY, f"{workload} becomes ready", options.seen(ready))
        elif options.losses and not scene.lost and any(is_ready(pod) for pod in pods):
            lost = replace(scene, lost=frozenset({workload}))
            yield Move(Kind.LOST, f"{workload} loses its readiness", options.seen(lost))


def promptly(seen: Turn, options: Options) -> Iterator[Move]:
    """The agent while it writes, then readiness, then time."""
    agent = _agent(seen, options)
    yield agent
    if seen.steps:
        return
    rest = list(_world(seen, options))
    ready = [move for move in rest if move.kind is Kind.READY]
    yield from ready[:1] or [move for move in rest if move.kind is Kind.TIME]


def _progress(seen: Turn) -> tuple[object, ...]:
    keys = tuple(step.key for step in seen.steps)
    return (keys, tuple(sorted(seen.ledger.entries)), seen.scene.ready, seen.scene.lost)


def _faults(seen: Turn, options: Options) -> Iterator[Move]:
    for fault in seen.faults():
        after = options.seen(replace(fault.scene, is_disturbed=True))
        yield Move(Kind.FAULT, fault.says, after, once=(Kind.FAULT, fault.says, *_progress(seen)))


def _revisions(seen: Turn, options: Options) -> Iterator[Move]:
    for revision in options.changes:
        after = replace(seen.scene, wanted=revision, is_disturbed=True)
        yield Move(
            Kind.REVISION,
            f"Git now wants {revision}",
            after,
            once=(Kind.REVISION, revision, *_progress(seen)),
        )


def _has_begun(scene: Scene) -> bool:
    newest = scene.ledger.newest
    return newest is not None and newest.revision == scene.wanted


def _is_complete(job: Body) -> bool:
    rows = (job.get("status") or {}).get("conditions") or ()
    return any(row.get("type") == "Complete" and row.get("status") == "True" for row in rows)
