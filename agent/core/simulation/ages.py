"""How long ago something happened to an object, as far as it still decides anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from agent.core.model import Body, GroupKind, ObjectId
from agent.core.simulation.standins import RUN_FOR, knob
from agent.core.simulation.tables import dig
from agent.core.simulation.world import NEVER, Timing, World

PLACES: Final = 6
"""Decimals of a second within which two moments are one: floating point adds up differently."""

LONGEST_RETRY: Final = 300.0
"""Seconds after which a refused pod is tried again at the latest (the real bound is 1,000)."""

Ages = tuple[tuple[str, float], ...]


def ages(world: World, key: ObjectId, body: Body, notes: Mapping[str, float], longest: float) -> Ages:
    """The age of each note, in seconds, cut off where a greater one makes no difference any more.

    ``longest``: the longest minReadySeconds that a pod's age may still be held against.
    """
    found = []
    for name, at in notes.items():
        limit = _limit(world, key, body, name, longest)
        if limit is not None:
            found.append((name, round(float(min(limit, world.now - at)), PLACES)))
    return tuple(sorted(found))


def _limit(world: World, key: ObjectId, body: Body, name: str, longest: float) -> float | None:
    """The age from which on a note stays what it is; None for one that says nothing by itself."""
    if name == "since":
        return longest
    if name in _OF_ALL:
        by_kind = _OF_ALL[name]
        return by_kind(world.timing, body) if key.kind in ("Pod", "CustomResourceDefinition") else None
    # A note that is not known here may decide at any age: worlds with different ones stay different.
    return _LIMITS[name](world.timing, body) if name in _LIMITS else NEVER


def _knob(body: Body, *names: str) -> float:
    return max(float(knob(body, name) or 0) for name in names)


def _started(timing: Timing, body: Body) -> float:
    return timing.pod_start if body["kind"] == "Pod" else timing.establish


_Limit = Callable[[Timing, Body], float | None]

_OF_ALL: Final[Mapping[str, _Limit]] = {
    "created": _started,
    "deleted": lambda timing, body: _knob(body, "slow-stop") or timing.pod_stop,
}
"""What every object has, and what matters of a few kinds only."""

_LIMITS: Final[Mapping[str, _Limit]] = {
    "made": lambda _timing, _body: None,
    "bound": lambda timing, _body: timing.pod_start,
    "opened": lambda _timing, _body: 0,
    "started": lambda _timing, body: max(RUN_FOR, _knob(body, "ready-after", "crash", "run-for")),
    "ready": lambda _timing, body: _knob(body, "lose-ready-after"),
    "progress": lambda _timing, body: float(dig(body, ("spec", "progressDeadlineSeconds")) or 0),
    "begun": lambda _timing, body: float(dig(body, ("spec", "activeDeadlineSeconds")) or 0),
    "ended": lambda _timing, body: float(dig(body, ("spec", "ttlSecondsAfterFinished")) or 0),
    "refused": lambda _timing, _body: LONGEST_RETRY,
    "differs": lambda timing, _body: timing.availability,
}

WORKLOADS: Final = tuple(
    GroupKind("apps", kind) for kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")
)


def longest_wait(world: World) -> float:
    """The longest minReadySeconds that any workload asks for."""
    specs = (body["spec"] for kind in WORKLOADS for body in world.of(*kind).values())
    return max((float(spec.get("minReadySeconds", 0)) for spec in specs), default=0.0)
