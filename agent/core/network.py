"""NetworkPolicies: whether anybody may come in to a pod on a port, as far as objects tell.

https://kubernetes.io/docs/concepts/services-networking/network-policies/: a pod that no policy selects for a
direction is open; one that some select may be reached as the rules of these say, added up. Who the callers of
a Service are no object tells, so that only a port which nobody at all may use counts as shut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from agent.core.model import Body, GroupKind, ObjectId
from agent.core.simulation.selectors import selects

NETWORK_POLICY: Final = GroupKind("networking.k8s.io", "NetworkPolicy")

_TCP: Final = "TCP"


class Door(NamedTuple):
    """A port by which something comes in to a pod: ``service`` names who sends there."""

    service: ObjectId
    pod: ObjectId
    port: int
    protocol: str

    def __str__(self) -> str:
        """``Pod shop/web-0 on port 8080/TCP (Service shop/web)``."""
        return f"{self.pod} on port {self.port}/{self.protocol} ({self.service})"


def directions(spec: Body) -> tuple[str, ...]:
    """The directions in which a policy isolates, as the server fills them in."""
    return tuple(spec.get("policyTypes") or (("Ingress", "Egress") if spec.get("egress") else ("Ingress",)))


def selecting(policies: Iterable[Body], pod: Body, direction: str = "Ingress") -> list[Body]:
    """The policies that isolate a pod in a direction."""
    labels = pod["metadata"].get("labels") or {}
    found = []
    for policy in policies:
        spec = policy.get("spec") or {}
        is_near = policy["metadata"].get("namespace") == pod["metadata"].get("namespace")
        if is_near and direction in directions(spec) and selects(spec.get("podSelector") or {}, labels):
            found.append(policy)
    return found


def doors(service: ObjectId, slices: Iterable[Body]) -> Iterator[Door]:
    """By which ports of which pods the ready endpoints of a Service are reached."""
    for piece in slices:
        for row in piece.get("endpoints") or ():
            target = row.get("targetRef") or {}
            if target.get("kind") != "Pod" or not (row.get("conditions") or {}).get("ready"):
                continue
            pod = ObjectId("", "Pod", target.get("namespace", service.namespace), target["name"])
            for port in piece.get("ports") or ():
                if port.get("port") is not None:
                    yield Door(service, pod, port["port"], port.get("protocol") or _TCP)


def is_shut(door: Door, pod: Body, policies: Iterable[Body]) -> bool:
    """Whether policies isolate the pod and no rule of theirs lets anybody in by this door.

    What runs in the network of its node is no policy's business.
    """
    if (pod.get("spec") or {}).get("hostNetwork"):
        return False
    meant = selecting(policies, pod)
    rules = (rule for policy in meant for rule in (policy.get("spec") or {}).get("ingress") or ())
    return bool(meant) and not any(_lets_in(rule, door, pod) for rule in rules)


def _lets_in(rule: Body, door: Door, pod: Body) -> bool:
    ports = rule.get("ports")
    return not ports or any(_means(port, door, pod) for port in ports)


def _means(port: Body, door: Door, pod: Body) -> bool:
    if (port.get("protocol") or _TCP) != door.protocol:
        return False
    wanted = port.get("port")
    if wanted is None:
        return True
    if isinstance(wanted, str):
        return door.port in _named(pod, wanted, door.protocol)
    return bool(wanted <= door.port <= (port.get("endPort") or wanted))


def _named(pod: Body, name: str, protocol: str) -> list[Any]:
    containers = (pod.get("spec") or {}).get("containers") or ()
    return [
        port["containerPort"]
        for container in containers
        for port in container.get("ports") or ()
        if port.get("name") == name and (port.get("protocol") or _TCP) == protocol
    ]
