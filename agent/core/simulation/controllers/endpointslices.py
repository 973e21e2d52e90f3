"""EndpointSlices: which pods a Service selects, and which of them may be sent requests.

https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/#conditions
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from agent.core.model import Body, ObjectId
from agent.core.simulation.controllers.common import (
    FINISHED,
    POD,
    Controller,
    is_deleting,
    is_ready,
    letters,
    owner_reference,
)
from agent.core.simulation.draft import Draft
from agent.core.simulation.serving import SERVICE_NAME
from agent.core.simulation.tables import dig
from agent.core.simulation.world import NEVER, Event


def calls(draft: Draft, event: Event) -> Iterable[ObjectId]:
    """A Service's own writes; a pod concerns the Services that select it and those that did."""
    if event.id.group_kind == ("", "Service"):
        return [event.id]
    if event.id.group_kind != POD:
        return ()
    return [
        key
        for key, service in draft.of("", "Service").items()
        if key.namespace == event.id.namespace
        and (_selects(service, event.body) or _has(draft, service, event.id))
    ]


def _selects(service: Body, pod: Body) -> bool:
    selector = service["spec"].get("selector")
    return bool(selector) and selector.items() <= (pod["metadata"].get("labels") or {}).items()


def _has(draft: Draft, service: Body, pod: ObjectId) -> bool:
    piece = draft.get(_slice_key(service)) or {}
    return any(row["targetRef"]["name"] == pod.name for row in piece.get("endpoints") or ())


def _slice_key(service: Body) -> ObjectId:
    metadata = service["metadata"]
    name = f"{metadata['name']}-{letters(int(metadata['uid'][:8], 16))}"
    return ObjectId("discovery.k8s.io", "EndpointSlice", metadata["namespace"], name)


def sync(draft: Draft, key: ObjectId) -> float:
    """Write the slice of a Service that selects pods."""
    service = draft.get(key)
    if service is None or is_deleting(service) or not service["spec"].get("selector"):
        return NEVER
    if service["spec"].get("type") == "ExternalName":
        return NEVER
    pods = [
        pod
        for pod_key, pod in sorted(draft.of("", "Pod").items())
        if pod_key.namespace == key.namespace
        and _selects(service, pod)
        and dig(pod, ("status", "podIP"))
        and dig(pod, ("status", "phase")) not in FINISHED
    ]
    _write(draft, service, pods)
    return NEVER


def _write(draft: Draft, service: Body, pods: list[Body]) -> None:
    key = _slice_key(service)
    before = draft.get(key)
    always = bool(service["spec"].get("publishNotReadyAddresses"))
    body = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": before["metadata"] if before else _metadata(service, key.name),
        "addressType": "IPv4",
        "endpoints": [_endpoint(pod, always=always) for pod in pods],
        "ports": _ports(service, pods),
    }
    draft.put(key, body)


def _metadata(service: Body, name: str) -> Body:
    return {
        "name": name,
        "generateName": f"{service['metadata']['name']}-",
        "namespace": service["metadata"]["namespace"],
        "labels": {
            **(service["metadata"].get("labels") or {}),
            SERVICE_NAME: service["metadata"]["name"],
            "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        },
        "ownerReferences": [owner_reference(service)],
    }


def _endpoint(pod: Body, *, always: bool) -> Body:
    serving, terminating = is_ready(pod), is_deleting(pod)
    return {
        "addresses": [pod["status"]["podIP"]],
        "conditions": {
            "ready": always or (serving and not terminating),
            "serving": serving,
            "terminating": terminating,
        },
        "nodeName": pod["spec"].get("nodeName", ""),
        "targetRef": {
            "kind": "Pod",
            "name": pod["metadata"]["name"],
            "namespace": pod["metadata"]["namespace"],
            "uid": pod["metadata"]["uid"],
        },
    }


def _ports(service: Body, pods: list[Body]) -> list[Body]:
    rows = []
    for port in service["spec"].get("ports") or ():
        number = _number(port.get("targetPort", port["port"]), pods)
        if number is not None:
            rows.append(
                {"name": port.get("name", ""), "port": number, "protocol": port.get("protocol", "TCP")}
            )
    return rows


def _number(target: Any, pods: list[Body]) -> int | None:
    """A named port is looked up in the pods' containers."""
    if isinstance(target, int):
        return target
    for pod in pods:
        for container in pod["spec"]["containers"]:
            for port in container.get("ports") or ():
                if port.get("name") == target:
                    return int(port["containerPort"])
    return None


CONTROLLER: Final = Controller("endpointslice", calls, sync)
