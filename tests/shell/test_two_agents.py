"""Two agents on one set at once, an hour apart: whoever finds the other's hand in the ledger steps back.

The second agent takes a whole tick, or several, at each write of the first: before the server has seen the
write, and right after it.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

import pytest

from agent.errors import ClusterError, Conflict
from agent.shell.report import State
from agent.shell.store import LedgerStore
from agent.shell.tick import Syncer, Tools
from tests.shell.faults import Call
from tests.shell.handoffs import (
    RELEASES,
    branch,
    carry_on,
    end_of,
    made_twice,
    stage,
    touched,
    undisturbed,
    verdict,
)
from tests.shell.job import HEALTH, KINDS, POLICY, SET, Job

SOME = 9
"""Of how many places ``make test`` takes one."""
APART = 3600.0
"""Seconds that the second agent's clock is ahead."""


def other(job: Job) -> Syncer:
    """Another process of the same set on the same cluster, with a clock of its own."""
    store = LedgerStore(job.world, "trapeze-system")
    tools = Tools(job.world, store, POLICY, HEALTH, KINDS, lambda: job.world.now() + APART)
    return Syncer(tools, copy(job.git), job.rules, set_name=SET)


@dataclass
class Meanwhile:
    """At the ``at``-th write of the first agent the second takes ``ticks`` of its own."""

    at: int
    is_done: bool
    ticks: int = 1
    job: Job | None = None
    writes: int = 0
    stepped_back: int = 0
    lock: RLock = field(default_factory=RLock)

    def __call__(self, call: Call, do: Callable[[], Any]) -> Any:
        """Do what is asked, and let the second agent act when it is time."""
        with self.lock:
            self.writes += call.is_write
            if not (call.is_write and self.writes == self.at and self.job):
                return do()
            if not self.is_done:
                self._ticks(self.job)
                return do()
            answer = do()
            self._ticks(self.job)
            return answer

    def _ticks(self, job: Job) -> None:
        second = other(job)
        for _ in range(self.ticks):
            try:
                second.tick()
            except Conflict:
                self.stepped_back += 1
            job.world.advance(1)


def check(name: str, meanwhile: Meanwhile) -> None:
    """The handoff comes to the end of the undisturbed one, with every promise kept; nothing is made twice."""
    job = branch(stage(name), meanwhile)
    meanwhile.job = job
    assert carry_on(job) == 0
    end, _, _ = undisturbed(name)
    found = end_of(job)
    assert found.objects == end.objects
    assert found.ledger.entries.keys() == end.ledger.entries.keys()
    assert made_twice(name, job) == []
    assert touched(name, job) == []
    assert verdict(name, job).broken == ()


def places(count: int, every: int) -> list[int]:
    return sorted({*range(1, count + 1, every), count})


BEFORE_AND_AFTER = pytest.mark.parametrize("is_done", [False, True], ids=["before", "after"])
HANDOFFS = pytest.mark.parametrize("name", list(RELEASES))


@BEFORE_AND_AFTER
@HANDOFFS
def test_a_second_agent_at_some_writes_of_the_first_changes_nothing(name: str, *, is_done: bool) -> None:
    for place in places(undisturbed(name)[2], SOME):
        check(name, Meanwhile(place, is_done))


@pytest.mark.slow
@pytest.mark.parametrize("ticks", [1, 4, 20])
@BEFORE_AND_AFTER
@HANDOFFS
def test_a_second_agent_at_every_write_of_the_first_changes_nothing(
    name: str, *, is_done: bool, ticks: int
) -> None:
    for place in range(1, undisturbed(name)[2] + 1):
        check(name, Meanwhile(place, is_done, ticks))


@pytest.mark.parametrize("first", [0, 1])
def test_two_agents_that_take_turns_come_to_the_same_end(first: int) -> None:
    name = "pointer cutover"
    job = branch(stage(name), lambda _, do: do())
    agents = [job.syncer, other(job)]
    for turn in range(120):
        report = agents[(turn + first) % 2].tick()
        job.world.advance(1)
        if report.state is State.IN_SERVICE and report.plan is None:
            break
    job.world.advance(30)
    assert end_of(job).objects == undisturbed(name)[0].objects
    assert verdict(name, job).broken == ()


def test_who_finds_the_others_hand_in_the_ledger_steps_back_before_it_writes_an_object() -> None:
    name = "subject move"
    meanwhile = Meanwhile(at=1, is_done=False)
    job = branch(stage(name), meanwhile)
    meanwhile.job = job
    written: list[str] = []
    with pytest.raises(ClusterError, match="another agent wrote the ledger of set shop"):
        job.syncer.tick()
    written += job.written
    assert written == []
