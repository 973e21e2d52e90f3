"""Ticks until in service: what ends the wait, what does not, and what it tells on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent.core.orders import Order
from agent.errors import ClusterError, Conflict, Forbidden, SourceError, Unauthorized, Unreachable
from agent.shell.report import Report, State
from agent.shell.until import until_done
from tests.shell.faults import Call, Fail, Hooked
from tests.shell.job import Job
from tests.shell.releases import CONFIG, namespace, web

NEVER_READY = web("blue", knobs="standin.dev/never-ready: 'true'")


def job_with(*texts: str, hook: Callable[[Call, Callable[[], Any]], Any] = lambda _, do: do()) -> Job:
    """A job whose cluster's time moves at every look, through ``hook``."""

    def moving(call: Call, do: Callable[[], Any]) -> Any:
        if call.method == "discover":
            job.world.advance(1)
        return hook(call, do)

    job = Job(wrap=lambda cluster: Hooked(cluster, moving))
    job.release(*texts)
    return job


def waited(job: Job, timeout: float = 60) -> tuple[Report, list[Report | ClusterError]]:
    heard: list[Report | ClusterError] = []
    report = until_done(job.syncer, Order.GATED, timeout=timeout, pause=0, heard=heard.append)
    return report, heard


def test_it_ends_with_the_tick_that_finds_the_generation_in_service() -> None:
    report, heard = waited(job_with(namespace("front"), web("blue")))
    assert report.state is State.IN_SERVICE
    assert heard[-1] is report
    assert len(heard) > 1
    assert all(isinstance(one, Report) and one.state is State.HELD for one in heard[:-1])


def test_a_refused_set_ends_the_wait_at_once() -> None:
    report, heard = waited(job_with(CONFIG % "red", CONFIG % "blue"))
    assert (report.state, heard) == (State.REFUSED, [report])


def test_without_time_there_is_one_tick_and_its_report_says_what_is_held() -> None:
    report, heard = waited(job_with(namespace("front"), NEVER_READY), timeout=0)
    assert (report.state, heard) == (State.HELD, [report])
    assert report.plan is not None
    assert any("Deployment front/blue" in gate.reason for gate in report.plan.handover if not gate.is_open)


@pytest.mark.parametrize(
    "error", [Unreachable("no answer"), Conflict("moved")], ids=lambda e: type(e).__name__
)
def test_an_error_that_may_pass_is_told_and_the_wait_goes_on(error: ClusterError) -> None:
    # Without discovery no tick can be planned.
    fail = Fail(2, error, is_done=False, concerns=lambda call: call.method == "discover")
    report, heard = waited(job_with(namespace("front"), web("blue"), hook=fail))
    assert report.state is State.IN_SERVICE
    assert [str(one) for one in heard if isinstance(one, ClusterError)] == [str(error)]


def test_an_error_in_the_last_tick_is_raised() -> None:
    fail = Fail(1, Unreachable("no answer"), is_done=False, concerns=lambda call: call.method == "discover")
    with pytest.raises(Unreachable, match="no answer"):
        waited(job_with(CONFIG % "red", hook=fail), timeout=0)


@pytest.mark.parametrize(
    "error", [Forbidden("may not"), Unauthorized("expired")], ids=lambda e: type(e).__name__
)
def test_an_error_that_waiting_does_not_mend_is_raised_at_once(error: ClusterError) -> None:
    fail = Fail(1, error, is_done=False, concerns=lambda call: call.method == "discover")
    job = job_with(CONFIG % "red", hook=fail)
    with pytest.raises(type(error), match=str(error)):
        waited(job)
    assert fail.seen == 1


def test_a_source_that_cannot_be_read_is_raised_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(_: str) -> str:
        raise SourceError("no branch main")

    job = job_with(CONFIG % "red")
    monkeypatch.setattr(job.git, "resolve", gone)
    with pytest.raises(SourceError, match="no branch main"):
        waited(job)
