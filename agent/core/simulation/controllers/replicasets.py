"""ReplicaSets: as many pods as asked (https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/)."""

from __future__ import annotations

from functools import partial
from typing import Final

from agent.core.model import Body, ObjectId
from agent.core.simulation.controllers.common import (
    Controller,
    Item,
    available_at,
    children,
    claim,
    conditions,
    counts,
    is_active,
    is_deleting,
    is_ready,
    orphans,
    pod_calls,
    retry_at,
    set_status,
    spawn,
)
from agent.core.simulation.draft import Draft
from agent.core.simulation.requests import begin_delete
from agent.core.simulation.selectors import selects
from agent.core.simulation.tables import dig
from agent.core.simulation.world import NEVER, State


def sync(draft: Draft, key: ObjectId) -> float:
    """Make and remove pods, write the status; the next time at which a pod becomes available by age."""
    replicaset = draft.get(key)
    if replicaset is None:
        return NEVER
    uid, selector = replicaset["metadata"]["uid"], replicaset["spec"]["selector"]
    refused = ""
    if not is_deleting(replicaset):
        claim(draft, replicaset, orphans(draft, "", "Pod", key.namespace), partial(selects, selector))
        refused = _scale(draft, key, replicaset, _release(draft, selector, children(draft, uid)))
    due = _write_status(draft, key, replicaset, children(draft, uid), refused)
    return min(due, retry_at(draft, uid, refused))


def _release(draft: Draft, selector: Body, mine: list[Item]) -> list[Item]:
    """A pod whose labels no longer fit is let go and lives on alone."""
    kept = []
    for key, pod in mine:
        if selects(selector, pod["metadata"].get("labels") or {}):
            kept.append((key, pod))
        else:
            references = [row for row in pod["metadata"]["ownerReferences"] if not row.get("controller")]
            draft.put(key, pod | {"metadata": pod["metadata"] | {"ownerReferences": references}})
    return kept


def _scale(draft: Draft, key: ObjectId, replicaset: Body, mine: list[Item]) -> str:
    active = [item for item in mine if is_active(item[1])]
    wanted = replicaset["spec"]["replicas"]
    for _ in range(wanted - len(active)):
        name = f"{key.name}-"
        refused = spawn(draft, replicaset, name, replicaset["spec"]["template"])
        if refused:
            return refused
    for pod_key, _ in sorted(active, key=lambda item: _rank(draft, item))[: max(0, len(active) - wanted)]:
        begin_delete(draft, pod_key)
    return ""


def _rank(state: State, item: Item) -> tuple[bool, bool, float, float]:
    """Whom a smaller ReplicaSet ends first: not started, not ready, ready for the shortest, youngest.

    https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/#scaling-a-replicaset
    """
    uid = item[1]["metadata"]["uid"]
    since = state.marked(uid, "since")
    created = state.marked(uid, "created") or 0
    return dig(item[1], ("status", "phase")) == "Running", is_ready(item[1]), -(since or 0), -created


def _write_status(draft: Draft, key: ObjectId, replicaset: Body, mine: list[Item], refused: str) -> float:
    spec = replicaset["spec"]
    active = [pod for _, pod in mine if is_active(pod)]
    labels = dig(spec, ("template", "metadata", "labels")) or {}
    times = [available_at(draft, pod, spec.get("minReadySeconds", 0)) for pod in active]
    status = {
        "replicas": len(active),
        **counts(
            fullyLabeledReplicas=sum(
                labels.items() <= (p["metadata"].get("labels") or {}).items() for p in active
            ),
            readyReplicas=sum(is_ready(pod) for pod in active),
            availableReplicas=sum(time <= draft.now for time in times),
        ),
        "terminatingReplicas": sum(is_deleting(pod) for _, pod in mine),
        "observedGeneration": replicaset["metadata"]["generation"],
    }
    if refused:
        status["conditions"] = conditions(
            draft, replicaset, {"ReplicaFailure": (True, "FailedCreate", refused)}
        )
    set_status(draft, key, status)
    return min((time for time in times if time > draft.now), default=NEVER)


CONTROLLER: Final = Controller("replicaset", pod_calls("apps", "ReplicaSet"), sync)
