"""When two worlds are one: counters and given names do not tell them apart, behaviour does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.model import Body
from agent.core.simulation.engine import next_due, step
from agent.core.simulation.identity import Identities, digest
from agent.core.simulation.world import NEVER, Timing, World, id_of
from tests.core.simulation.aggregated import NEW, OLD, in_service, own, pointer, shared
from tests.core.simulation.lab import Lab, binding, named, service, template, workload


def config(name: str, **data: str) -> Body:
    return named("v1", "ConfigMap", name, "shop", data=data)


def web(replicas: int = 2, **rest: str) -> Body:
    return workload("Deployment", template(**rest), replicas=replicas)


def after(*bodies: Body, seconds: float = 60, apart: float = 0) -> World:
    """The world at rest after these were applied, ``apart`` seconds one from the next."""
    lab = Lab()
    for body in bodies:
        lab.apply(body)
        if apart:
            lab.advance(apart)
    lab.advance(seconds)
    return lab.world


OBJECTS = (config("a", key="1"), web(3), service(), binding("readers", "view", ("shop", "default")))


@pytest.mark.parametrize("apart", [0, 0.1, 7])
def test_the_order_and_the_pace_of_what_commutes_leave_no_trace(apart: float) -> None:
    assert digest(after(*OBJECTS, apart=apart)) == digest(after(*reversed(OBJECTS)))


def test_names_and_addresses_that_were_given_tell_nothing() -> None:
    other = after(config("b"), *OBJECTS)
    lab = Lab()
    lab.world = other
    lab.delete(id_of(config("b")))
    lab.advance(60)
    plain = after(*OBJECTS)
    names = {key.name for key in plain.of("", "Pod")}
    assert names.isdisjoint(key.name for key in lab.world.of("", "Pod"))
    assert digest(lab.world) == digest(plain)


def test_a_world_at_rest_stays_the_same_while_time_goes_on() -> None:
    lab = Lab()
    lab.world = after(*OBJECTS)
    before = digest(lab.world)
    lab.advance(3600)
    assert digest(lab.world) == before


def test_back_and_forth_ends_where_it_began() -> None:
    lab = Lab()
    lab.world = after(web(version="1"), service())
    lab.apply(web(version="2"))
    lab.advance(60)
    there = digest(lab.world)
    for version in "12":
        lab.apply(web(version=version))
        lab.advance(60)
    assert digest(lab.world) == there


def _changed(change: Callable[[Lab], object]) -> tuple[bytes, bytes]:
    lab = Lab()
    lab.world = after(*OBJECTS, web(1, app="other") | {"metadata": {"name": "other", "namespace": "shop"}})
    before = digest(lab.world)
    change(lab)
    return before, digest(lab.world)


def _touch_status(lab: Lab) -> None:
    """A pod that is not ready any more, with nothing else written."""
    (key, pod), *_ = sorted(lab.world.of("", "Pod").items())
    rows = [
        row | {"status": "False"} if row["type"] == "Ready" else row for row in pod["status"]["conditions"]
    ]
    body = pod | {"status": pod["status"] | {"conditions": rows}}
    pods = {**lab.world.of("", "Pod"), key: body}
    lab.world = replace(lab.world, kinds={**lab.world.kinds, key.group_kind: pods})


CHANGES = {
    "data": lambda lab: lab.apply(config("a", key="2")),
    "another owner of fields": lambda lab: lab.apply(config("a", key="1"), manager="other"),
    "a write that waits": lambda lab: lab.apply(config("b")),
    "rights": lambda lab: lab.apply(binding("more", "edit", ("shop", "default"))),
    "an object gone": lambda lab: lab.delete(id_of(config("a", key="1"))),
    "readiness": _touch_status,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_behaves_differently_differs(change: Callable[[Lab], object]) -> None:
    before, later = _changed(change)
    assert before != later


def test_each_moment_of_a_start_is_a_world_of_its_own() -> None:
    lab = Lab()
    lab.apply(web(1, ready_after="2"), service())
    lab.advance(0.5)
    half = digest(lab.world)
    lab.advance(0.25)
    assert digest(lab.world) != half


def test_which_of_two_services_has_which_pod_matters_and_which_twin_does_not() -> None:
    """Two pods alike but for who points at them; the digest must not lose who is behind what."""

    def behind(*apps: str) -> list[Body]:
        pods = [workload("Deployment", template(app=app), name=f"web-{n}") for n, app in enumerate(apps)]
        return [service("x", app="x"), service("y", app="y"), *pods]

    assert digest(after(*behind("x", "x"))) != digest(after(*behind("x", "y")))
    assert digest(after(*behind("x", "y"))) == digest(after(*reversed(behind("x", "y"))))


def test_the_age_of_a_readiness_matters_while_somebody_waits_for_it() -> None:
    lab = Lab()
    lab.apply(workload("Deployment", template(), minReadySeconds=30))
    lab.advance(10)
    young = lab.world
    lab.advance(10)
    assert digest(lab.world) != digest(young)
    lab.advance(60)
    old = digest(lab.world)
    lab.advance(60)
    assert digest(lab.world) == old


def test_a_readiness_that_is_held_against_a_wait_yet_to_come_has_an_age() -> None:
    lab = Lab()
    lab.apply(web(1))
    lab.advance(5)
    young = lab.world
    lab.advance(5)
    assert digest(lab.world) == digest(young)
    coming = Identities(longest=30)
    assert coming.digest(lab.world) != coming.digest(young)


def test_other_delays_are_another_world() -> None:
    world = after(*OBJECTS)
    assert digest(replace(world, timing=Timing(probe=9))) != digest(world)


def test_what_the_caller_compares_itself_is_left_out() -> None:
    one, other = after(*OBJECTS, config("ledger", n="1")), after(*OBJECTS, config("ledger", n="2"))
    own_business = Identities(leave_out=lambda key: key.name == "ledger")
    assert digest(one) != digest(other)
    assert own_business.digest(one) == own_business.digest(other)


def test_one_memory_for_many_worlds_says_what_each_alone_says() -> None:
    lab, memory = in_service(), Identities()
    lab.apply(*own(NEW, ready_after="2"), shared(OLD, NEW), pointer(NEW))
    seen = []
    while next_due(lab.world) < NEVER:
        lab.world = step(lab.world)
        seen.append(memory.digest(lab.world))
        assert seen[-1] == digest(lab.world)
    assert len(set(seen)) == len(seen) > 3
    lab.advance(30)
    assert digest(lab.world) == seen[-1]


def _future(world: World) -> list[bytes]:
    """The digests on the way to rest after one more rollout and one object less."""
    lab, memory = Lab(), Identities()
    lab.world = world
    lab.apply(web(3, version="2"))
    lab.delete(id_of(config("a")))
    seen = [memory.digest(lab.world)]
    while next_due(lab.world) < NEVER:
        lab.world = step(lab.world)
        seen.append(memory.digest(lab.world))
    return seen


MANY = (*OBJECTS, config("b"), workload("StatefulSet", template(app="db"), "db", replicas=2))
FUTURE = _future(after(*MANY))


@settings(deadline=None, max_examples=15)
@given(st.permutations(MANY), st.sampled_from([0, 0.25, 3]))
def test_worlds_of_one_digest_have_one_future(order: list[Body], apart: float) -> None:
    world = after(*order, apart=apart)
    assert digest(world) == digest(after(*MANY))
    assert _future(world) == FUTURE
