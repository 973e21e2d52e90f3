"""Readiness of pods and all that is no workload, by the shipped table."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.health import Status
from agent.core.model import Body
from tests.core.bodies import conditions, judged, when

CURRENT, IN_PROGRESS, FAILED = Status.CURRENT, Status.IN_PROGRESS, Status.FAILED
TERMINATING = Status.TERMINATING


def container(name: str, reason: str) -> Body:
    return {"name": name, "state": {"waiting": {"reason": reason}}}


READY_POD = conditions(when("Ready", "True"), phase="Running")


@pytest.mark.parametrize(
    ("status", "expected", "message"),
    [
        (None, IN_PROGRESS, "phase Pending"),
        (READY_POD, CURRENT, "ready"),
        ({**READY_POD, "containerStatuses": [{"name": "c", "state": {"running": {}}}]}, CURRENT, "ready"),
        (conditions(when("Ready", "False", message="c"), phase="Running"), IN_PROGRESS, "not ready: c"),
        ({"phase": "Succeeded"}, CURRENT, "succeeded"),
        ({"phase": "Failed", "reason": "Evicted"}, FAILED, "failed: Evicted"),
        (
            {"phase": "Running", "containerStatuses": [container("c", "CrashLoopBackOff")]},
            FAILED,
            "CrashLoopBackOff of c",
        ),
        (
            {"phase": "Pending", "initContainerStatuses": [container("i", "CrashLoopBackOff")]},
            FAILED,
            "CrashLoopBackOff of i",
        ),
        # A registry can come back: only a container that was started and fell is failed.
        (
            {"phase": "Pending", "containerStatuses": [container("c", "ImagePullBackOff")]},
            IN_PROGRESS,
            "waiting: c ImagePullBackOff",
        ),
        (
            conditions(when("PodScheduled", "False", "Unschedulable", "0/3 nodes"), phase="Pending"),
            IN_PROGRESS,
            "not scheduled: 0/3 nodes",
        ),
    ],
)
def test_pod(status: Body | None, expected: Status, message: str) -> None:
    assert judged("Pod", {}, status) == (expected, message)


@pytest.mark.parametrize(
    ("kind", "spec", "status", "expected", "message"),
    [
        (
            "Job.batch",
            {"completions": 2},
            {"active": 1, "succeeded": 1},
            IN_PROGRESS,
            "1 of 2 succeeded, 1 running",
        ),
        ("Job.batch", {}, None, IN_PROGRESS, "0 of 1 succeeded, 0 running"),
        ("Job.batch", {"suspend": True}, {}, IN_PROGRESS, "suspended: 0 of 1 succeeded"),
        (
            "Job.batch",
            {},
            conditions(when("Complete", "True"), succeeded=1),
            CURRENT,
            "complete: 1 of 1 succeeded",
        ),
        (
            "Job.batch",
            {},
            conditions(when("Failed", "True", "BackoffLimitExceeded", "6 failures")),
            FAILED,
            "BackoffLimitExceeded: 6 failures",
        ),
        (
            "PersistentVolumeClaim",
            {},
            {"phase": "Pending"},
            CURRENT,
            "Pending: binds at the latest with its first pod",
        ),
        ("PersistentVolumeClaim", {"volumeName": "v"}, {"phase": "Bound"}, CURRENT, "bound to v"),
        ("PersistentVolumeClaim", {"volumeName": "v"}, {"phase": "Lost"}, FAILED, "the volume v is lost"),
        (
            "Service",
            {"type": "LoadBalancer"},
            {"loadBalancer": {}},
            CURRENT,
            "has no load balancer address yet",
        ),
        ("Service", {"type": "ClusterIP"}, {"loadBalancer": {}}, CURRENT, "ClusterIP"),
        ("Ingress.networking.k8s.io", {}, {"loadBalancer": {}}, CURRENT, "has no address yet"),
        (
            "CustomResourceDefinition.apiextensions.k8s.io",
            {},
            conditions(when("NamesAccepted", "True"), when("Established", "True")),
            CURRENT,
            "established",
        ),
        ("CustomResourceDefinition.apiextensions.k8s.io", {}, None, IN_PROGRESS, "names not accepted yet"),
        (
            "CustomResourceDefinition.apiextensions.k8s.io",
            {},
            conditions(when("NamesAccepted", "True"), when("Established", "False", message="installing")),
            IN_PROGRESS,
            "not established yet: installing",
        ),
        (
            "CustomResourceDefinition.apiextensions.k8s.io",
            {},
            conditions(when("NamesAccepted", "False", message="a conflict")),
            FAILED,
            "names not accepted: a conflict",
        ),
        ("APIService.apiregistration.k8s.io", {}, None, IN_PROGRESS, "not asked yet whether it is available"),
        (
            "APIService.apiregistration.k8s.io",
            {},
            conditions(when("Available", "False", "MissingEndpoints", "no endpoints")),
            IN_PROGRESS,
            "not available: MissingEndpoints no endpoints",
        ),
        (
            "APIService.apiregistration.k8s.io",
            {},
            conditions(when("Available", "True")),
            CURRENT,
            "available",
        ),
        ("Namespace", {}, {"phase": "Terminating"}, TERMINATING, "terminating"),
        ("Namespace", {}, {"phase": "Active"}, CURRENT, "active"),
        ("ReplicaSet.apps", {"replicas": 2}, {"replicas": 1}, IN_PROGRESS, "1 of 2 replicas there"),
        ("ConfigMap", None, None, CURRENT, "has no Ready condition; it is there"),
    ],
)
def test_other_kinds(kind: str, spec: Any, status: Any, expected: Status, message: str) -> None:
    assert judged(kind, spec, status) == (expected, message)


@pytest.mark.parametrize(
    ("status", "expected", "message"),
    [
        (None, CURRENT, "has no Ready condition; it is there"),
        (conditions(when("Ready", "True")), CURRENT, "Ready"),
        (
            conditions(when("Ready", "False", "Waiting", "for a node")),
            IN_PROGRESS,
            "not Ready: Waiting for a node",
        ),
        (conditions(when("Ready", "Unknown", message="lost")), IN_PROGRESS, "Ready is Unknown: lost"),
        (
            conditions(when("Ready", "True"), observedGeneration=2),
            IN_PROGRESS,
            "the controller has seen generation 2 of 3",
        ),
        (
            conditions(when("Ready", "True", observedGeneration=2)),
            IN_PROGRESS,
            "the Ready condition speaks of generation 2 of 3",
        ),
        (conditions(when("Ready", "True", observedGeneration=3)), CURRENT, "Ready"),
        (conditions(when("Reconciling", "True", message="step 1")), IN_PROGRESS, "reconciling: step 1"),
        (conditions(when("Ready", "True"), when("Stalled", "True", message="no")), FAILED, "stalled: no"),
    ],
)
def test_a_kind_without_a_row(status: Any, expected: Status, message: str) -> None:
    assert judged("Widget.example.org", {}, status, generation=3) == (expected, message)


@pytest.mark.parametrize("kind", ["Deployment.apps", "Widget.example.org", "Service"])
def test_what_is_being_deleted_is_never_ready(kind: str) -> None:
    found = judged(kind, {"replicas": 0}, {"observedGeneration": 1}, deletionTimestamp="2026-01-01T00:00:00Z")
    assert found == (TERMINATING, "being deleted since 2026-01-01T00:00:00Z")
