"""Where pods find their place: node labels, room for so many pods, host ports, what is asked of the machine.

https://kubernetes.io/docs/concepts/scheduling-eviction/kube-scheduler/. Taints, spreading and priorities are
not looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Final, TypeAlias

from agent.core.model import Body, ObjectId
from agent.core.quantity import amount
from agent.core.simulation.controllers.common import FINISHED, POD, Controller, conditions, is_deleting
from agent.core.simulation.draft import Draft
from agent.core.simulation.selectors import selects
from agent.core.simulation.tables import dig, put
from agent.core.simulation.world import NEVER, Event

Port: TypeAlias = tuple[str, int]
"""Protocol and number of a port of the host."""

NO_LABELS: Final = "node(s) didn't match Pod's node affinity/selector."
NO_ROOM: Final = "Too many pods."
NO_PORT: Final = "node(s) didn't have free ports for the requested pod ports."


def calls(draft: Draft, event: Event) -> Iterable[ObjectId]:
    """A pod's own writes; what makes room concerns all that wait for a place."""
    if event.id.group_kind == POD:
        if event.type != "DELETED" and dig(event.body, ("status", "phase")) not in FINISHED:
            return () if event.body["spec"].get("nodeName") else [event.id]
        return _waiting(draft)
    return _waiting(draft) if event.id.kind == "Node" else ()


def _waiting(draft: Draft) -> list[ObjectId]:
    return [key for key, pod in draft.of("", "Pod").items() if not pod["spec"].get("nodeName")]


def sync(draft: Draft, key: ObjectId) -> float:
    """Bind a pod to the first node that has a place, or write why none has."""
    pod = draft.get(key)
    if pod is None or pod["spec"].get("nodeName") or is_deleting(pod) or pod["spec"].get("schedulingGates"):
        return NEVER
    nodes = draft.of("", "Node")
    lacks: Counter[str] = Counter()
    for node_key, node in nodes.items():
        lack = _lack(draft, pod, node)
        if not lack:
            draft.put(key, put(pod, ("spec", "nodeName"), node_key.name))
            draft.mark(pod["metadata"]["uid"], "bound", draft.now)
            return NEVER
        lacks[lack] += 1
    why = ", ".join(f"{count} {lack}" for lack, count in sorted(lacks.items()))
    words = f"0/{len(nodes)} nodes are available: {why}"
    rows = conditions(draft, pod, {"PodScheduled": (False, "Unschedulable", words)})
    draft.put(key, pod | {"status": {"phase": "Pending", "conditions": rows}})
    return NEVER


def _lack(draft: Draft, pod: Body, node: Body) -> str:
    """What this node lacks for the pod, or empty."""
    if not fits(pod["spec"], node):
        return NO_LABELS
    name = node["metadata"]["name"]
    standing = [
        one["spec"]
        for one in draft.of("", "Pod").values()
        if one["spec"].get("nodeName") == name and dig(one, ("status", "phase")) not in FINISHED
    ]
    room = dig(node, ("status", "allocatable")) or {}
    if len(standing) >= int(room.get("pods", 110)):
        return NO_ROOM
    ports = set(host_ports(pod["spec"]))
    if ports and any(ports & set(host_ports(one)) for one in standing):
        return NO_PORT
    for resource in ("cpu", "memory"):
        asked, limit = requested(pod["spec"], resource), amount(room.get(resource))
        if asked and limit is not None and asked + sum(requested(one, resource) for one in standing) > limit:
            return f"Insufficient {resource}."
    return ""


def fits(spec: Body, node: Body) -> bool:
    """Whether a node has the labels that a pod's nodeSelector and required affinity ask for."""
    labels = node["metadata"].get("labels") or {}
    wanted = spec.get("nodeSelector") or {}
    path = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
    terms = dig(spec, path)
    return bool(wanted.items() <= labels.items()) and (
        not terms
        or any(selects({"matchExpressions": term.get("matchExpressions")}, labels) for term in terms)
    )


def host_ports(spec: Body) -> Iterator[Port]:
    """The ports of its node that a pod takes."""
    for container in spec["containers"]:
        for row in container.get("ports") or ():
            number = row.get("hostPort") or (spec.get("hostNetwork") and row["containerPort"])
            if number:
                yield row.get("protocol", "TCP"), int(number)


def requested(spec: Body, resource: str) -> Decimal:
    """How much of a machine's resource a pod asks for: its containers together."""
    asked = (dig(one, ("resources", "requests", resource)) for one in spec["containers"])
    return sum((amount(one) or Decimal(0) for one in asked if one is not None), Decimal(0))


CONTROLLER: Final = Controller("scheduler", calls, sync)
