"""Replicas of workloads that an autoscaler scales: never compared, never sent against it."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.model import Body, ObjectId
from tests.core.upgrades import MANAGER, steps_of, told, upgrade

KEY = ObjectId("apps", "Deployment", "shop", "web")
SCALER = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec: {minReplicas: 2, maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
---
"""
BY_EVENTS = """
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: web, namespace: shop}
spec: {scaleTargetRef: {name: web}}
---
"""


def workload(replicas: str, image: str = "web") -> str:
    return f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  {replicas}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: web, image: {image}}}]}}
"""


def live(replicas: int, *owners: str) -> Body:
    """The workload as an autoscaler left it; ``owners`` are the managers of its replicas."""
    entries = [
        {"manager": m, "operation": "Update", "fieldsV1": {"f:spec": {"f:replicas": {}}}} for m in owners
    ]
    metadata: dict[str, Any] = {"name": "web", "namespace": "shop", "labels": {"trapeze.dev/set": "shop"}}
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": "web"}]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata | {"managedFields": entries, "uid": "1"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }


@pytest.mark.parametrize("scaler", [SCALER, BY_EVENTS])
@pytest.mark.parametrize("replicas", ["replicas: 3", ""])
def test_replicas_of_the_autoscaler_are_no_change(scaler: str, replicas: str) -> None:
    git = scaler + workload(replicas)
    assert told(upgrade(git, git, live(7)).plan()) == []


def test_replicas_are_compared_without_an_autoscaler() -> None:
    git = workload("replicas: 3")
    (change,) = upgrade(git, git, live(7)).plan().changes
    assert change.reason == "spec.replicas goes down from 7 to 3"


@pytest.mark.parametrize(("owners", "sent"), [((), 7), ((MANAGER,), 7), (("kube-controller-manager",), None)])
def test_what_is_sent_of_replicas_follows_who_owns_them(owners: tuple[str, ...], sent: int | None) -> None:
    """Left out by their only owner they would fall back to 1."""
    base, head = (SCALER + workload("replicas: 3", image) for image in ("web", "web:2"))
    (step,) = steps_of(upgrade(base, head, live(7, *owners)).plan(), KEY)
    assert step.body is not None
    assert step.body["spec"].get("replicas") == sent


def test_git_gives_the_replicas_of_a_new_workload() -> None:
    (step,) = steps_of(upgrade("", SCALER + workload("replicas: 3")).plan(), KEY)
    assert step.body is not None
    assert step.body["spec"]["replicas"] == 3


@pytest.mark.parametrize(("wanted", "has"), [(0, 7), (3, 0)])
def test_at_zero_the_autoscaler_stands_still_and_git_decides(wanted: int, has: int) -> None:
    git = SCALER + workload(f"replicas: {wanted}")
    assert [step.id for step in upgrade(git, git, live(has)).plan().steps] == [KEY]


def test_autoscaler_that_git_drops_owns_nothing_more() -> None:
    base, head = SCALER + workload("replicas: 3"), workload("replicas: 3")
    steps = steps_of(upgrade(base, head, live(7)).plan(), KEY)
    assert [(step.body or {})["spec"]["replicas"] for step in steps] == [3]


def test_live_autoscaler_of_somebody_else_owns_replicas_too() -> None:
    stranger: Body = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "theirs", "namespace": "shop"},
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}},
    }
    git = workload("replicas: 3")
    assert told(upgrade(git, git, live(7), stranger).plan()) == []
