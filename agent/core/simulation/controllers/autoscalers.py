"""HorizontalPodAutoscalers without metrics: they keep replicas within their bounds and own them from then on.

https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/. What a load would make of them is
not known; a target scaled to zero is left alone (pkg/controller/podautoscaler/horizontal.go).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from agent.core.model import Body, ObjectId
from agent.core.simulation.controllers.common import Controller, is_deleting
from agent.core.simulation.draft import Draft
from agent.core.simulation.ownership import update
from agent.core.simulation.tables import dig, put
from agent.core.simulation.world import NEVER, Event, stamp

MANAGER: Final = "kube-controller-manager"


def calls(draft: Draft, event: Event) -> Iterable[ObjectId]:
    """An autoscaler's own writes, and those of what it scales."""
    if event.id.kind == "HorizontalPodAutoscaler":
        return [event.id]
    if event.id.group != "apps":
        return ()
    scalers = draft.of("autoscaling", "HorizontalPodAutoscaler").items()
    return [key for key, scaler in scalers if _target(key, scaler) == event.id]


def _target(key: ObjectId, scaler: Body) -> ObjectId:
    ref = scaler["spec"]["scaleTargetRef"]
    group = str(ref.get("apiVersion", "")).rpartition("/")[0]
    return ObjectId(group, ref["kind"], key.namespace, ref["name"])


def sync(draft: Draft, key: ObjectId) -> float:
    """Bring the replicas of the target within the bounds."""
    scaler = draft.get(key)
    if scaler is None or is_deleting(scaler):
        return NEVER
    target = _target(key, scaler)
    body = draft.get(target)
    replicas = dig(body, ("spec", "replicas"))
    if body is None or not replicas:
        return NEVER
    spec = scaler["spec"]
    wanted = min(max(replicas, spec.get("minReplicas", 1)), spec["maxReplicas"])
    if wanted != replicas:
        merge = draft.tables.merge.get(target.kind, {})
        scaled = put(body, ("spec", "replicas"), wanted)
        draft.put(target, update(body, scaled, MANAGER, merge, at=stamp(draft.now)))
    return NEVER


CONTROLLER: Final = Controller("horizontalpodautoscaler", calls, sync)
