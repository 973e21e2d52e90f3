"""The status of a pod as a kubelet writes it: phase, addresses, conditions, containers."""

import datetime as dt
from typing import Any

from tests.rig import netns
from tests.rig.kubelet.container import Container


def now() -> str:
    """Return the time as Kubernetes writes it."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def condition(
    pod: dict[str, Any], kind: str, *, true: bool, reason: str = "", message: str = ""
) -> dict[str, Any]:
    """Return a condition; its transition time stays when its status does."""
    said = "True" if true else "False"
    rows = pod.get("status", {}).get("conditions") or []
    before: dict[str, Any] = next((row for row in rows if row["type"] == kind), {})
    since = before.get("lastTransitionTime") if before.get("status") == said else None
    row = {"type": kind, "status": said, "lastTransitionTime": since or now()}
    return row | {"reason": reason or None, "message": message or None}


def waiting(pod: dict[str, Any], address: str, reason: str) -> dict[str, Any]:
    """Return the status of a pod that is bound and waits for what it mounts."""
    rows = [
        {
            "name": container["name"],
            "image": container.get("image", ""),
            "imageID": "",
            "ready": False,
            "started": False,
            "restartCount": 0,
            "state": {"waiting": {"reason": "ContainerCreating", "message": reason}},
        }
        for container in pod["spec"]["containers"]
    ]
    return {
        "phase": "Pending",
        "hostIP": netns.NODE,
        "hostIPs": [{"ip": netns.NODE}],
        "startTime": pod["status"].get("startTime") or now(),
        "conditions": [
            condition(pod, "PodScheduled", true=True),
            condition(pod, "Initialized", true=True),
            condition(pod, "ContainersReady", true=False, reason="ContainersNotReady", message=reason),
            condition(pod, "Ready", true=False, reason="ContainersNotReady", message=reason),
        ],
        "containerStatuses": rows,
        **({"podIP": address, "podIPs": [{"ip": address}]} if address else {}),
    }


def running(pod: dict[str, Any], address: str, containers: list[Container], since: str) -> dict[str, Any]:
    """Return the status of a pod whose containers were started, or have all ended."""
    ended = [container.ended for container in containers]
    phase = "Running" if None in ended else "Failed" if any(ended) else "Succeeded"
    serving = all(container.ready for container in containers)
    reason, message = ("", "") if serving else _why_not_ready(phase, containers)
    gates = _gates_passed(pod)
    return {
        "phase": phase,
        "hostIP": netns.NODE,
        "hostIPs": [{"ip": netns.NODE}],
        "podIP": address,
        "podIPs": [{"ip": address}],
        "startTime": pod["status"].get("startTime") or now(),
        "conditions": [
            condition(pod, "PodScheduled", true=True),
            condition(pod, "Initialized", true=True),
            condition(pod, "ContainersReady", true=serving, reason=reason, message=message),
            condition(
                pod,
                "Ready",
                true=serving and gates,
                reason=reason or ("" if gates else "ReadinessGatesNotReady"),
                message=message,
            ),
        ],
        "initContainerStatuses": [
            _init_status(row, since) for row in pod["spec"].get("initContainers") or []
        ],
        "containerStatuses": [_status(container, since) for container in containers],
    }


def _gates_passed(pod: dict[str, Any]) -> bool:
    wanted = {row["conditionType"] for row in pod["spec"].get("readinessGates") or []}
    rows = pod.get("status", {}).get("conditions") or []
    return wanted <= {row["type"] for row in rows if row["status"] == "True"}


def _why_not_ready(phase: str, containers: list[Container]) -> tuple[str, str]:
    if phase == "Succeeded":
        return "PodCompleted", ""
    names = [container.spec["name"] for container in containers if not container.ready]
    reasons = sorted({container.serving.refusal or container.message for container in containers} - {""})
    words = f"containers with unready status: [{' '.join(names)}]"
    return "ContainersNotReady", "; ".join([words, *reasons])


def _status(container: Container, since: str) -> dict[str, Any]:
    if container.ended is not None:
        reason = "Error" if container.ended else "Completed"
        ended = {"exitCode": container.ended, "reason": reason, "startedAt": since, "finishedAt": now()}
        state = {"terminated": ended}
    elif container.started is None:
        state = {"waiting": {"reason": container.waiting, "message": container.message}}
    else:
        state = {"running": {"startedAt": since}}
    return {
        "name": container.spec["name"],
        "image": container.spec.get("image", ""),
        "imageID": "",
        "ready": container.ready,
        "started": container.started is not None and container.ended is None,
        "restartCount": container.restarts,
        "state": state,
    }


def _init_status(spec: dict[str, Any], since: str) -> dict[str, Any]:
    # Nothing happens in an init container here; a sidecar (restartPolicy Always) counts as running.
    sidecar = spec.get("restartPolicy") == "Always"
    ended = {"exitCode": 0, "reason": "Completed", "startedAt": since, "finishedAt": since}
    return {
        "name": spec["name"],
        "image": spec.get("image", ""),
        "imageID": "",
        "ready": True,
        "started": sidecar,
        "restartCount": 0,
        "state": {"running": {"startedAt": since}} if sidecar else {"terminated": ended},
    }
