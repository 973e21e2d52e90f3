"""What keeps a generation from being ready is told with numbers, and with what the pods say."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.evidence import troubled
from agent.core.model import Body, LiveObject, ObjectId
from agent.core.policy import id_of
from tests.core.scenes import WEB, gates, pod_of, said, scene, unread, without, workload

CONFIG = """
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
"""
JOB = """
---
apiVersion: batch/v1
kind: Job
metadata: {name: once, namespace: shop}
spec:
  ttlSecondsAfterFinished: 5
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}
"""


def waiting(reason: str, message: str = "", **container: Any) -> Body:
    state = {"waiting": {"reason": reason} | ({"message": message} if message else {})}
    return {"phase": "Pending", "containerStatuses": [{"name": "c", "state": state, **container}]}


def unschedulable(message: str) -> Body:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    return {"phase": "Pending", "conditions": [condition]}


CRASHED = {"lastState": {"terminated": {"exitCode": 1}}}
RAN_OUT = {"name": "c", "state": {"terminated": {"exitCode": 137}}}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (None, ""),
        (waiting("CrashLoopBackOff", "back-off 10s", **CRASHED), "; 1 pod CrashLoopBackOff, exit 1 (a)"),
        (waiting("ImagePullBackOff", "no such tag"), "; 1 pod ImagePullBackOff: no such tag (a)"),
        (waiting("ContainerCreating"), "; 1 pod ContainerCreating (a)"),
        ({"phase": "Pending", "initContainerStatuses": [RAN_OUT]}, "; 1 pod exit 137 (a)"),
        (
            unschedulable("0/1 nodes have free ports"),
            "; 1 pod unschedulable: 0/1 nodes have free ports (a)",
        ),
        ({"phase": "Pending"}, "; 1 pod starting (a)"),
        ({"phase": "Running"}, "; 1 pod not ready (a)"),
        ({"phase": "Succeeded"}, ""),
    ],
)
def test_a_pod_says_why_it_is_not_ready(status: Body | None, expected: str) -> None:
    body = pod_of(workload(), "a", status)
    assert troubled([LiveObject(id_of(body), body)]) == expected


def test_pods_are_counted_by_trouble_and_what_may_pass_comes_last() -> None:
    statuses = [{"phase": "Pending"}] * 3 + [waiting("ErrImagePull")] * 2
    bodies = [pod_of(workload(), f"web-{n}", status) for n, status in enumerate(statuses)]
    found = troubled(LiveObject(id_of(body), body) for body in bodies)
    assert found == "; 2 pods ErrImagePull (web-3); 3 pods starting (web-0)"


def test_everything_ready_is_open() -> None:
    situation = scene(WEB, WEB, workload())
    assert said(gates(situation).ready()) == "open ready: every object of the new generation is ready"


def test_a_workload_that_is_short_is_held_with_its_pods_troubles() -> None:
    live = workload(ready=1)
    pods = pod_of(live, "a"), pod_of(live, "b", unschedulable("0/1 nodes have free ports"))
    assert said(gates(scene(WEB, WEB, live, *pods)).ready()) == (
        "held ready: Deployment shop/web: 1 of 2 replicas available; "
        "1 pod unschedulable: 0/1 nodes have free ports (b)"
    )


def test_quota_that_keeps_pods_from_being_made_is_told() -> None:
    condition = {"type": "ReplicaFailure", "status": "True", "message": "exceeded quota: pods=2"}
    live = workload(ready=0, updatedReplicas=0, conditions=[condition])
    reason = "held ready: Deployment shop/web: 0 of 2 replicas updated: exceeded quota: pods=2"
    assert said(gates(scene(WEB, WEB, live)).ready()) == reason


def test_nothing_is_ready_before_it_exists() -> None:
    """The gate once passed over absent objects, and a plan called ready what had not been made."""
    situation = scene("", WEB + CONFIG)
    reason = "held ready: 2 of 2 objects are not there yet (ConfigMap shop/settings)"
    assert said(gates(situation).ready()) == reason


def test_an_object_of_a_kind_that_cannot_be_read_is_unknown() -> None:
    situation = unread(scene(WEB + CONFIG, WEB + CONFIG, workload()), "ConfigMap")
    assert said(gates(situation).ready()) == "unknown ready: ConfigMap: the server answers 503"


def test_a_job_that_its_ttl_took_away_is_not_missed() -> None:
    job = ObjectId("batch", "Job", "shop", "once")
    made = without(scene(WEB + JOB, WEB + JOB, workload()), job)
    assert said(gates(made).ready()) == "open ready: every object of the new generation is ready"
    never = without(scene(WEB, WEB + JOB, workload()), job)
    assert said(gates(never).ready()) == "held ready: 1 of 2 objects is not there yet (Job shop/once)"
