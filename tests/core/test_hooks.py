"""Hooks: Jobs that steps wait for, and Jobs that wait for steps; only a Job that is complete opens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.core.hookjobs import as_written, hook_of, is_spent, placed, with_hooks_checked
from agent.core.hooks import Hooks
from agent.core.ledger import Generation, GenerationState
from agent.core.model import Body, Category, Form, ObjectId
from agent.core.situation import Situation
from agent.core.steps import Step, Verb
from tests.core.scenes import WEB, gates, said, scene, unread, without, workload
from tests.core.upgrades import release

JOB = """
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: shop, annotations: {trapeze.dev/hook: "%s"%s}}
spec:
  %s
  template:
    spec:
      restartPolicy: Never
      serviceAccountName: migrator
      containers: [{name: c, image: i, envFrom: [{configMapRef: {name: database}}]}]
"""
NEEDED = """
---
apiVersion: v1
kind: ConfigMap
metadata: {name: database, namespace: shop}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
"""
KEY = ObjectId("apps", "Deployment", "shop", "web")
RUN = ObjectId("batch", "Job", "shop", "migrate-g2")
CONFIG = ObjectId("", "ConfigMap", "shop", "database")
NAMESPACE = ObjectId("", "Namespace", "", "shop")


def hook(text: str, more: str = "", spec: str = "backoffLimit: 0") -> str:
    return JOB % (text, more, spec)


def upgraded(text: str, *live: Body) -> Situation:
    return scene(WEB, WEB + hook(text) + NEEDED, workload(), *live)


def job(generation: int = 2, *conditions: Body, **status: Any) -> Body:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": f"migrate-g{generation}",
            "namespace": "shop",
            "uid": f"job-{generation}",
            "annotations": {"trapeze.dev/hook": "before everything"},
        },
        "status": {"conditions": list(conditions), **status},
    }


WAY_OUT = "mend it in Git, or delete the Job to run it again"
COMPLETE = {"type": "Complete", "status": "True"}
FAILED = {"type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "active too long"}


def waits(situation: Situation, verb: Verb, key: ObjectId = KEY) -> list[str]:
    step = Step(key, verb, Category.ADDITIVE, Form.FINAL, "")
    return [said(gate) for gate in Hooks(gates(situation)).of(step)]


@pytest.mark.parametrize(
    ("live", "expected"),
    [
        ((), "held hook: Job shop/migrate-g2 has not run yet"),
        ((job(2, active=1),), "held hook: Job shop/migrate-g2: 0 of 1 succeeded, 1 running"),
        ((job(2, COMPLETE, succeeded=1),), "open hook: Job shop/migrate-g2: complete: 1 of 1 succeeded"),
        (
            (job(2, FAILED),),
            f"held hook-failed: Job shop/migrate-g2: DeadlineExceeded: active too long; {WAY_OUT}",
        ),
        ((job(1, COMPLETE, succeeded=1),), "held hook: Job shop/migrate-g2 has not run yet"),
    ],
)
def test_a_step_waits_until_the_job_of_its_generation_is_complete(
    live: tuple[Body, ...], expected: str
) -> None:
    assert waits(upgraded("before Deployment shop/web", *live), Verb.UPDATE) == [expected]


def test_jobs_that_cannot_be_read_are_unknown() -> None:
    situation = unread(upgraded("before Deployment shop/web"), "Job.batch")
    assert waits(situation, Verb.UPDATE) == ["unknown hook: Job.batch: the server answers 503"]


@pytest.mark.parametrize(
    ("text", "held", "free"),
    [
        ("before Deployment shop/web", {Verb.UPDATE, Verb.CUTOVER}, {Verb.POINT_BACK}),
        ("before cutovers", {Verb.CUTOVER}, {Verb.UPDATE, Verb.DELETE, Verb.POINT_BACK}),
        ("before removals", {Verb.DELETE, Verb.NARROW}, {Verb.UPDATE, Verb.CUTOVER}),
        ("before cutovers, removals", {Verb.CUTOVER, Verb.DELETE}, {Verb.UPDATE}),
        ("before everything", {Verb.CREATE, Verb.CUTOVER, Verb.DELETE}, {Verb.POINT_BACK}),
        ("after everything", set(), {Verb.UPDATE, Verb.CUTOVER, Verb.DELETE}),
    ],
)
def test_which_steps_wait(text: str, held: set[Verb], free: set[Verb]) -> None:
    situation = upgraded(text)
    assert {verb for verb in held | free if waits(situation, verb)} == held


def test_what_the_hook_itself_needs_does_not_wait_for_it() -> None:
    situation = upgraded("before everything")
    assert [waits(situation, Verb.CREATE, key) for key in (CONFIG, NAMESPACE, RUN)] == [[], [], []]


def test_a_hook_waits_for_an_earlier_run_of_it_to_end() -> None:
    running = upgraded("before everything", job(1, active=1))
    turn = "held turn: Job shop/migrate-g1: 0 of 1 succeeded, 1 running"
    assert waits(running, Verb.CREATE, RUN) == [turn]
    ended = upgraded("before everything", job(1, FAILED))
    assert waits(ended, Verb.CREATE, RUN) == ["open turn: no earlier run of it goes on"]


def test_a_hook_after_an_object_waits_until_that_is_as_desired_and_ready() -> None:
    text = "after Deployment shop/web"
    done = "open after: Deployment shop/web done"
    assert waits(upgraded(text), Verb.CREATE, RUN) == [done]
    short = scene(WEB, WEB + hook(text), workload(ready=1))
    lacks = "held after: Deployment shop/web: 1 of 2 replicas available"
    assert waits(short, Verb.CREATE, RUN) == [lacks]
    step = Step(RUN, Verb.CREATE, Category.ADDITIVE, Form.FINAL, "")
    judge = Hooks(gates(upgraded(text), pending={KEY: "update Deployment shop/web"}))
    assert [said(gate) for gate in judge.of(step)] == ["held after: update Deployment shop/web is pending"]


def test_a_hook_after_cutovers_waits_for_pointers_alone() -> None:
    step = Step(RUN, Verb.CREATE, Category.ADDITIVE, Form.FINAL, "")
    situation = upgraded("after cutovers")
    judge = Hooks(gates(situation, pending={KEY: "update it"}, moving={KEY: "cutover Ingress shop/web"}))
    assert [said(gate) for gate in judge.of(step)] == ["held after: cutover Ingress shop/web is pending"]
    assert waits(situation, Verb.CREATE, RUN) == ["open after: cutovers done"]


def test_a_job_that_went_after_its_generation_came_into_service_has_run() -> None:
    situation = without(upgraded("before Deployment shop/web"), RUN)
    serving = Generation(2, "head", GenerationState.IN_SERVICE, 1.0)
    situation = replace(situation, ledger=replace(situation.ledger, generations=(serving,)))
    over = "open hook: Job shop/migrate-g2 ran before the generation was in service"
    assert waits(situation, Verb.UPDATE) == [over]


def test_jobs_are_named_by_their_generation_and_limited_in_time() -> None:
    desired = placed(
        release(WEB + hook("before everything")), Generation(7, "", GenerationState.ROLLING_OUT, 0)
    )
    key = RUN._replace(name="migrate-g7")
    assert set(desired.manifests) == {KEY, key}
    body = desired.manifests[key].body
    assert (body["metadata"]["name"], body["spec"]["activeDeadlineSeconds"]) == ("migrate-g7", 3600)
    own = release(hook("before everything", spec="activeDeadlineSeconds: 60"))
    (limited,) = placed(own, Generation(1, "", GenerationState.ROLLING_OUT, 0)).manifests.values()
    assert limited.body["spec"]["activeDeadlineSeconds"] == 60


def test_a_name_that_is_long_stays_one_that_the_server_takes() -> None:
    text = hook("before everything").replace("migrate,", f"{'m' * 63},")
    (key,) = placed(release(text), Generation(12, "", GenerationState.ROLLING_OUT, 0)).manifests
    assert key.name == "m" * 59 + "-g12"


def test_a_document_is_found_again_as_the_job_of_its_generation() -> None:
    (manifest,) = release(hook("before everything")).manifests.values()
    (wanted,) = placed(
        release(hook("before everything")), Generation(3, "", GenerationState.ROLLING_OUT, 0)
    ).manifests.values()
    assert as_written(manifest.body, wanted.id) == wanted.body
    other = wanted.id._replace(name="other-g3")
    assert as_written(manifest.body, other) is manifest.body


def test_what_is_to_be_deleted_when_done_is_not_wanted_in_service() -> None:
    text = WEB + hook("before everything", ", trapeze.dev/hook-done: delete")
    serving = Generation(2, "", GenerationState.IN_SERVICE, 0)
    assert set(placed(release(text), serving).manifests) == {KEY}
    rolling = replace(serving, state=GenerationState.ROLLING_OUT)
    assert set(placed(release(text), rolling).manifests) == {KEY, RUN}
    assert set(placed(release(WEB + hook("before everything")), serving).manifests) == {KEY, RUN}
    body = release(text).manifests[RUN._replace(name="migrate")].body
    assert (is_spent(body), is_spent(release(WEB).manifests[KEY].body)) == (True, False)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (hook("befor everything"), "'befor' is neither"),
        (hook("before"), "it names nothing that it runs before"),
        (hook("before Deployment shop/wbe"), "'Deployment shop/wbe' is no other object of the set"),
        (hook("before Job shop/migrate"), "'Job shop/migrate' is no other object of the set"),
        (hook("after removals"), "'removals' is no other object of the set"),
        (hook("after everything", spec="ttlSecondsAfterFinished: 9"), "say trapeze.dev/hook-done: delete"),
        (
            WEB.replace(
                "namespace: shop}", "namespace: shop, annotations: {trapeze.dev/hook: before cutovers}}"
            ),
            "only a Job can be a hook",
        ),
    ],
)
def test_a_hook_that_would_guard_nothing_refuses_the_set(text: str, error: str) -> None:
    desired = with_hooks_checked(release(text))
    assert desired.is_refused
    assert error in str(desired.findings[0])


def test_a_set_without_hooks_is_as_it_was() -> None:
    desired = release(WEB)
    assert with_hooks_checked(desired) is desired
    assert hook_of(desired.manifests[KEY].body) is None
