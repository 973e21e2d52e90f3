"""DaemonSets: one pod on every node (https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from agent.core.model import Body, ObjectId
from agent.core.simulation.controllers import revisions
from agent.core.simulation.controllers.common import (
    Controller,
    Item,
    available_at,
    children,
    counts,
    is_active,
    is_deleting,
    is_ready,
    pod_calls,
    resolve,
    retry_at,
    set_status,
    spawn,
)
from agent.core.simulation.controllers.scheduling import fits
from agent.core.simulation.draft import Draft
from agent.core.simulation.requests import begin_delete
from agent.core.simulation.tables import dig
from agent.core.simulation.world import NEVER, Event


def calls(draft: Draft, event: Event) -> Iterable[ObjectId]:
    """A node concerns every DaemonSet."""
    if event.id.kind == "Node":
        return list(draft.of("apps", "DaemonSet"))
    return pod_calls("apps", "DaemonSet")(draft, event)


def sync(draft: Draft, key: ObjectId) -> float:
    """Bring a DaemonSet on: missing pods, then old ones."""
    workload = draft.get(key)
    if workload is None or is_deleting(workload):
        return NEVER
    _, code = revisions.ensure(draft, workload, revisions.HASH)
    uid = workload["metadata"]["uid"]
    wanted = sum(fits(workload["spec"]["template"]["spec"], node) for node in draft.of("", "Node").values())
    mine = children(draft, uid)
    # A node whose old pod is still ending gets no new one before it is gone.
    refused = _make(draft, workload, wanted - len(mine), code)
    refused = refused or _replace_old(draft, workload, mine, (wanted, code))
    pods = [pod for _, pod in children(draft, uid) if is_active(pod)]
    times = [available_at(draft, pod, workload["spec"].get("minReadySeconds", 0)) for pod in pods]
    available = sum(time <= draft.now for time in times)
    status = {
        "currentNumberScheduled": min(len(pods), wanted),
        "desiredNumberScheduled": wanted,
        "numberMisscheduled": 0,
        "numberReady": min(wanted, sum(is_ready(pod) for pod in pods)),
        "observedGeneration": workload["metadata"]["generation"],
        **counts(
            updatedNumberScheduled=sum(revisions.of_pod(pod) == code for pod in pods),
            numberAvailable=min(wanted, available),
            numberUnavailable=max(0, wanted - available),
        ),
    }
    set_status(draft, key, status)
    due = min((time for time in times if time > draft.now), default=NEVER)
    return min(due, retry_at(draft, uid, refused))


def _make(draft: Draft, workload: Body, number: int, code: str) -> str:
    for _ in range(number):
        name = f"{workload['metadata']['name']}-"
        refused = spawn(draft, workload, name, workload["spec"]["template"], {revisions.HASH: code})
        if refused:
            return refused
    return ""


def _replace_old(draft: Draft, workload: Body, mine: list[Item], goal: tuple[int, str]) -> str:
    """RollingUpdate ends old pods as far as maxUnavailable allows; OnDelete waits for somebody to do it.

    With maxSurge a node's new pod comes first, and the old one goes when it is available.
    """
    wanted, code = goal
    spec = workload["spec"]
    old = [item for item in mine if is_active(item[1]) and revisions.of_pod(item[1]) != code]
    if spec["updateStrategy"]["type"] != "RollingUpdate" or not old:
        return ""
    rolling = dig(spec, ("updateStrategy", "rollingUpdate")) or {}
    surge = resolve(rolling.get("maxSurge", 0), wanted, up=True)
    new = [pod for _, pod in mine if is_active(pod) and revisions.of_pod(pod) == code]
    ready = [pod for pod in new if available_at(draft, pod, spec.get("minReadySeconds", 0)) <= draft.now]
    if surge:
        # Where an old pod is gone its node has a new one; the others still have both, or only the old.
        done = wanted - len(old)
        for key, _ in old[: max(0, len(ready) - done)]:
            begin_delete(draft, key)
        return _make(draft, workload, min(surge, len(old)) - (len(new) - done), code)
    down = wanted - sum(is_ready(pod) for _, pod in mine if is_active(pod))
    for key, pod in sorted(old, key=lambda item: is_ready(item[1])):
        if is_ready(pod):
            down += 1
            if down > resolve(rolling.get("maxUnavailable", 1), wanted, up=True):
                break
        begin_delete(draft, key)
    return ""


CONTROLLER: Final = Controller("daemonset", calls, sync)
