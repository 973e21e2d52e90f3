"""StatefulSets: pods with names and turns.

https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/
"""

from __future__ import annotations

from functools import partial
from typing import Final

from agent.core.model import Body, ObjectId
from agent.core.simulation.controllers import revisions
from agent.core.simulation.controllers.common import (
    FINISHED,
    Controller,
    Item,
    available_at,
    children,
    claim,
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
from agent.core.simulation.world import NEVER


def sync(draft: Draft, key: ObjectId) -> float:
    """Bring a StatefulSet one turn on."""
    workload = draft.get(key)
    if workload is None or is_deleting(workload):
        return NEVER
    claim(draft, workload, _strays(draft, key), partial(selects, workload["spec"]["selector"]))
    revision, _ = revisions.ensure(draft, workload, "controller.kubernetes.io/hash")
    uid = workload["metadata"]["uid"]
    pods = {pod_key.name: pod for pod_key, pod in children(draft, uid)}
    refused = _turn(draft, workload, pods, revision)
    due = _write_status(draft, key, workload, [pod for _, pod in children(draft, uid)], revision)
    return min(due, retry_at(draft, uid, refused))


def _strays(draft: Draft, key: ObjectId) -> list[Item]:
    """Pods that nobody controls and that are named as the StatefulSet would name its own.

    https://kubernetes.io/docs/tasks/run-application/delete-stateful-set/ (with --cascade=orphan)
    """
    found = orphans(draft, "", "Pod", key.namespace)
    return [
        item
        for item in found
        if item[0].name.rpartition("-")[0] == key.name and item[0].name.rpartition("-")[2].isdigit()
    ]


def _turn(draft: Draft, workload: Body, pods: dict[str, Body], revision: str) -> str:
    """The next thing to do; with OrderedReady only one pod at a time, and only after those before it."""
    spec, name = workload["spec"], workload["metadata"]["name"]
    is_ordered = spec["podManagementPolicy"] == "OrderedReady"
    names = [f"{name}-{number}" for number in range(spec["replicas"])]
    min_ready = spec.get("minReadySeconds", 0)
    for number, pod_name in enumerate(names):
        pod = pods.get(pod_name)
        if pod is not None and dig(pod, ("status", "phase")) in FINISHED and not is_deleting(pod):
            begin_delete(draft, ObjectId("", "Pod", workload["metadata"]["namespace"], pod_name))
            return ""
        if pod is None:
            refused = _make(draft, workload, number, revision)
            if refused or is_ordered:
                return refused
        elif is_ordered and (is_deleting(pod) or available_at(draft, pod, min_ready) > draft.now):
            # Also where it is the one to replace: an update that is stuck stays so ("Forced rollback").
            return ""
    surplus = sorted((pod_name for pod_name in pods if pod_name not in names), key=_ordinal, reverse=True)
    for pod_name in surplus:
        begin_delete(draft, ObjectId("", "Pod", workload["metadata"]["namespace"], pod_name))
        if is_ordered:
            return ""
    _replace_old(draft, workload, pods, revision)
    return ""


def _replace_old(draft: Draft, workload: Body, pods: dict[str, Body], revision: str) -> None:
    """Rolling update: from the highest ordinal down to the partition, one pod at a time."""
    spec, metadata = workload["spec"], workload["metadata"]
    if spec["updateStrategy"]["type"] != "RollingUpdate":
        return
    partition = dig(spec, ("updateStrategy", "rollingUpdate", "partition")) or 0
    for number in range(spec["replicas"] - 1, partition - 1, -1):
        name = f"{metadata['name']}-{number}"
        pod = pods.get(name)
        if pod is None or is_deleting(pod):
            return
        if revisions.of_pod(pod) != revision:
            begin_delete(draft, ObjectId("", "Pod", metadata["namespace"], name))
            return
        if not is_ready(pod):
            return


def _template(draft: Draft, workload: Body, number: int, revision: str) -> tuple[Body, str]:
    """What a pod is made from: below the partition still what the set had before.

    pkg/controller/statefulset/stateful_set_utils.go, newVersionedStatefulSetPod.
    """
    spec, current = workload["spec"], dig(workload, ("status", "currentRevision"))
    partition = dig(spec, ("updateStrategy", "rollingUpdate", "partition")) or 0
    if number >= partition or not current or current == revision:
        return spec["template"], revision
    kept = draft.get(ObjectId("apps", "ControllerRevision", workload["metadata"]["namespace"], current))
    if kept is None:
        return spec["template"], revision
    return {key: value for key, value in kept["data"]["spec"]["template"].items() if key != "$patch"}, current


def _ordinal(pod_name: str) -> int:
    return int(pod_name.rpartition("-")[2])


def _make(draft: Draft, workload: Body, number: int, revision: str) -> str:
    metadata, spec = workload["metadata"], workload["spec"]
    name = f"{metadata['name']}-{number}"
    volumes = []
    for template in spec.get("volumeClaimTemplates") or ():
        claim = f"{template['metadata']['name']}-{name}"
        volumes.append({"name": template["metadata"]["name"], "persistentVolumeClaim": {"claimName": claim}})
        key = ObjectId("", "PersistentVolumeClaim", metadata["namespace"], claim)
        if draft.get(key) is None:
            labels = dig(spec, ("selector", "matchLabels")) or {}
            named = {"name": claim, "namespace": metadata["namespace"], "labels": labels}
            finalizers = {"finalizers": ["kubernetes.io/pvc-protection"]}
            body = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": template["spec"]}
            draft.put(key, body | {"metadata": named | finalizers})
    template, revision = _template(draft, workload, number, revision)
    given = template["spec"].get("volumes") or []
    address = {"hostname": name} | ({"subdomain": spec["serviceName"]} if spec.get("serviceName") else {})
    rest = {"volumes": [*given, *volumes]} if volumes else {}
    template = template | {"spec": template["spec"] | address | rest}
    extra = {
        revisions.HASH: revision,
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": str(number),
    }
    return spawn(draft, workload, name, template, extra)


def _write_status(draft: Draft, key: ObjectId, workload: Body, pods: list[Body], revision: str) -> float:
    spec = workload["spec"]
    active = [pod for pod in pods if is_active(pod)]
    times = [available_at(draft, pod, spec.get("minReadySeconds", 0)) for pod in active]
    updated = sum(revisions.of_pod(pod) == revision for pod in active)
    available = sum(time <= draft.now for time in times)
    before = workload.get("status") or {}
    is_done = updated == len(active) == spec["replicas"] == sum(is_ready(pod) for pod in active)
    current = revision if is_done else before.get("currentRevision", revision)
    status = {
        "observedGeneration": workload["metadata"]["generation"],
        "replicas": len(active),
        "availableReplicas": available,
        **counts(
            readyReplicas=sum(is_ready(pod) for pod in active),
            updatedReplicas=updated,
            currentReplicas=updated if current == revision else len(active) - updated,
        ),
        "currentRevision": current,
        "updateRevision": revision,
        "collisionCount": 0,
    }
    set_status(draft, key, status)
    return min((time for time in times if time > draft.now), default=NEVER)


CONTROLLER: Final = Controller("statefulset", pod_calls("apps", "StatefulSet"), sync)
