"""Readiness of the kinds whose status tells rather than holds, and of what sits beside workloads."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.health import Status
from tests.core.bodies import conditions, judged, when

CURRENT, IN_PROGRESS, FAILED = Status.CURRENT, Status.IN_PROGRESS, Status.FAILED
FULL = {"replicas": 2, "readyReplicas": 2, "availableReplicas": 2, "observedGeneration": 1}
QUOTA = when("ReplicaFailure", "True", message="exceeded quota")


@pytest.mark.parametrize(
    ("kind", "spec", "status", "expected", "message"),
    [
        ("PodDisruptionBudget.policy", {}, None, IN_PROGRESS, "the controller has seen generation 0 of 1"),
        (
            "PodDisruptionBudget.policy",
            {},
            {"observedGeneration": 1, "disruptionsAllowed": 0},
            CURRENT,
            "0 disruptions allowed",
        ),
        ("HorizontalPodAutoscaler.autoscaling", {}, {"currentReplicas": 3}, CURRENT, "3 replicas"),
        (
            "HorizontalPodAutoscaler.autoscaling",
            {},
            conditions(when("AbleToScale", "False", message="no target")),
            CURRENT,
            "cannot scale: no target",
        ),
        (
            "HorizontalPodAutoscaler.autoscaling",
            {},
            conditions(when("ScalingActive", "False", message="no metrics")),
            CURRENT,
            "does not scale: no metrics",
        ),
        ("CronJob.batch", {"suspend": True}, {}, CURRENT, "has no Ready condition; it is there"),
        (
            "ReplicaSet.apps",
            {"replicas": 2},
            conditions(QUOTA, **FULL),
            IN_PROGRESS,
            "2 of 2 replicas there: exceeded quota",
        ),
        ("ReplicaSet.apps", {"replicas": 2}, FULL, CURRENT, "2 of 2 replicas available"),
        ("ReplicaSet.apps", {"replicas": 1}, FULL, IN_PROGRESS, "2 of 1 replicas there"),
        ("ReplicationController", {"replicas": 2}, FULL, CURRENT, "2 of 2 replicas available"),
        (
            "ReplicationController",
            {"replicas": 3},
            {**FULL, "replicas": 3},
            IN_PROGRESS,
            "2 of 3 replicas available",
        ),
        ("PersistentVolume", {}, {"phase": "Failed", "message": "gone"}, FAILED, "gone"),
        ("PersistentVolume", {}, {"phase": "Pending"}, IN_PROGRESS, "phase Pending"),
        ("PersistentVolume", {}, {"phase": "Available"}, CURRENT, "Available"),
        (
            "DaemonSet.apps",
            {"updateStrategy": {"type": "OnDelete"}},
            {"observedGeneration": 1, "desiredNumberScheduled": 2, "currentNumberScheduled": 2},
            IN_PROGRESS,
            "0 of 2 pods updated; OnDelete: the others wait until somebody deletes them",
        ),
    ],
)
def test_row(kind: str, spec: Any, status: Any, expected: Status, message: str) -> None:
    assert judged(kind, spec, status, generation=1) == (expected, message)
