"""Any release after any other comes into service, keeping the promise, and then nothing is left to write."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.core.model import SET_LABEL
from agent.core.promise import Checker
from agent.core.states import Event
from agent.core.terms import Terms
from agent.shell.report import State
from tests.core.histories import ROUTES
from tests.shell.job import KINDS, Job
from tests.shell.releases import CONFIG, binding, ingress, namespace, server, web

COLOURS = ("red", "blue", "green")


@dataclass(frozen=True)
class Release:
    """A small release: web applications by name with replicas and version, and what leads to one of them."""

    webs: tuple[tuple[str, int, int], ...]
    front: str
    colour: str
    servers: tuple[str, ...]

    def texts(self) -> tuple[str, ...]:
        """Its documents, a file each."""
        found = [namespace("front")]
        for name, replicas, version in self.webs:
            found.append(web(name, replicas=replicas).replace("standin/http:1", f"standin/http:{version}"))
        found += [ingress(f"front/{self.front}")] if self.front else []
        found += [CONFIG % self.colour] if self.colour else []
        for where in self.servers:
            found += [namespace(where), server(where)]
        found += [binding(*self.servers)] if self.servers else []
        return tuple(found)


@st.composite
def releases(draw: st.DrawFn) -> Release:
    names = draw(st.lists(st.sampled_from(("one", "two", "three")), unique=True, max_size=2))
    webs = tuple((name, draw(st.integers(1, 3)), draw(st.integers(1, 2))) for name in names)
    front = draw(st.sampled_from(("", *names)))
    colour = draw(st.sampled_from(("", *COLOURS)))
    servers = tuple(draw(st.lists(st.sampled_from(("east", "west")), unique=True, max_size=2)))
    return Release(webs, front, colour, servers)


def settled(job: Job, ticks: int = 80) -> None:
    """Tick until in service; fails with what is held."""
    for _ in range(ticks):
        if job.tick().state is State.IN_SERVICE:
            return
    held = [f"{step.key}: {[gate.reason for gate in step.closed_gates]}" for step in job.plan().steps]
    raise AssertionError(f"not in service: {held or [g.reason for g in job.plan().handover]}")


def is_kept(job: Job, version: int, first: Checker) -> list[str]:
    """What was broken after ``version``."""
    for event in job.world.world.events_after(version):
        body = None if event.type == "DELETED" else event.body
        first.step(Event(event.version, "", event.id, body))
    return [str(broken) for broken in first.verdict().broken]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(old=releases(), new=releases(), interrupted=st.none() | st.tuples(releases(), st.integers(1, 5)))
def test_any_release_after_any_other(
    old: Release, new: Release, interrupted: tuple[Release, int] | None
) -> None:
    job = Job(allow=frozenset({"Namespace"}))
    job.release(*old.texts())
    settled(job)
    job.world.advance(10)
    start = job.world.world
    first = job.git.desired(job.git.head, KINDS)
    middle = None
    if interrupted is not None:
        job.release(*interrupted[0].texts())
        middle = job.git.desired(job.git.head, KINDS)
        for _ in range(interrupted[1]):
            job.tick()
    job.release(*new.texts())
    settled(job)
    last = job.git.desired(job.git.head, KINDS)
    assert job.tick().plan is None
    labelled = {key for key, body in job.world.world.objects().items() if _is_ours(key.kind, body)}
    assert labelled == set(last.manifests)
    if middle is None:
        bodies = [{key: m.body for key, m in one.manifests.items()} for one in (first, last)]
        terms = Terms.between(bodies[0], bodies[1], ROUTES)
        checker = Checker(start.objects().items(), ROUTES, terms, version=start.version)
        assert is_kept(job, start.version, checker) == []


def _is_ours(kind: str, body: dict[str, object]) -> bool:
    metadata = body["metadata"]
    assert isinstance(metadata, dict)
    # Controllers copy a Service's labels to its EndpointSlices.
    return kind != "EndpointSlice" and SET_LABEL in (metadata.get("labels") or {})
