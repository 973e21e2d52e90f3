"""EndpointSlices: which pods a Service selects, and which of them may be sent requests.

https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/#conditions
"""

from __future__ import annotations

from typing import Any, Final

from agent.core.model import Body, GroupKind, ObjectId
from agent.core.simulation.controllers.common import (
    FINISHED,
    Controller,
    is_deleting,
    is_ready,
    letters,
    owner_reference,
)
from agent.core.simulation.serving import SERVICE_NAME
from agent.core.simulation.tables import dig
from agent.core.simulation.world import NEVER, Draft


def step(draft: Draft) -> float:
    """Write the slice of every Service that selects pods."""
    pods: dict[str, list[Body]] = {}
    for key, pod in sorted(draft.of("", "Pod").items()):
        if dig(pod, ("status", "podIP")) and dig(pod, ("status", "phase")) not in FINISHED:
            pods.setdefault(key.namespace, []).append(pod)
    for key, service in list(draft.of("", "Service").items()):
        selector = service["spec"].get("selector")
        if selector and service["spec"].get("type") != "ExternalName" and not is_deleting(service):
            wanted = selector.items()
            chosen = [
                pod
                for pod in pods.get(key.namespace, ())
                if wanted <= (pod["metadata"].get("labels") or {}).items()
            ]
            _write(draft, service, chosen)
    return NEVER


def _write(draft: Draft, service: Body, pods: list[Body]) -> None:
    metadata = service["metadata"]
    name = f"{metadata['name']}-{letters(int(metadata['uid'][:8], 16))}"
    key = ObjectId("discovery.k8s.io", "EndpointSlice", metadata["namespace"], name)
    before = draft.get(key)
    always = bool(service["spec"].get("publishNotReadyAddresses"))
    body = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": before["metadata"] if before else _metadata(service, name),
        "addressType": "IPv4",
        "endpoints": [_endpoint(pod, always=always) for pod in pods],
        "ports": _ports(service, pods),
    }
    draft.put(key, body)


def _metadata(service: Body, name: str) -> Body:
    return {
        "name": name,
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


CONTROLLER: Final = Controller(
    "endpointslice", frozenset({GroupKind("", "Pod"), GroupKind("", "Service")}), step
)
