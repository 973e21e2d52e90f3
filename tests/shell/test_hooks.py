"""Migrations as Jobs, on the embedded cluster: before a rollout, once per generation, cleaned up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.core.waiting import waits_for_a_person
from agent.shell.report import State
from tests.shell.faults import Call, Hooked
from tests.shell.job import Job, reasons

HOOK = """
apiVersion: batch/v1
kind: Job
metadata:
  name: migrate
  namespace: default
  annotations: {trapeze.dev/hook: "%s", trapeze.dev/hook-done: "%s"}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {standin.dev/run-for: "2", standin.dev/exit-code: "%s"}}
    spec: {restartPolicy: Never, containers: [{name: m, image: "standin/http:1"}]}
"""
APP = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {standin.dev/ready-after: "1"}}
    spec: {containers: [{name: c, image: "standin/http:%s"}]}
"""
BEFORE = "before Deployment default/web"


def talking(call: Call, do: Callable[[], Any]) -> Any:
    """The cluster, whose pods have written a line."""
    return "no such table" if call.method == "log" else do()


def test_a_migration_comes_before_its_rollout_in_each_generation() -> None:
    job = Job()
    job.release(HOOK % (BEFORE, "keep", 0), APP % 1)
    first = ["create Job default/migrate-g1", "create Deployment default/web"]
    assert job.run() == first
    assert job.tick().plan is None, "nothing runs again"
    job.release(HOOK % (BEFORE, "keep", 0), APP % 2)
    second = ["create Job default/migrate-g2", "update Deployment default/web"]
    assert job.run() == [*second, "delete Job default/migrate-g1"]


def test_a_migration_that_fails_holds_its_rollout_until_it_is_run_again() -> None:
    job = Job(wrap=lambda cluster: Hooked(cluster, talking))
    job.release(APP % 1)
    job.run()
    job.release(HOOK % (BEFORE, "keep", 3), APP % 2)
    plan = job.hold().plan
    assert plan is not None
    said = reasons(plan, "update Deployment default/web")
    assert said.startswith("hook-failed: Job default/migrate-g2: BackoffLimitExceeded: ")
    assert plan.needs_a_person
    assert "; pod migrate-g2-" in said
    assert " said: no such table; " in said
    job.release(HOOK % (BEFORE, "keep", 0), APP % 2)
    mended = ["create Job default/migrate-g3", "update Deployment default/web"]
    assert job.run() == [*mended, "delete Job default/migrate-g2"]


def test_a_hook_after_a_step_that_fails_keeps_what_goes_and_only_a_person_can_go_on() -> None:
    job = Job(wrap=lambda cluster: Hooked(cluster, talking))
    job.release(APP % 1)
    job.run()
    moved = APP.replace("name: web,", "name: shop,") % 1
    job.release(HOOK % ("after Deployment default/shop", "keep", 3), moved)
    plan = job.hold().plan
    assert plan is not None
    assert "BackoffLimitExceeded: " in reasons(plan, "delete Deployment default/web")
    assert " said: no such table; mend it in Git" in reasons(plan, "delete Deployment default/web")
    assert waits_for_a_person(plan)
    job.release(HOOK % ("after Deployment default/shop", "keep", 0), moved)
    assert "delete Deployment default/web" in job.run()


def test_a_job_that_is_to_be_deleted_when_done_goes_once_the_generation_is_in_service() -> None:
    job = Job()
    job.release(HOOK % ("after everything", "delete", 0), APP % 1)
    assert job.run() == ["create Deployment default/web", "create Job default/migrate-g1"]
    job.restart()
    report = job.tick()
    assert [outcome.step.key for outcome in report.outcomes] == ["delete Job default/migrate-g1"]
    job.world.advance(3)
    assert job.tick().state is State.IN_SERVICE
    assert (job.get("Job.batch", "default/migrate-g1"), job.tick().plan) == (None, None)


def test_a_kept_job_that_somebody_deletes_is_not_run_again() -> None:
    job = Job()
    job.release(HOOK % (BEFORE, "keep", 0), APP % 1)
    job.run()
    live = job.get("Job.batch", "default/migrate-g1")
    assert live is not None
    resource = next(r for r in job.world.discover().resources.values() if r.plural == "jobs")
    key = next(key for key in job.ledger().entries if key.kind == "Job")
    meta = live["metadata"]
    job.world.delete(resource, key, uid=meta["uid"], resource_version=meta["resourceVersion"])
    job.world.advance(2)
    assert (job.tick().outcomes, job.run(3)) == ((), [])


def test_a_hook_that_guards_nothing_refuses_the_revision() -> None:
    job = Job()
    job.release(HOOK % ("before Deployment default/wbe", "keep", 0), APP % 1)
    report = job.tick()
    assert (report.state, job.written) == (State.REFUSED, [])
