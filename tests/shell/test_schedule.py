"""The agent's clock: one tick of a set at a time, none lost for good, no error that ends it, a clean stop."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock, Thread

import pytest

from agent.core.ledger import Ledger
from agent.errors import Unreachable
from agent.shell.report import Report, State
from agent.shell.schedule import Schedule

ROOT = Path(__file__).parents[2]
PATIENCE = 30.0
"""Seconds after which a test gives up; none waits for so long where all is well."""


def report(state: State = State.IN_SERVICE) -> Report:
    return Report(state, Ledger("shop"))


def after(event: Event) -> Report:
    """A report, once the event has come."""
    assert event.wait(PATIENCE)
    return report()


class Ticks:
    """A set's ticks: counts them, and how many ran at the same time at most."""

    def __init__(self, enough: int, each: Callable[[int], Report] = lambda _: report()) -> None:
        self.enough = Event()
        self.count = 0
        self.together = 0
        self._wanted = enough
        self._each = each
        self._running = 0
        self._lock = Lock()

    def __call__(self) -> Report:
        """One tick."""
        with self._lock:
            self.count += 1
            number = self.count
            self._running += 1
            self.together = max(self.together, self._running)
        try:
            return self._each(number)
        finally:
            with self._lock:
                self._running -= 1
            if number >= self._wanted:
                self.enough.set()


@contextmanager
def running(interval: float, **sets: Ticks) -> Iterator[Schedule]:
    """A schedule in a thread of its own; it is stopped, and has ended, after the block."""
    schedule = Schedule(sets, interval)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    with pytest.MonkeyPatch.context() as patch:
        # Only the main thread may set handlers; a process of its own shows them below.
        patch.setattr("agent.shell.schedule.signal.signal", lambda *_: None)
        thread = Thread(target=schedule.run)
        thread.start()
        try:
            yield schedule
        finally:
            schedule.stop()
            thread.join(PATIENCE)
    assert not thread.is_alive()
    assert handlers == {number: signal.getsignal(number) for number in handlers}


def test_every_set_ticks_at_once_and_again() -> None:
    one, two = Ticks(3), Ticks(3)
    with running(0.05, one=one, two=two):
        assert one.enough.wait(PATIENCE)
        assert two.enough.wait(PATIENCE)


def test_the_first_tick_does_not_wait_for_the_interval() -> None:
    ticks = Ticks(1)
    with running(3600, shop=ticks):
        assert ticks.enough.wait(PATIENCE)
    assert ticks.count == 1


def test_a_set_never_ticks_twice_at_the_same_time() -> None:
    free = Event()
    ticks = Ticks(3, lambda _: after(free))
    with running(0.02, shop=ticks):
        # Its next times come and pass while the first tick is still at work.
        assert not ticks.enough.wait(0.3)
        free.set()
        assert ticks.enough.wait(PATIENCE)
    assert ticks.together == 1


def test_a_set_that_takes_long_does_not_keep_the_others() -> None:
    free = Event()
    slow = Ticks(1, lambda _: after(free))
    quick = Ticks(3)
    with running(0.05, slow=slow, quick=quick):
        assert quick.enough.wait(PATIENCE)
        assert not slow.enough.is_set()
        free.set()
        assert slow.enough.wait(PATIENCE)


def test_times_that_pass_during_a_tick_are_told_and_are_not_made_up_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    free = Event()
    ticks = Ticks(2, lambda _: after(free))
    with caplog.at_level(logging.WARNING), running(0.05, shop=ticks):
        while caplog.text.count("set shop is still at its last tick") < 3:
            assert not free.wait(0.02)
        assert ticks.count == 1
        free.set()
        assert ticks.enough.wait(PATIENCE)


@pytest.mark.parametrize(
    "error", [Unreachable("connection refused"), ValueError("not foreseen")], ids=["foreseen", "not foreseen"]
)
def test_a_tick_that_raises_is_told_and_the_next_comes(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    def each(number: int) -> Report:
        if number == 1:
            raise error
        return report()

    ticks = Ticks(2, each)
    with caplog.at_level(logging.ERROR), running(0.05, shop=ticks):
        assert ticks.enough.wait(PATIENCE)
    assert str(error) in caplog.text


def test_a_handoff_that_waits_is_looked_at_sooner_than_the_interval() -> None:
    ticks = Ticks(2, lambda _: report(State.HELD))
    with running(3600, shop=ticks):
        assert ticks.enough.wait(PATIENCE)


def test_stop_lets_a_tick_that_runs_end() -> None:
    begun, free = Event(), Event()
    ended = []

    def each(_: int) -> Report:
        begun.set()
        told = after(free)
        ended.append("whole")
        return told

    with running(3600, shop=Ticks(1, each)) as schedule:
        assert begun.wait(PATIENCE)
        schedule.stop()
        free.set()
    assert ended == ["whole"]


PROGRAM = """
import time
from agent.core.ledger import Ledger
from agent.shell.report import Report, State
from agent.shell.schedule import Schedule

def tick():
    print("begun", flush=True)
    time.sleep(0.5)
    print("ended", flush=True)
    return Report(State.IN_SERVICE, Ledger("shop"))

Schedule({"shop": tick}, 3600).run()
print("left", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda one: one.name)
def test_a_signal_ends_the_process_cleanly_after_the_tick_that_runs(number: signal.Signals) -> None:
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    with subprocess.Popen(
        command, cwd=ROOT, env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(number)
        said, errors = process.communicate(timeout=PATIENCE)
    assert (said.splitlines(), process.returncode, errors) == (["ended", "left"], 0, "")
