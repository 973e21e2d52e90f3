"""What a failed hook said is shown without anything that is secret in it."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from agent.core.hooks import Hooks
from agent.core.lastwords import masked_log
from agent.core.model import Body, Category, Form, ObjectId
from agent.core.situation import Situation
from agent.core.steps import Answer, GateState, Log, Step, Verb
from tests.core.histories import obj
from tests.core.scenes import answered, gates, scene

HOOK = """
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: shop, annotations: {trapeze.dev/hook: before everything}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
"""
SETTINGS = ObjectId("", "ConfigMap", "shop", "settings")
POD = ObjectId("", "Pod", "shop", "migrate-g1-b")
WHY = {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "m"}
FAILED = {"conditions": [WHY]}


def pod(name: str, made: str, phase: str = "Failed", **spec: Any) -> Body:
    owner = {"uid": "Job-shop-migrate-g1", "controller": True, "kind": "Job", "name": "migrate-g1"}
    meta = {"ownerReferences": [owner], "creationTimestamp": made}
    return obj("v1", "Pod", name, "shop", meta=meta, spec=spec, status={"phase": phase})


def secret(value: str) -> Body:
    data = {"password": base64.b64encode(value.encode()).decode()}
    return obj("v1", "Secret", "database", "shop", data=data)


USES = {"containers": [{"name": "c", "envFrom": [{"secretRef": {"name": "database"}}]}]}


def failed(*more: Body, **spec: Any) -> Situation:
    job = obj("batch/v1", "Job", "migrate-g1", "shop", status=FAILED)
    pods = pod("migrate-g1-a", "2026-01-01T00:00:00Z", **spec), pod(POD.name, "2026-01-01T00:01:00Z", **spec)
    return scene("", HOOK, job, *pods, *more)


def reason(situation: Situation) -> str:
    step = Step(SETTINGS, Verb.CREATE, Category.ADDITIVE, Form.FINAL, "")
    (gate,) = Hooks(gates(situation)).of(step)
    return gate.reason


START = "Job shop/migrate-g1: BackoffLimitExceeded: m"
END = "mend it in Git, or delete the Job to run it again"


def test_the_pod_that_failed_last_is_asked_and_shown() -> None:
    situation = failed()
    assert set(Hooks(gates(situation)).questions()) == {Log(POD)}
    assert reason(situation) == f"{START}; {END}"
    said = answered(situation, {Log(POD): Answer(GateState.OPEN, "connecting\nno such table\n")})
    assert reason(said) == f"{START}; pod migrate-g1-b said: connecting | no such table; {END}"
    lost = answered(situation, {Log(POD): Answer(GateState.UNKNOWN, "no answer from the node")})
    assert reason(lost) == f"{START}; no answer from the node; {END}"


def test_values_of_secrets_are_masked_plain_and_in_base64() -> None:
    situation = failed(secret("hunter2"), **USES)
    told = "tried hunter2 and " + base64.b64encode(b"hunter2").decode()
    said = answered(situation, {Log(POD): Answer(GateState.OPEN, told)})
    assert reason(said) == f"{START}; pod migrate-g1-b said: tried (masked) and (masked); {END}"


def test_a_log_is_not_asked_for_where_a_secret_of_the_pod_is_not_known() -> None:
    situation = failed(**USES)
    assert set(Hooks(gates(situation)).questions()) == set()
    hidden = "the log of pod migrate-g1-b is not shown: the values of Secret shop/database are not known"
    assert reason(situation) == f"{START}; {hidden}; {END}"


@pytest.mark.parametrize(
    "text",
    [
        "postgres://app:hunter2@db/x",
        "PASSWORD=hunter2",
        'db_password: "hunter2"',
        "Authorization: Bearer hunter2",
        "token = hunter2",
        "eyJhbGciOi.hunter2.c2ln",
        "-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN EC PRIVATE KEY-----\nhunter2",
    ],
)
def test_what_looks_like_a_credential_is_masked(text: str) -> None:
    shown = masked_log(f"before {text}", set())
    assert ("hunter2" in shown, "before" in shown, "(masked)" in shown) == (False, True, True)


def test_a_long_log_is_shown_by_its_end() -> None:
    shown = masked_log("x" * 2000 + "the end", set())
    assert (len(shown), shown[:3], shown[-7:]) == (603, "...", "the end")
