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
    is_deleting,
    is_ready,
    resolve,
    set_status,
    within,
)
from agent.core.simulation.draft import Draft
from agent.core.simulation.selectors import selects
from agent.core.simulation.tables import dig, put
from agent.core.simulation.world import NEVER, Event

PROTECTION: Final = "kubernetes.io/pvc-protection"


def calls(draft: Draft, event: Event) -> Iterable[ObjectId]:
    """Claims and budgets themselves; a pod concerns those beside it."""
    if event.id.kind in ("PersistentVolumeClaim", "PodDisruptionBudget"):
        return [event.id]
    if event.id.group_kind != POD:
        return ()
    claims = within(draft, "", "PersistentVolumeClaim", event.id.namespace) if event.type == "DELETED" else []
    return claims + within(draft, "policy", "PodDisruptionBudget", event.id.namespace)


def sync(draft: Draft, key: ObjectId) -> float:
    """Bind a claim to a volume that is made up, let one go that no pod uses, or count a budget."""
    body = draft.get(key)
    if body is not None and key.kind == "PodDisruptionBudget":
        _count(draft, key, body)
    elif body is not None and is_deleting(body):
        _release(draft, key, body)
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


def _release(draft: Draft, key: ObjectId, claim: Body) -> None:
    """https://kubernetes.io/docs/concepts/storage/persistent-volumes/#storage-object-in-use-protection."""
    pods = (pod for pod_key, pod in draft.of("", "Pod").items() if pod_key.namespace == key.namespace)
    volumes = (volume for pod in pods for volume in pod["spec"].get("volumes") or ())
    if any(dig(volume, ("persistentVolumeClaim", "claimName")) == key.name for volume in volumes):
        return
    rest = [name for name in claim["metadata"].get("finalizers") or () if name != PROTECTION]
    if rest:
        draft.put(key, put(claim, ("metadata", "finalizers"), rest))
    else:
        draft.drop(key)


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
