"""Jobs and CronJobs: what they make, when they are done, what they leave."""

from __future__ import annotations

from typing import Any

from agent.core.model import Body
from tests.contract.bench import Bench, condition, named
from tests.contract.looks import listed, names, stays, template


def job(name: str = "once", *, knobs: dict[str, str] | None = None, **spec: Any) -> Body:
    made = template(app="job", **(knobs or {}))
    made["spec"]["restartPolicy"] = "Never"
    return named("batch/v1", "Job", name, "shop", spec={"template": made, **spec})


def counted(bench: Bench, body: Body, *fields: str) -> tuple[int, ...]:
    found = bench.must(body).get("status") or {}
    return tuple(found.get(field, 0) for field in fields)


def of_job(bench: Bench, name: str = "once") -> list[Body]:
    return listed(bench, "", "Pod", f"batch.kubernetes.io/job-name={name}")


def test_a_job_is_complete_when_its_pod_has_succeeded(bench: Bench) -> None:
    bench.apply(job())
    bench.until("complete", lambda: condition(bench.must(job()), "Complete") == "True")
    assert counted(bench, job(), "succeeded", "failed", "active") == (1, 0, 0)
    assert len(of_job(bench)) == 1


def test_a_job_fails_when_its_pods_fail_too_often(bench: Bench) -> None:
    body = job(knobs={"exit_code": "1"}, backoffLimit=0)
    bench.apply(body)
    bench.until("failed", lambda: condition(bench.must(body), "Failed") == "True")
    assert counted(bench, body, "succeeded", "failed") == (0, 1)


def test_a_job_runs_so_many_pods_as_it_is_to_complete(bench: Bench) -> None:
    body = job(completions=3, parallelism=2)
    bench.apply(body)
    bench.until("complete", lambda: condition(bench.must(body), "Complete") == "True")
    assert counted(bench, body, "succeeded") == (3,)
    assert len(of_job(bench)) == 3


def test_a_suspended_job_makes_nothing_until_it_is_resumed(bench: Bench) -> None:
    bench.apply(job(suspend=True))
    bench.until("told", lambda: condition(bench.must(job()), "Suspended") == "True")
    assert stays(bench, lambda: not of_job(bench), 1)
    bench.apply(job(suspend=False))
    bench.until("complete", lambda: condition(bench.must(job()), "Complete") == "True")


def test_suspending_a_job_ends_its_pods(bench: Bench) -> None:
    body = job(knobs={"run_for": "60"})
    bench.apply(body)
    bench.until("active", lambda: counted(bench, body, "active") == (1,))
    bench.apply(job(knobs={"run_for": "60"}, suspend=True))
    bench.until("its pods are gone", lambda: not of_job(bench))
    assert condition(bench.must(body), "Suspended") == "True"


def test_pods_of_a_job_go_with_it(bench: Bench) -> None:
    bench.apply(job())
    bench.until("complete", lambda: condition(bench.must(job()), "Complete") == "True")
    bench.delete_soon(job())
    bench.until("gone", lambda: bench.live(job()) is None and not of_job(bench))


def test_a_finished_job_goes_after_its_time_to_live(bench: Bench) -> None:
    bench.apply(job(ttlSecondsAfterFinished=2))
    bench.until("complete", lambda: bench.live(job()) is None or condition(bench.live(job()), "Complete"))
    bench.until("gone", lambda: bench.live(job()) is None and not of_job(bench))


def test_a_finished_job_without_a_time_to_live_stays(bench: Bench) -> None:
    bench.apply(job())
    bench.until("complete", lambda: condition(bench.must(job()), "Complete") == "True")
    assert stays(bench, lambda: bench.live(job()) is not None, 2)


def test_a_job_that_runs_too_long_fails(bench: Bench) -> None:
    body = job(knobs={"run_for": "60"}, activeDeadlineSeconds=2)
    bench.apply(body)
    bench.until("failed", lambda: condition(bench.must(body), "Failed") == "True")
    bench.until("its pod is gone", lambda: not of_job(bench))


def test_a_cron_job_makes_nothing_before_its_time(bench: Bench) -> None:
    yearly = {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": job()["spec"]}}
    body = named("batch/v1", "CronJob", "nightly", "shop", spec=yearly)
    bench.apply(body)
    assert stays(bench, lambda: names(listed(bench, "batch", "Job")) == [], 1.5)
    bench.delete_soon(body)
    bench.until("gone", lambda: bench.live(body) is None)
