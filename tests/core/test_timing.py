"""Windows and deadlines: what waits for the clock, and that time alone never opens anything."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.core.deadline import deadline_gate, gives_up, passed
from agent.core.model import Category, Form, ObjectId
from agent.core.situation import AfterDeadline, Situation, Span, Window
from agent.core.steps import Step, Verb
from agent.core.timing import timed
from agent.core.windows import window_gate
from agent.shell.windows import spans_of, trigger_of
from tests.core.scenes import NOW, WEB, closed, moved, planned, said, scene, workload

CONFIG = """
---
apiVersion: v1
kind: ConfigMap
metadata: {name: old, namespace: shop}
"""
KEY = ObjectId("apps", "Deployment", "shop", "web")
NIGHTS = Window("0 2 * * *", 3600, "UTC")
HOUR = 3600.0
BACK = AfterDeadline.POINT_BACK


def step(verb: Verb) -> Step:
    return Step(KEY, verb, Category.REPOINT, Form.FINAL, "")


def windowed(*spans: Span, for_all: bool = False) -> Situation:
    return replace(scene(WEB, WEB, windows=(NIGHTS,), windows_for_all=for_all), spans=spans)


COMING = Span(NOW + 2 * HOUR, NOW + 3 * HOUR)


@pytest.mark.parametrize("verb", [Verb.CUTOVER, Verb.NARROW, Verb.DELETE, Verb.REPLACE, Verb.ABANDON])
def test_what_moves_or_takes_away_waits_for_a_window(verb: Verb) -> None:
    shut = "held window: the next window opens at 2026-01-01T02:00:00Z"
    assert said(window_gate(windowed(COMING), step(verb))) == shut
    now = Span(NOW - HOUR, NOW + 1)
    until = "open window: a window is open until 2026-01-01T00:00:01Z"
    assert said(window_gate(windowed(now, COMING), step(verb))) == until
    over = Span(NOW - HOUR, NOW)
    assert said(window_gate(windowed(over), step(verb))) == "held window: no window is known to come"


@pytest.mark.parametrize("verb", [Verb.CREATE, Verb.UPDATE, Verb.WIDEN])
def test_additive_work_waits_only_where_the_set_says_so(verb: Verb) -> None:
    assert window_gate(windowed(COMING), step(verb)) is None
    gate = window_gate(windowed(COMING, for_all=True), step(verb))
    assert said(gate) == "held window: the next window opens at 2026-01-01T02:00:00Z"


def test_pointing_back_waits_for_no_window_and_no_deadline() -> None:
    situation = late(BACK, windows=(NIGHTS,), windows_for_all=True)
    assert timed(situation, step(Verb.POINT_BACK)) == ()


def test_a_set_without_windows_waits_for_none() -> None:
    assert timed(scene(WEB, WEB), step(Verb.DELETE)) == ()


def test_a_delete_of_a_plan_is_held_outside_of_its_windows() -> None:
    situation = replace(scene(WEB + CONFIG, WEB, workload(), windows=(NIGHTS,)), spans=(COMING,))
    shut = "held window: the next window opens at 2026-01-01T02:00:00Z"
    assert closed(planned(situation), "delete ConfigMap shop/old") == [shut]
    inside = replace(situation, spans=(Span(NOW, NOW + 1),))
    assert closed(planned(inside), "delete ConfigMap shop/old") == []


def test_spans_are_those_that_hold_the_time_and_the_next() -> None:
    at_two = NOW + 2 * HOUR
    assert spans_of((NIGHTS,), NOW) == (Span(at_two, at_two + HOUR),)
    both = (Span(at_two, at_two + HOUR), Span(at_two + 24 * HOUR, at_two + 25 * HOUR))
    assert spans_of((NIGHTS,), at_two + 60) == both
    assert spans_of((Window("0 2 * * *", 3600, "Europe/Berlin"),), NOW) == (Span(NOW + HOUR, NOW + 2 * HOUR),)


def test_a_window_of_days_is_open_on_its_last() -> None:
    """2026-01-01 is a Thursday; the window opened three days before."""
    spans = spans_of((Window("0 0 * * mon", 4 * 24 * HOUR, "UTC"),), NOW + HOUR)
    assert spans[0] == Span(NOW - 3 * 24 * HOUR, NOW + 24 * HOUR)


@pytest.mark.parametrize(
    ("cron", "timezone", "error"),
    [
        ("0 2 * *", "UTC", "'0 2 \\* \\*' is no window: it has five fields"),
        ("0 2 * * 6", "UTC", "weekday by name"),
        ("0 25 * * *", "UTC", "is no window: .*25"),
        ("0 2 * * sat", "Mars/Phobos", "'Mars/Phobos' is no time zone"),
    ],
)
def test_what_is_no_window_is_told(cron: str, timezone: str, error: str) -> None:
    """Weekdays go by name: cron counts them from Sunday, APScheduler from Monday."""
    with pytest.raises(ValueError, match=error):
        trigger_of(Window(cron, 1, timezone))


def late(after: AfterDeadline, **rules: object) -> Situation:
    """A generation that was taken up an hour before ``NOW``, its deadline half an hour; a pod is missing."""
    situation = scene(WEB, WEB, workload(ready=1), deadline=1800.0, after_deadline=after, **rules)
    newest = situation.ledger.generations[-1]
    taken = replace(newest, since=NOW - HOUR)
    generations = (*situation.ledger.generations[:-1], taken)
    return replace(situation, ledger=replace(situation.ledger, generations=generations))


LATE = "the deadline of generation 2 passed at 2025-12-31T23:30:00Z"
SHORT = "Deployment shop/web: 1 of 2 replicas available"


def test_a_deadline_that_passed_is_told_and_holding_changes_nothing() -> None:
    situation = late(AfterDeadline.HOLD)
    assert planned(situation).late == LATE
    assert (gives_up(situation), deadline_gate(situation, moves=True)) == ("", None)


def test_before_the_deadline_and_in_service_nothing_is_late() -> None:
    situation = late(BACK)
    assert passed(replace(situation, now=NOW - HOUR)) == ""
    assert passed(scene(WEB, WEB, workload(ready=1))) == ""


def test_pointing_back_holds_what_moves_and_what_takes_away() -> None:
    situation = late(BACK)
    reason = f"{LATE}: {SHORT}; mend or revert it in Git, or raise the set's deadline"
    for verb in (Verb.CUTOVER, Verb.DELETE, Verb.NARROW):
        assert [said(gate) for gate in timed(situation, step(verb))] == [f"held deadline: {reason}"]
    assert timed(situation, step(Verb.UPDATE)) == ()


def test_once_all_is_ready_the_old_generation_goes_on_going() -> None:
    """Removals may have begun: what is left of them is not stopped half-way. A late move is."""
    whole = replace(late(BACK), live=scene(WEB, WEB, workload()).live)
    assert timed(whole, step(Verb.DELETE)) == ()
    assert [gate.name for gate in timed(whole, step(Verb.CUTOVER))] == ["deadline"]


def test_what_was_pointed_back_stays_there_although_all_is_ready() -> None:
    whole = replace(late(BACK), live=scene(WEB, WEB, workload()).live)
    back = moved(whole, KEY, NOW, points_back=1)
    assert gives_up(back) == f"{LATE}: Deployment shop/web was pointed back"
