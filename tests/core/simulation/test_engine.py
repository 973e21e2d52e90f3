"""Time and sharing: a world is a value."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.simulation import engine
from agent.core.simulation.draft import Draft
from agent.core.simulation.engine import advance, next_due
from agent.core.simulation.world import NEVER, World
from tests.core.simulation.aggregated import NEW, OLD, in_service, own, pointer, shared
from tests.core.simulation.lab import Lab, named, service, template, workload

QUARTERS = st.lists(st.integers(0, 12).map(lambda number: number / 4), max_size=8)


def in_motion() -> World:
    lab = in_service()
    lab.apply(*own(NEW, ready_after="2"), shared(OLD, NEW), pointer(NEW))
    return lab.world


MOVING = in_motion()


@settings(deadline=None, max_examples=25)
@given(QUARTERS)
def test_time_in_pieces_leads_where_time_in_one_piece_leads(pieces: list[float]) -> None:
    world = MOVING
    for seconds in (0, *pieces):
        world = advance(world, seconds)
    assert world == advance(MOVING, sum(pieces))


def test_a_world_stays_as_it_was_when_time_goes_on() -> None:
    before = {key: body["metadata"]["resourceVersion"] for key, body in MOVING.objects().items()}
    later = advance(MOVING, 60)
    assert later.version > MOVING.version
    assert {key: body["metadata"]["resourceVersion"] for key, body in MOVING.objects().items()} == before


def test_what_does_not_change_is_shared() -> None:
    lab = Lab()
    lab.apply(
        *(named("v1", "ConfigMap", f"map-{number}", "shop", data={"n": str(number)}) for number in range(50))
    )
    before = lab.world
    lab.apply(workload("Deployment", template()), service())
    lab.advance(30)
    maps = before.of("", "ConfigMap")
    assert all(lab.world.get(key) is body for key, body in maps.items())
    assert lab.world.of("", "ConfigMap") is maps


def test_a_world_at_rest_has_nothing_due_and_time_writes_nothing() -> None:
    lab = Lab()
    lab.apply(workload("Deployment", template()), service())
    assert next_due(lab.world) == lab.world.now
    lab.advance(60)
    assert next_due(lab.world) == NEVER
    version = lab.world.version
    lab.advance(1e6)
    assert (lab.world.version, lab.world.now) == (version, 1e6 + 60)


def test_every_write_is_an_event_in_one_order() -> None:
    events = MOVING.events_after(0)
    versions = [event.version for event in events]
    assert versions == list(range(1, MOVING.version + 1))
    state = {}
    for event in events:
        state[event.id] = event.body
        if event.type == "DELETED":
            del state[event.id]
    assert state == MOVING.objects()


def test_a_step_looks_only_at_what_a_write_concerns() -> None:
    lab = Lab()
    for number in range(40):
        app = f"app-{number}"
        lab.apply(workload("Deployment", template(app), app, replicas=2), service(app, app))
    lab.advance(30)
    version = lab.world.version
    lab.apply(workload("Deployment", template("app-7", version="2"), "app-7", replicas=2))
    lab.advance(30)
    events = lab.world.events_after(version)
    assert {event.id.name.startswith("app-7") for event in events} == {True}
    draft = Draft(lab.world)
    looked = {key.name for event in events for one in engine.CONTROLLERS for key in one.calls(draft, event)}
    assert {name.startswith("app-7") for name in looked} == {True}
