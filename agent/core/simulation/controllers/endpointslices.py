"""EndpointSlices: which pods a Service selects, and which of them may be sent requests.

https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/#conditions
"""

from __future__ import annotations

from collections.abc import Iterable
from json import dumps
from typing import Any, Final

from agent.core.model import Body, GroupKind, ObjectId
from agent.core.simulation.controllers.common import (
    FINISHED,
    POD,
    Controller,
    children,
    is_deleting,
    is_ready,
    letters,
    owner_reference,
)
from agent.core.simulation.draft import Draft
from agent.core.simulation.serving import SERVICE_NAME
from agent.core.simulation.tables import dig
from agent.core.simulation.world import NEVER, Event

SLICE: Final = GroupKind("discovery.k8s.io", "EndpointSlice")
HEADLESS: Final = "service.kubernetes.io/headless"


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
    pieces = children(draft, service["metadata"]["uid"], SLICE.kind)
    return any(
        row["targetRef"]["name"] == pod.name for _, piece in pieces for row in piece.get("endpoints") or ()
    )


def sync(draft: Draft, key: ObjectId) -> float:
    """Write the slices of a Service that selects pods."""
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
    """One slice for each set of port numbers that the pods come to; an empty one where there is no pod.

    staging/src/k8s.io/endpointslice/reconciler.go: slices of ports that are gone are used again.
    """
    groups: dict[str, tuple[list[Body], list[Body]]] = {}
    for pod in pods:
        ports = _ports(service, pod)
        groups.setdefault(dumps(ports), (ports, []))[1].append(pod)
    pieces = sorted(children(draft, service["metadata"]["uid"], SLICE.kind))
    by_ports = {dumps(body["ports"]): key for key, body in pieces}
    free = [key for key, body in pieces if dumps(body["ports"]) not in groups]
    always = bool(service["spec"].get("publishNotReadyAddresses"))
    for words, (ports, mine) in (groups or {"": ([], [])}).items():
        key = by_ports.get(words) or (free.pop(0) if free else _new_key(draft, service))
        before = draft.get(key)
        body = {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": SLICE.kind,
            "metadata": _metadata(service, key.name) if before is None else _relabelled(service, before),
            "addressType": "IPv4",
            "endpoints": [_endpoint(pod, always=always) for pod in mine],
            "ports": ports,
        }
        draft.put(key, body)
    for key in free:
        draft.drop(key)


def _new_key(draft: Draft, service: Body) -> ObjectId:
    metadata = service["metadata"]
    # The version is another one for each write, so that no two names are one.
    name = f"{metadata['name']}-{letters(draft.version * 7919)}"
    return ObjectId(*SLICE, metadata["namespace"], name)


def _relabelled(service: Body, before: Body) -> Body:
    metadata: Body = before["metadata"]
    labels = _labels(service)
    return metadata if metadata["labels"] == labels else metadata | {"labels": labels}


def _labels(service: Body) -> Body:
    headless = {HEADLESS: ""} if service["spec"].get("clusterIP") == "None" else {}
    return {
        **(service["metadata"].get("labels") or {}),
        **headless,
        SERVICE_NAME: service["metadata"]["name"],
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }


def _metadata(service: Body, name: str) -> Body:
    return {
        "name": name,
        "generateName": f"{service['metadata']['name']}-",
        "namespace": service["metadata"]["namespace"],
        "labels": _labels(service),
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


def _ports(service: Body, pod: Body) -> list[Body]:
    rows = []
    for port in service["spec"].get("ports") or ():
        number = _number(port.get("targetPort", port["port"]), pod)
        if number is not None:
            rows.append(
                {"name": port.get("name", ""), "port": number, "protocol": port.get("protocol", "TCP")}
            )
    return rows


def _number(target: Any, pod: Body) -> int | None:
    """A named port is looked up in the pod's containers."""
    if isinstance(target, int):
        return target
    for container in pod["spec"]["containers"]:
        for port in container.get("ports") or ():
            if port.get("name") == target:
                return int(port["containerPort"])
    return None


CONTROLLER: Final = Controller("endpointslice", calls, sync)
