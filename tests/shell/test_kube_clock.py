"""The server's clock, by the Date of its answers."""

from __future__ import annotations

import pytest

from agent.shell.kube_clock import ServerClock

AT = 1_700_000_000.0
DATE = "Tue, 14 Nov 2023 22:13:20 GMT"


def test_before_an_answer_it_is_our_own() -> None:
    assert ServerClock(lambda: 5.0).now() == 5.0


@pytest.mark.parametrize("ahead", [-3600.0, -3.0, 3.0, 86400.0])
def test_a_clock_of_our_own_that_is_wrong_is_put_right(ahead: float) -> None:
    clock = ServerClock(lambda: AT + ahead)
    clock.heard(DATE)
    assert clock.now() == AT


@pytest.mark.parametrize("date", [None, "", "now", "Tue, 14 Nov 2023 22:13:19 GMT"])
def test_what_says_nothing_new_changes_nothing(date: str | None) -> None:
    clock = ServerClock(lambda: AT)
    clock.heard(DATE)
    clock.heard(date)
    assert clock.now() == AT
