"""Whether a pod fits on the node: room for so many pods, host ports, node labels."""

from typing import Any

CAPACITY = 200


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
    return None


def host_ports(pod: dict[str, Any]) -> set[tuple[str, int]]:
    """Return protocol and number of each port of the host that a pod takes."""
    on_host = pod["spec"].get("hostNetwork", False)
    rows = [row for container in pod["spec"]["containers"] for row in container.get("ports") or []]
    numbers = [
        (row.get("protocol", "TCP"), row.get("hostPort") or (on_host and row["containerPort"]))
        for row in rows
    ]
    return {(protocol, int(number)) for protocol, number in numbers if number}
