"""One state of a rehearsal, and the world's own moves: time, readiness, loss."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from agent.core.evidence import troubled
from agent.core.ledger import Entry, Ledger
from agent.core.model import Body, Desired, LiveObject, ObjectId
from agent.core.policy import Policy
from agent.core.references import pod_template
from agent.core.simulation.draft import Draft
from agent.core.simulation.engine import advance, next_due
from agent.core.simulation.standins import KNOB
from agent.core.simulation.tables import dig
from agent.core.simulation.world import NEVER, World, controller_of

HELD_BACK: Final = KNOB + "never-ready"
"""The knob by which the rehearsal decides when a pod becomes ready."""

LASTING: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"})
"""Kinds whose pods serve for as long as they run."""


@dataclass(frozen=True)
class Scene:
    """One state. ``wanted`` is the revision in Git; ``ready`` and ``lost`` are workloads of it.

    ``refused`` are steps that failed in this tick: each is tried once in it, and time ends it.
    ``is_disturbed``: a request failed, the agent died or Git changed on the way here.
    """

    world: World
    ledger: Ledger
    wanted: str
    ready: frozenset[ObjectId] = frozenset()
    lost: frozenset[ObjectId] = frozenset()
    is_disturbed: bool = False
    refused: frozenset[str] = frozenset()


def changed_workloads(before: Mapping[ObjectId, Body], head: Desired, policy: Policy) -> tuple[ObjectId, ...]:
    """The workloads whose pods the upgrade makes: new ones, and those with another template than before."""
    return tuple(
        key
        for key, manifest in sorted(head.manifests.items())
        if key.kind in LASTING
        and (manifest.body.get("spec") or {}).get("replicas") != 0
        and (template := pod_template(manifest.body, policy)) is not None
        and (key not in before or pod_template(before[key], policy) != template)
    )


def new_pods(world: World, workload: ObjectId, since: int) -> list[tuple[ObjectId, Body]]:
    """The pods of a workload that were made after version ``since``."""
    tops = _tops(world)
    return [
        (key, body)
        for key, body in world.of("", "Pod").items()
        if int(str(body["metadata"]["uid"])[:8], 16) > since and tops.get(controller_of(body)) == workload
    ]


def unstarted(world: World, workload: ObjectId, since: int) -> str:
    """Why no new pod of a workload runs here, or empty where one does."""
    pods = new_pods(world, workload, since)
    if any((body.get("status") or {}).get("phase") == "Running" for _, body in pods):
        return ""
    if pods:
        return troubled(LiveObject(key, body) for key, body in pods)
    own = [workload, *(key for key in world.of("apps", "ReplicaSet") if _is_of(world, key, workload))]
    rows = (row for key in own for row in dig(world.get(key), ("status", "conditions")) or ())
    refused = (str(row.get("message")) for row in rows if row.get("type") == "ReplicaFailure")
    return next(refused, "no pod of it is made")


def _is_of(world: World, key: ObjectId, workload: ObjectId) -> bool:
    uid = controller_of(world.get(key))
    return uid == ((world.get(workload) or {}).get("metadata") or {}).get("uid")


def _tops(world: World) -> dict[str, ObjectId]:
    """The uid of each controller of pods -> the workload at the top of its owners."""
    found: dict[str, ObjectId] = {}
    owners: dict[str, str] = {}
    for kind, objects in world.kinds.items():
        if kind.group == "apps":
            for key, body in objects.items():
                found[body["metadata"]["uid"]] = key
                owners[body["metadata"]["uid"]] = controller_of(body)
    return {uid: found[owner] if (owner := owners[uid]) in found else key for uid, key in found.items()}


def governed(scene: Scene, workloads: Iterable[ObjectId], since: int) -> Scene:
    """The scene with every pod of ``workloads`` ready or not as the scene says."""
    draft = None
    for workload in workloads:
        is_held = workload not in scene.ready or workload in scene.lost
        for key, pod in new_pods(scene.world, workload, since):
            annotations = pod["metadata"].get("annotations") or {}
            wanted = "true" if is_held else "false"
            if annotations.get(HELD_BACK, "false") != wanted:
                draft = draft or Draft(scene.world)
                metadata = {**pod["metadata"], "annotations": {**annotations, HELD_BACK: wanted}}
                draft.put(key, {**pod, "metadata": metadata})
    return replace(scene, world=draft.finish()) if draft else scene


def settled(scene: Scene) -> Scene:
    """The scene in which all controllers have looked, if none of them has anything to do about it."""
    world = advance(scene.world, 0.0)
    return replace(scene, world=world) if world.version == scene.world.version else scene


def later(scene: Scene, settle: float) -> Scene | None:
    """The scene when next something is due: in the world, or by the clock of a cutover; None at rest."""
    world = scene.world
    due = next_due(world)
    clocks = [
        at for entry in scene.ledger.entries.values() if entry.cutover_at for at in _clocks(entry, settle)
    ]
    due = min([due, *(time for time in clocks if time > world.now)])
    if due == NEVER:
        return None
    passed = max(0.0, due - world.now)
    return replace(scene, world=advance(world, passed), refused=frozenset() if passed else scene.refused)


def _clocks(entry: Entry, settle: float) -> Iterator[float]:
    """When a plan may judge a cutover anew: half way (trouble counts), settled, stable after a point back."""
    yield entry.cutover_at + settle / 2
    yield entry.cutover_at + settle
    if entry.points_back:
        yield entry.cutover_at + settle * (1 + 2 ** (entry.points_back - 1))
