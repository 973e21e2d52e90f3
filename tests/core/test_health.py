"""Readiness of workloads by the shipped table: one status for each state that a rollout goes through."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.health import Status
from agent.core.model import Body
from tests.core.bodies import conditions, judged, when

CURRENT, IN_PROGRESS, FAILED = Status.CURRENT, Status.IN_PROGRESS, Status.FAILED


def counts(observed: int, replicas: int, updated: int, available: int, **more: Any) -> Body:
    return {
        "observedGeneration": observed,
        "replicas": replicas,
        "updatedReplicas": updated,
        "readyReplicas": available,
        "availableReplicas": available,
        **more,
    }


LATE = conditions(when("Progressing", "False", "ProgressDeadlineExceeded", "timed out"))


@pytest.mark.parametrize(
    ("spec", "status", "expected", "message"),
    [
        ({"replicas": 3}, counts(4, 3, 3, 3), IN_PROGRESS, "the controller has seen generation 4 of 5"),
        ({"replicas": 3}, {}, IN_PROGRESS, "the controller has seen generation 0 of 5"),
        ({"replicas": 3}, None, IN_PROGRESS, "the controller has seen generation 0 of 5"),
        ({"replicas": 3}, counts(5, 4, 1, 3), IN_PROGRESS, "1 of 3 replicas updated"),
        ({"replicas": 3}, counts(5, 4, 3, 3), IN_PROGRESS, "1 old replicas still there"),
        ({"replicas": 2}, counts(5, 3, 3, 3), IN_PROGRESS, "3 replicas, 2 wanted"),
        ({"replicas": 3}, counts(5, 3, 3, 2), IN_PROGRESS, "2 of 3 replicas available"),
        ({"replicas": 3}, counts(5, 3, 3, 3, readyReplicas=2), IN_PROGRESS, "2 of 3 replicas ready"),
        ({"replicas": 3}, counts(5, 3, 3, 3), CURRENT, "3 of 3 replicas available"),
        ({}, counts(5, 1, 1, 1), CURRENT, "1 of 1 replicas available"),
        ({"replicas": 0}, {"observedGeneration": 5}, CURRENT, "0 of 0 replicas available"),
        (
            {"replicas": 3},
            counts(5, 4, 1, 3, **LATE),
            FAILED,
            "1 of 3 replicas updated when the progress deadline passed: timed out",
        ),
        # A deadline that passed for the template before this one says nothing of this one.
        (
            {"replicas": 3},
            counts(4, 4, 1, 3, **LATE),
            IN_PROGRESS,
            "the controller has seen generation 4 of 5",
        ),
        (
            {"replicas": 3, "paused": True},
            counts(5, 3, 3, 3),
            IN_PROGRESS,
            "paused: 3 of 3 replicas updated, and the rollout does not go on by itself",
        ),
        (
            {"replicas": 3},
            counts(5, 2, 1, 1, **conditions(when("ReplicaFailure", "True", message="exceeded quota"))),
            IN_PROGRESS,
            "1 of 3 replicas updated: exceeded quota",
        ),
        (
            {"replicas": 3},
            counts(5, 3, 3, 3, terminatingReplicas=2),
            CURRENT,
            "3 of 3 replicas available, 2 old ones still terminating",
        ),
    ],
)
def test_deployment(spec: Body, status: Body | None, expected: Status, message: str) -> None:
    assert judged("Deployment.apps", spec, status, generation=5) == (expected, message)


def revisions(current: str, update: str, **more: Any) -> Body:
    return {"observedGeneration": 2, "currentRevision": current, "updateRevision": update, **more}


ON_DELETE = {"replicas": 2, "updateStrategy": {"type": "OnDelete"}}
PARTITION = {"replicas": 3, "updateStrategy": {"rollingUpdate": {"partition": 2}}}
ALL = {"replicas": 2, "readyReplicas": 2, "availableReplicas": 2}
THREE = {"replicas": 3, "readyReplicas": 3, "availableReplicas": 3}


@pytest.mark.parametrize(
    ("spec", "status", "expected", "message"),
    [
        ({"replicas": 2}, {**ALL}, IN_PROGRESS, "the controller has seen generation 0 of 2"),
        ({"replicas": 2}, revisions("a", "a", replicas=1), IN_PROGRESS, "1 of 2 replicas there"),
        ({"replicas": 2}, revisions("a", "a", replicas=2), IN_PROGRESS, "0 of 2 replicas ready"),
        (
            {"replicas": 2},
            revisions("a", "b", updatedReplicas=1, **ALL),
            IN_PROGRESS,
            "1 of 2 replicas updated",
        ),
        ({"replicas": 2}, revisions("b", "b", updatedReplicas=2, **ALL), CURRENT, "2 of 2 replicas ready"),
        (
            ON_DELETE,
            revisions("a", "b", **ALL),
            IN_PROGRESS,
            "0 of 2 replicas updated; OnDelete: the others wait until somebody deletes them",
        ),
        (ON_DELETE, revisions("b", "b", **ALL), CURRENT, "2 of 2 replicas ready"),
        (PARTITION, revisions("a", "b", **THREE), IN_PROGRESS, "0 of 1 replicas above partition 2 updated"),
        (
            PARTITION,
            revisions("a", "b", updatedReplicas=1, **THREE),
            CURRENT,
            "3 of 3 replicas ready, 1 of them updated (partition 2)",
        ),
        (PARTITION, THREE, IN_PROGRESS, "the controller has seen generation 0 of 2"),
        ({"replicas": 0}, revisions("a", "a"), CURRENT, "0 of 0 replicas ready"),
    ],
)
def test_stateful_set(spec: Body, status: Body, expected: Status, message: str) -> None:
    assert judged("StatefulSet.apps", spec, status, generation=2) == (expected, message)


def scheduled(wanted: int, current: int, updated: int, available: int) -> Body:
    return {
        "observedGeneration": 1,
        "desiredNumberScheduled": wanted,
        "currentNumberScheduled": current,
        "updatedNumberScheduled": updated,
        "numberAvailable": available,
        "numberReady": available,
    }


@pytest.mark.parametrize(
    ("status", "expected", "message"),
    [
        (None, IN_PROGRESS, "the controller has seen generation 0 of 1"),
        (scheduled(3, 2, 2, 2), IN_PROGRESS, "2 of 3 pods scheduled"),
        (scheduled(3, 3, 2, 3), IN_PROGRESS, "2 of 3 pods updated"),
        (scheduled(3, 3, 3, 2), IN_PROGRESS, "2 of 3 pods available"),
        (scheduled(3, 3, 3, 3), CURRENT, "3 of 3 pods available"),
        (scheduled(0, 0, 0, 0), CURRENT, "0 of 0 pods available"),
    ],
)
def test_daemon_set(status: Body | None, expected: Status, message: str) -> None:
    assert judged("DaemonSet.apps", {}, status, generation=1) == (expected, message)
