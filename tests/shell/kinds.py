"""Kinds and a body that the adapter's tests use."""

from __future__ import annotations

from typing import Any

from agent.core.model import GroupKind, ObjectId
from agent.shell.cluster import Resource

VERBS = frozenset({"get", "list"})
MAPS = Resource(GroupKind("", "ConfigMap"), ("v1",), "configmaps", is_namespaced=True, verbs=VERBS)
SECRETS = Resource(GroupKind("", "Secret"), ("v1",), "secrets", is_namespaced=True, verbs=VERBS)
DEPLOYMENTS = Resource(
    GroupKind("apps", "Deployment"), ("v1",), "deployments", is_namespaced=True, verbs=VERBS
)
WEB = ObjectId("", "ConfigMap", "shop", "web")
WEB_PATH = "/api/v1/namespaces/shop/configmaps/web"
WEB_BODY: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"namespace": "shop", "name": "web"},
    "data": {"a": "1"},
}
