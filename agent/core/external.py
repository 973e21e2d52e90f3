"""Services that are a name for another one.

Source: kubernetes.io/docs/concepts/services-networking/service (type ExternalName).
"""

from __future__ import annotations

from typing import Final

from agent.core.model import Body, GroupKind
from agent.core.targets import Target

_SERVICE: Final = GroupKind("", "Service")


def external_name(service: Body) -> str:
    """The name that the Service stands for, or empty where it is no ExternalName."""
    spec = service.get("spec") or {}
    return str(spec.get("externalName") or "") if spec.get("type") == "ExternalName" else ""


def named_service(name: str) -> Target | None:
    """The Service of the cluster that a DNS name leads to (``web.shop.svc.cluster.local``), or None."""
    parts = name.rstrip(".").split(".")
    if parts[2:3] != ["svc"]:
        return None
    return Target(_SERVICE, parts[1], parts[0])
