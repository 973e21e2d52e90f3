"""Pods: bound, started, ready or not, ended (https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from agent.core.model import Body, ObjectId
from agent.core.rbac import RBAC_GROUP
from agent.core.simulation.controllers.common import (
    FINISHED,
    POD,
    Controller,
    conditions,
    is_deleting,
    is_ready,
)
from agent.core.simulation.draft import Draft
from agent.core.simulation.standins import (
    ANY_PATH,
    RUN_FOR,
    answer,
    cannot_start,
    flags_of,
    knob,
    parse_blocker,
    refusal,
)
from agent.core.simulation.tables import dig
from agent.core.simulation.world import NEVER, Event, stamp


def calls(draft: Draft, event: Event) -> Iterable[ObjectId]:
    """A pod's own writes; rights concern any pod, mounts those beside, blockers those that name them."""
    key = event.id
    if key.group_kind == POD:
        return [key]
    if key.group == RBAC_GROUP:
        return list(draft.of("", "Pod"))
    is_mounted = key.group == "" and key.kind in ("ConfigMap", "Secret", "PersistentVolumeClaim")
    found = set(_waiting(draft, key)) if is_mounted else set()
    return found | set(_blocked(draft, key)) if event.type != "MODIFIED" else found


def _waiting(draft: Draft, key: ObjectId) -> Iterator[ObjectId]:
    """Pods that have not started, or whose program needs the object that was written."""
    for pod_key, pod in draft.of("", "Pod").items():
        is_waiting = (
            pod_key.namespace == key.namespace and draft.marked(pod["metadata"]["uid"], "opened") is None
        )
        if is_waiting or any(key.name in path for path in (flags_of(pod) or {}).get("need", ())):
            yield pod_key


def _blocked(draft: Draft, key: ObjectId) -> Iterator[ObjectId]:
    """Pods that this object blocks; its group may be the one that stores it, so the name decides."""
    for pod_key, pod in draft.of("", "Pod").items():
        blocker = knob(pod, "blocked-by")
        if blocker and parse_blocker(blocker)[2:] == (key.namespace, key.name):
            yield pod_key


def sync(draft: Draft, key: ObjectId) -> float:
    """Carry a pod to where it should be by now; the next time at which it moves by itself."""
    pod = draft.get(key)
    if pod is None:
        return NEVER
    if is_deleting(pod):
        return _end(draft, key, pod)
    if dig(pod, ("status", "phase")) in FINISHED or not pod["spec"].get("nodeName"):
        return NEVER
    uid = pod["metadata"]["uid"]
    if draft.marked(uid, "started") is None:
        due = (draft.marked(uid, "bound") or draft.marked(uid, "created") or 0) + draft.timing.pod_start
        reason = "" if draft.now < due else _unmounted(draft, pod)
        if draft.now < due or reason:
            _write_waiting(draft, key, pod, reason)
            return due if draft.now < due else NEVER
        draft.mark(uid, "started", draft.now)
    if pod["spec"].get("restartPolicy", "Always") != "Always":
        return _run_out(draft, key, pod)
    return _serve(draft, key, pod)


def _end(draft: Draft, key: ObjectId, pod: Body) -> float:
    """It serves on while it drains, then it is gone.

    https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination
    """
    uid = pod["metadata"]["uid"]
    stop = float(knob(pod, "slow-stop") or draft.timing.pod_stop)
    stop = min(stop, pod["metadata"].get("deletionGracePeriodSeconds", stop))
    is_up = draft.marked(uid, "started") is not None and dig(pod, ("status", "phase")) not in FINISHED
    due = (draft.marked(uid, "deleted") or 0) + (stop if is_up else 0)
    if draft.now < due:
        return due
    if not pod["metadata"].get("finalizers"):
        draft.drop(key)
    return NEVER


def _serve(draft: Draft, key: ObjectId, pod: Body) -> float:
    uid = pod["metadata"]["uid"]
    started = draft.marked(uid, "started") or 0
    if draft.marked(uid, "opened") is None:
        lack = cannot_start(draft, pod)
        if not lack:
            draft.mark(uid, "opened", draft.now)
    else:
        lack = ""
    reason = lack or refusal(draft, pod)
    probe, due = ("", NEVER) if reason else _probe(draft, pod)
    reason = reason or probe
    if not reason and draft.marked(uid, "ready") is None:
        draft.mark(uid, "ready", draft.now)
    _write_running(draft, key, pod, reason)
    times = [due, started + float(knob(pod, "ready-after") or 0)]
    for name, since in (("lose-ready-after", draft.marked(uid, "ready")), ("crash", started)):
        if (after := knob(pod, name)) is not None and since is not None:
            times.append(since + float(after))
    return min((time for time in times if time > draft.now), default=NEVER)


def _probe(draft: Draft, pod: Body) -> tuple[str, float]:
    """Why the readiness probe fails, and when its failure will be seen.

    https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/
    """
    uid = pod["metadata"]["uid"]
    probes = [c["readinessProbe"] for c in pod["spec"]["containers"] if dig(c, ("readinessProbe", "httpGet"))]
    reply = answer(draft, pod, ANY_PATH) if probes else None
    if reply is None or reply.is_right:
        if draft.marked(uid, "failing") is not None:
            draft.mark(uid, "failing", None)
        return "", NEVER
    if not is_ready(pod):
        return reply.reason, NEVER
    since = draft.marked(uid, "failing")
    if since is None:
        since = draft.now
        draft.mark(uid, "failing", since)
    due = since + probes[0].get("periodSeconds", 10) * probes[0].get("failureThreshold", 3)
    return (reply.reason, NEVER) if draft.now >= due else ("", due)


def _run_out(draft: Draft, key: ObjectId, pod: Body) -> float:
    """A pod that is meant to end runs and ends (restartPolicy Never or OnFailure)."""
    due = (draft.marked(pod["metadata"]["uid"], "started") or 0) + float(knob(pod, "run-for") or RUN_FOR)
    if draft.now < due:
        _write_running(draft, key, pod, "")
        return due
    code = int(knob(pod, "exit-code") or 0)
    rows = {
        "PodScheduled": (True, "", ""),
        "Initialized": (True, "PodCompleted", ""),
        "ContainersReady": (False, "PodCompleted", ""),
        "Ready": (False, "PodCompleted", ""),
    }
    ended = {"exitCode": code, "reason": "Error" if code else "Completed", "finishedAt": stamp(draft.now)}
    status = _status(draft, pod, "Failed" if code else "Succeeded", rows, {"terminated": ended})
    draft.put(key, pod | {"status": status})
    return NEVER


def _write_waiting(draft: Draft, key: ObjectId, pod: Body, reason: str) -> None:
    if pod.get("status") and not reason:
        return
    rows = {
        "PodScheduled": (True, "", ""),
        "Initialized": (True, "", ""),
        "ContainersReady": (False, "ContainersNotReady", reason),
        "Ready": (False, "ContainersNotReady", reason),
    }
    state = {"waiting": {"reason": "ContainerCreating"} | ({"message": reason} if reason else {})}
    status = _status(draft, pod, "Pending", rows, state)
    draft.put(key, pod | {"status": status})


def _write_running(draft: Draft, key: ObjectId, pod: Body, reason: str) -> None:
    ready = not reason
    status = pod.get("status") or {}
    said = next(
        (row.get("message", "") for row in status.get("conditions", ()) if row["type"] == "Ready"), ""
    )
    if status.get("phase") == "Running" and is_ready(pod) == ready and said == reason:
        return
    why = "" if ready else "ContainersNotReady"
    rows = {
        "PodScheduled": (True, "", ""),
        "Initialized": (True, "", ""),
        "ContainersReady": (ready, why, reason),
        "Ready": (ready, why, reason),
    }
    uid = pod["metadata"]["uid"]
    if is_ready(pod) != ready or draft.marked(uid, "since") is None:
        draft.mark(uid, "since", draft.now)
    running: Body = {"running": {"startedAt": stamp(draft.marked(uid, "started") or 0)}}
    state: Body = {"waiting": {"reason": "CrashLoopBackOff"}} if reason == "crashed" else running
    status = _status(draft, pod, "Running", rows, state)
    draft.put(key, pod | {"status": status})


def _status(draft: Draft, pod: Body, phase: str, rows: dict[str, tuple[Any, str, str]], state: Body) -> Body:
    number = int(pod["metadata"]["uid"][:8], 16)
    address = f"10.244.{number >> 8 & 255}.{number & 255}"
    before = pod.get("status") or {}
    has_address = phase != "Pending"
    return {
        "phase": phase,
        "hostIP": "10.0.0.1",
        "startTime": before.get("startTime") or stamp(draft.now),
        "conditions": conditions(draft, pod, rows),
        "containerStatuses": [
            {
                "name": container["name"],
                "image": container.get("image", ""),
                "imageID": "",
                "ready": rows["ContainersReady"][0],
                "started": "running" in state,
                "restartCount": int("CrashLoopBackOff" in str(state)),
                "state": state,
                "lastState": {},
            }
            for container in pod["spec"]["containers"]
        ],
        **({"podIP": address, "podIPs": [{"ip": address}]} if has_address else {}),
    }


def _unmounted(draft: Draft, pod: Body) -> str:
    """What containers wait for: ConfigMaps, Secrets and claims that the pod names and that are missing."""
    namespace = pod["metadata"]["namespace"]
    for kind, name in _named(pod["spec"]):
        found = draft.get(ObjectId("", kind, namespace, name))
        if found is None or (kind == "PersistentVolumeClaim" and dig(found, ("status", "phase")) != "Bound"):
            return f'{kind.lower()} "{name}" not found'
    return ""


def _named(spec: Body) -> Iterator[tuple[str, str]]:
    for volume in spec.get("volumes") or ():
        for source in (volume, *(dig(volume, ("projected", "sources")) or ())):
            yield from _needed("ConfigMap", source.get("configMap"), "name")
            yield from _needed("Secret", source.get("secret"), "secretName" if source is volume else "name")
        yield from _needed("PersistentVolumeClaim", volume.get("persistentVolumeClaim"), "claimName")
    for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
        for source in container.get("envFrom") or ():
            yield from _needed("ConfigMap", source.get("configMapRef"), "name")
            yield from _needed("Secret", source.get("secretRef"), "name")
        for variable in container.get("env") or ():
            yield from _needed("ConfigMap", dig(variable, ("valueFrom", "configMapKeyRef")), "name")
            yield from _needed("Secret", dig(variable, ("valueFrom", "secretKeyRef")), "name")
        for word in container.get("args") or ():
            if word.startswith("--tls-secret="):
                yield "Secret", word.partition("=")[2]


def _needed(kind: str, source: Body | None, name: str) -> Iterator[tuple[str, str]]:
    if source and source.get(name) and not source.get("optional"):
        yield kind, source[name]


CONTROLLER: Final = Controller("kubelet", calls, sync)
