"""Whether a pod fits on the node: room for so many pods, host ports, node labels, cpu and memory."""

from decimal import Decimal
from typing import Any

from agent.core.quantity import amount

CAPACITY = 200
MACHINE = {"cpu": "64", "memory": "256Gi"}


def why_not(
    pod: dict[str, Any], placed: list[dict[str, Any]], capacity: int, labels: dict[str, str]
) -> str | None:
    """Return a scheduler's words for why the pod does not fit; None when it does."""
    prefix = "0/1 nodes are available: 1 "
    selector = pod["spec"].get("nodeSelector") or {}
    if not selector.items() <= labels.items():
        return f"{prefix}node(s) didn't match Pod's node affinity/selector."
    standing = [row for row in placed if row.get("status", {}).get("phase") not in {"Succeeded", "Failed"}]
    if len(standing) >= capacity:
        return f"{prefix}Too many pods."
    taken = {port for row in standing for port in host_ports(row)}
    if taken & host_ports(pod):
        return f"{prefix}node(s) didn't have free ports for the requested pod ports."
    for resource, limit in MACHINE.items():
        asked, there = requested(pod, resource), amount(limit) or Decimal(0)
        if asked and asked + sum(requested(row, resource) for row in standing) > there:
            return f"{prefix}Insufficient {resource}."
    return None


def requested(pod: dict[str, Any], resource: str) -> Decimal:
    """Return how much of the machine the pod's containers ask for together."""
    rows = [row.get("resources", {}).get("requests", {}) for row in pod["spec"]["containers"]]
    return sum((amount(row.get(resource, 0)) or Decimal(0) for row in rows), Decimal(0))


def host_ports(pod: dict[str, Any]) -> set[tuple[str, int]]:
    """Return protocol and number of each port of the host that a pod takes."""
    on_host = pod["spec"].get("hostNetwork", False)
    rows = [row for container in pod["spec"]["containers"] for row in container.get("ports") or []]
    numbers = [
        (row.get("protocol", "TCP"), row.get("hostPort") or (on_host and row["containerPort"]))
        for row in rows
    ]
    return {(protocol, int(number)) for protocol, number in numbers if number}
