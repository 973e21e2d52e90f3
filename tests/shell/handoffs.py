"""Three handoffs from a saved state, each run to its end under faults, and what the end must look like."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from agent.core.ledger import Ledger
from agent.core.model import Body, ObjectId
from agent.core.promise import Checker, Verdict
from agent.core.simulation.world import World
from agent.core.states import Event
from agent.core.terms import Terms
from agent.errors import ClusterError
from agent.shell.embedded import EmbeddedCluster, _Held
from agent.shell.report import State
from agent.shell.store import LedgerStore
from tests.core.histories import ROUTES
from tests.shell.faults import Hook, Hooked, Killed, Note
from tests.shell.job import KINDS, SET, Job
from tests.shell.releases import CONFIG, binding, ingress, labelled, namespace, server, web

OLD: Final = (namespace("old"), server("old"), binding("old"))
NEW: Final = (namespace("new"), server("new"), binding("new"))
BLUE: Final = (namespace("front"), web("blue"), ingress("front/blue"), CONFIG % "blue")
GREEN: Final = (namespace("front"), web("green"), ingress("front/green"), CONFIG % "green")

FOREIGN: Final[tuple[Body, ...]] = (
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "theirs"}},
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "api", "namespace": "theirs"}, "data": {}},
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "api", "namespace": "default"},
        "data": {},
    },
)
"""Objects of somebody else, with names that the set uses too."""

_V1: Final = "app: web, version: v1"
_V2: Final = "app: web, version: v2"
_PLACES: Final = (namespace("front"), namespace("old"), server("old"))
ORPHANED: Final = (*_PLACES, labelled(_V1), binding("old"))
BESIDE: Final = (*_PLACES, labelled(_V2), binding("old", role="edit"))
"""The selector of a Deployment changes, and the role of a binding."""

RELEASES: Final = {
    "first sync": ((), OLD),
    "subject move": (OLD, NEW),
    "pointer cutover": (BLUE, GREEN),
    "replacement": (ORPHANED, BESIDE),
}


@cache
def stage(name: str) -> Job:
    """The handoff ``name`` just before it begins: the old release in service, the new one committed."""
    before, after = RELEASES[name]
    job = Job(allow=frozenset({"Namespace"}))
    for body in FOREIGN:
        job.apply(body)
        job.world.advance(1)
    if before:
        job.release(*before)
        job.run()
    job.release(*after)
    return job


def branch(job: Job, hook: Hook) -> Job:
    """Another history from the same state, whose requests go through ``hook``."""
    twin = copy(job)
    twin.world = EmbeddedCluster(held=_Held(job.world.world))
    twin.cluster = Hooked(twin.world, hook)
    twin.written = []
    twin.restart()
    return twin


def carry_on(job: Job, ticks: int = 80) -> int:
    """Tick until in service and quiet, through failed ticks and new processes; how many were killed.

    A process that was killed is followed by one that no longer dies.
    """
    killed = 0
    for _ in range(ticks):
        try:
            report = job.syncer.tick()
        except Killed:
            killed += 1
            job.cluster = job.world
            job.restart()
        except ClusterError:
            # The next tick looks again, as that of the schedule does.
            job.world.advance(1)
        else:
            job.world.advance(1)
            if report.state is State.IN_SERVICE and report.plan is None:
                job.world.advance(30)
                return killed
    held = [f"{step.key}: {[gate.reason for gate in step.closed_gates]}" for step in job.plan().steps]
    raise AssertionError(f"not in service after {ticks} ticks: {held}")


@dataclass(frozen=True)
class End:
    """What a handoff ended with: every object and the ledger, without what is only told by times and uids.

    Digests are left out too: after a crash it is not known which of two bodies was written last.
    """

    objects: dict[str, Any]
    ledger: Ledger


@cache
def undisturbed(name: str) -> tuple[End, int, int]:
    """The end of the handoff without faults; how many requests it took, and how many of them wrote."""
    note = Note()
    job = branch(stage(name), note)
    assert carry_on(job) == 0
    return end_of(job), len(note.calls), sum(call.is_write for call in note.calls)


def end_of(job: Job) -> End:
    """The end that ``job`` came to."""
    found = {
        str(key): _plain(body)
        for key, body in job.world.world.objects().items()
        if not (body["metadata"].get("ownerReferences") or key.namespace == "trapeze-system")
    }
    ledger, _ = LedgerStore(job.world, "trapeze-system").load(SET)
    return End(found, _timeless(ledger))


_MOVING: Final = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation")
_GIVEN: Final = ("clusterIP", "clusterIPs")
_TIMED: Final = ("Time", "Generation")


def _plain(body: Body) -> Any:
    metadata = {key: value for key, value in body["metadata"].items() if key not in _MOVING}
    return {"metadata": metadata, **{k: _without_times(v) for k, v in body.items() if k != "metadata"}}


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_times(v) for k, v in value.items() if not k.endswith(_TIMED) and k not in _GIVEN}
    return [_without_times(item) for item in value] if isinstance(value, list) else value


def _timeless(ledger: Ledger) -> Ledger:
    return Ledger(
        ledger.set_name,
        tuple(replace(generation, since=0.0, served=0.0) for generation in ledger.generations),
        {key: replace(entry, uid="", fingerprint=None, digest="") for key, entry in ledger.entries.items()},
        ledger.holds,
        ledger.intent,
    )


def history(start: World, job: Job) -> list[Event]:
    """Every state after ``start``, as the promise's checker takes it."""
    return [
        Event(event.version, "", event.id, None if event.type == "DELETED" else event.body)
        for event in job.world.world.events_after(start.version)
    ]


def made_twice(name: str, job: Job) -> list[str]:
    """Objects of the releases that were created more than once."""
    start = stage(name).world.world
    made = [event.id for event in job.world.world.events_after(start.version) if event.type == "ADDED"]
    wanted = stage(name).git.desired(job.git.head, KINDS).manifests
    return [str(key) for key in sorted(wanted) if made.count(key) > 1]


def touched(name: str, job: Job) -> list[str]:
    """Foreign objects that are not what they were, or not there."""
    start = stage(name).world.world
    foreign = [key for key, body in start.objects().items() if _is_foreign(key, body)]
    return [str(key) for key in sorted(foreign) if job.world.world.get(key) != start.get(key)]


def _is_foreign(key: ObjectId, body: Body) -> bool:
    managers = {field["manager"] for field in body["metadata"].get("managedFields") or ()}
    return "kubectl" in managers and key.kind in ("Namespace", "ConfigMap")


def verdict(name: str, job: Job) -> Verdict:
    """How the promise was kept on every state of the handoff."""
    start = stage(name).world.world
    git = stage(name).git
    commits = list(git.commits)
    old = git.desired(commits[0], KINDS).manifests if len(commits) > 1 else {}
    new = git.desired(commits[-1], KINDS).manifests
    bodies = [{key: manifest.body for key, manifest in some.items()} for some in (old, new)]
    terms = Terms.between(bodies[0], bodies[1], ROUTES)
    checker = Checker(start.objects().items(), ROUTES, terms, version=start.version)
    for event in history(start, job):
        checker.step(event)
    return checker.verdict()
