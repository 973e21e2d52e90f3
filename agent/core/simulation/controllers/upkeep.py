"""Small controllers: claims that are bound, disruption budgets that are counted."""

from __future__ import annotations

from typing import Final

from agent.core.model import Body, GroupKind, ObjectId
from agent.core.simulation.controllers.common import (
    Controller,
    conditions,
    is_active,
    is_ready,
    resolve,
    set_status,
)
from agent.core.simulation.selectors import selects
from agent.core.simulation.tables import dig
from agent.core.simulation.world import NEVER, Draft


def step(draft: Draft) -> float:
    """Bind every claim to a volume that is made up, and count every budget."""
    for key, claim in list(draft.of("", "PersistentVolumeClaim").items()):
        if dig(claim, ("status", "phase")) != "Bound":
            spec = claim["spec"]
            status = {
                "phase": "Bound",
                "accessModes": spec.get("accessModes", []),
                "capacity": dig(spec, ("resources", "requests")) or {},
            }
            volume = {"volumeName": f"pv-{claim['metadata']['uid']}"}
            draft.put(key, claim | {"spec": spec | volume, "status": status})
    for key, budget in list(draft.of("policy", "PodDisruptionBudget").items()):
        _count(draft, key, budget)
    return NEVER


def _count(draft: Draft, key: ObjectId, budget: Body) -> None:
    """https://kubernetes.io/docs/tasks/run-application/configure-pdb/."""
    spec = budget["spec"]
    selector = spec.get("selector")
    pods = [
        pod
        for pod_key, pod in draft.of("", "Pod").items()
        if pod_key.namespace == key.namespace
        and selector is not None
        and is_active(pod)
        and selects(selector, pod["metadata"].get("labels") or {})
    ]
    healthy, expected = sum(is_ready(pod) for pod in pods), len(pods)
    if "maxUnavailable" in spec:
        desired = expected - resolve(spec["maxUnavailable"], expected, up=True)
    else:
        desired = resolve(spec.get("minAvailable", 1), expected, up=True)
    allowed = max(0, healthy - desired) if expected else 0
    reason = "SufficientPods" if allowed else "InsufficientPods"
    status = {
        "observedGeneration": budget["metadata"]["generation"],
        "currentHealthy": healthy,
        "desiredHealthy": max(0, desired),
        "disruptionsAllowed": allowed,
        "expectedPods": expected,
        "conditions": conditions(draft, budget, {"DisruptionAllowed": (bool(allowed), reason, "")}),
    }
    set_status(draft, key, status)


CONTROLLER: Final = Controller(
    "upkeep",
    frozenset(
        {
            GroupKind("", "PersistentVolumeClaim"),
            GroupKind("policy", "PodDisruptionBudget"),
            GroupKind("", "Pod"),
        }
    ),
    step,
)
