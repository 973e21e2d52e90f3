"""Small controllers: claims that are bound, disruption budgets that are counted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from agent.core.model import Body, ObjectId
from agent.core.simulation.controllers.common import (
    POD,
    Controller,
    conditions,
    is_active,
    is_ready,
    resolve,
    set_status,
    within,
)
from agent.core.simulation.draft import Draft
from agent.core.simulation.selectors import selects
from agent.core.simulation.tables import dig
from agent.core.simulation.world import NEVER, Event


def calls(draft: Draft, event: Event) -> Iterable[ObjectId]:
    """Claims and budgets themselves; a pod concerns the budgets beside it."""
    if event.id.kind in ("PersistentVolumeClaim", "PodDisruptionBudget"):
        return [event.id]
    return (
        within(draft, "policy", "PodDisruptionBudget", event.id.namespace)
        if event.id.group_kind == POD
        else ()
    )


def sync(draft: Draft, key: ObjectId) -> float:
    """Bind a claim to a volume that is made up, or count a budget."""
    body = draft.get(key)
    if body is not None and key.kind == "PodDisruptionBudget":
        _count(draft, key, body)
    elif body is not None and dig(body, ("status", "phase")) != "Bound":
        spec = body["spec"]
        status = {
            "phase": "Bound",
            "accessModes": spec.get("accessModes", []),
            "capacity": dig(spec, ("resources", "requests")) or {},
        }
        volume = {"volumeName": f"pv-{body['metadata']['uid']}"}
        draft.put(key, body | {"spec": spec | volume, "status": status})
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


CONTROLLER: Final = Controller("upkeep", calls, sync)
