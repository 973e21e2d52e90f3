"""Stopped at any write and started again, or failed at any request: the same end, and nothing twice.

Every handoff begins from a saved state, so that each case costs only what comes after it. ``make test`` takes
some of the places, ``make test-all`` every one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from agent.errors import Conflict, Forbidden, Rejected, Unreachable
from tests.shell.faults import Call, Fail, FailEachOnce, Hook, Kill
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

SOME: Final = 7
"""Of how many places ``make test`` takes one."""

ERRORS: Final = (
    Unreachable("the connection was lost"),
    Conflict("the object has been modified"),
    Rejected("the webhook did not answer", is_unanswered=True),
)
BEFORE_AND_AFTER: Final = pytest.mark.parametrize("is_done", [False, True], ids=["before", "after"])
HANDOFFS: Final = pytest.mark.parametrize("name", list(RELEASES))


def check(name: str, hook: Hook, *, killed: int = 0) -> None:
    """The handoff under ``hook`` comes to the end of the undisturbed one, and keeps the promise."""
    job = branch(stage(name), hook)
    assert carry_on(job) == killed
    end, _, _ = undisturbed(name)
    found = end_of(job)
    assert found.objects == end.objects
    assert found.ledger == end.ledger
    assert made_twice(name, job) == []
    assert touched(name, job) == []
    assert verdict(name, job).broken == ()


def places(count: int, every: int) -> Iterator[int]:
    """One of ``every`` numbers from 1 to ``count``, the first and the last among them."""
    yield from sorted({*range(1, count + 1, every), count})


def each_write(name: str, every: int, hook: Callable[[int], Hook], *, killed: int = 0) -> None:
    for place in places(undisturbed(name)[2], every):
        check(name, hook(place), killed=killed)


@HANDOFFS
def test_undisturbed_the_new_release_stands_and_nothing_else(name: str) -> None:
    end, _, writes = undisturbed(name)
    job = stage(name)
    wanted = {str(key) for key in job.git.desired(job.git.head, job.git.kinds).manifests}
    assert {str(key) for key in end.ledger.entries} == wanted
    before = {str(key) for key in job.world.world.objects()}
    labelled = {key for key, obj in end.objects.items() if "trapeze.dev/set" in _labels(obj)}
    assert labelled == wanted
    made = {key for key in end.objects.keys() - before - wanted if "kube-root-ca" not in key}
    own = {"Namespace trapeze-system"}
    assert made - own <= {f"ServiceAccount {where}/default" for where in ("old", "new")}
    assert writes > len(wanted)


def _labels(obj: Any) -> dict[str, str]:
    return obj["metadata"].get("labels") or {}


@BEFORE_AND_AFTER
@HANDOFFS
def test_killed_at_a_write_the_next_process_goes_on(name: str, *, is_done: bool) -> None:
    each_write(name, SOME, lambda place: Kill(place, is_done), killed=1)


@pytest.mark.slow
@BEFORE_AND_AFTER
@HANDOFFS
def test_killed_at_every_write_the_next_process_goes_on(name: str, *, is_done: bool) -> None:
    each_write(name, 1, lambda place: Kill(place, is_done), killed=1)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@BEFORE_AND_AFTER
@HANDOFFS
def test_a_write_that_fails_once_is_made_good(name: str, error: Exception, *, is_done: bool) -> None:
    each_write(name, 3 * SOME, lambda place: Fail(place, error, is_done))


@pytest.mark.slow
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@BEFORE_AND_AFTER
@HANDOFFS
def test_every_write_that_fails_once_is_made_good(name: str, error: Exception, *, is_done: bool) -> None:
    each_write(name, 1, lambda place: Fail(place, error, is_done))


def _reads(call: Call) -> bool:
    return not call.is_write


def each_read(name: str, every: int) -> None:
    _, requests, writes = undisturbed(name)
    for place in places(requests - writes, every):
        check(name, Fail(place, ERRORS[0], is_done=False, concerns=_reads))


@HANDOFFS
def test_a_question_that_gets_no_answer_is_asked_again(name: str) -> None:
    each_read(name, 60)


@pytest.mark.slow
@HANDOFFS
def test_every_question_that_gets_no_answer_is_asked_again(name: str) -> None:
    each_read(name, 1)


@pytest.mark.parametrize("error", [*ERRORS, Forbidden("not now")], ids=lambda error: type(error).__name__)
@BEFORE_AND_AFTER
@HANDOFFS
def test_every_request_fails_when_it_is_first_made(name: str, error: Exception, *, is_done: bool) -> None:
    check(name, FailEachOnce(error, is_done))
