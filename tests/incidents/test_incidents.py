"""Every incident in both orders, judged on every state."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.core.orders import Order
from agent.shell.report import State
from tests.incidents.converting import CONVERTING
from tests.incidents.incident import Incident
from tests.incidents.leaving import LEAVING
from tests.incidents.moving import MOVING
from tests.shell.judged import SETTLED, Judged

INCIDENTS = (*MOVING, *LEAVING, *CONVERTING)
TICKS = 60


def staged(incident: Incident) -> Judged:
    """The old release in service, the new one committed; what others put there stands."""
    judged = Judged(incident.old, incident.new)
    for text in incident.others:
        body: dict[str, Any] = json.loads(text)
        judged.job.apply(body)
    if incident.others:
        judged.mark()
    return judged


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda incident: incident.name)
def test_the_naive_order_breaks_what_it_broke_in_public(incident: Incident) -> None:
    judged = staged(incident)
    for _ in range(TICKS):
        judged.job.tick(Order.NAIVE)
    judged.job.world.advance(SETTLED)
    assert {one.invariant for one in judged.verdict().broken} == incident.naive, judged.verdict().broken


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda incident: incident.name)
def test_ours_keeps_the_promise_or_says_before_why_not(incident: Incident) -> None:
    judged = staged(incident)
    first = judged.job.plan()
    states = [judged.job.tick().state for _ in range(TICKS)]
    judged.job.world.advance(SETTLED)
    assert judged.verdict().broken == ()
    if incident.announced:
        assert states[-1] is State.HELD
        closed = {
            f"{step.key}: {gate.name}: {gate.reason}" for step in first.steps for gate in step.closed_gates
        }
        assert any(incident.announced in reason for reason in closed), closed
    else:
        assert states[-1] is State.IN_SERVICE
        assert not judged.job.plan().changes
