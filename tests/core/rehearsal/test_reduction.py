"""What is left out, taken together or remembered makes no difference to what a rehearsal says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.core.orders import Order
from agent.core.rehearsal.answer import Rehearsal
from agent.core.rehearsal.run import Script
from tests.core.rehearsal.small import BLUE, GREEN, rehearsed, script


def said(answer: Rehearsal) -> object:
    """Everything that a person acts on, without the ways that lead there."""
    broken = {(one.invariant, one.subject, one.step) for one in answer.stories}
    ends = {(wait.workloads, tuple(step for step, _ in wait.steps)) for wait in answer.deadlocks}
    lowest = {row.path: min((n for n in row.lowest if n is not None), default=None) for row in answer.paths}
    return (answer.verdict, broken, ends, lowest)


@pytest.mark.parametrize(
    "play",
    [script(BLUE, GREEN, disturbs=False), script(BLUE, GREEN, Order.NAIVE, disturbs=False)],
    ids=["gated", "naive"],
)
def test_remembered_gates_say_what_gates_worked_out_anew_say(play: Script) -> None:
    whole, anew = rehearsed(play), rehearsed(replace(play, remembers=False))
    assert said(anew) == said(whole)
    assert anew.reach == whole.reach


def test_fewer_scenes_say_what_more_of_them_say() -> None:
    play = script(BLUE, GREEN, disturbs=False)
    few, many = rehearsed(play), rehearsed(replace(play, reduces=False))
    assert few.is_exhaustive
    assert many.is_exhaustive
    assert few.reach.scenes < many.reach.scenes
    assert said(few) == said(many)
