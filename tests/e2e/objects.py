"""Identities and states of Calico's objects that tests speak of."""

from __future__ import annotations

from agent.core.model import Body, GroupKind, ObjectId

STORED_POLICY = GroupKind("crd.projectcalico.org", "NetworkPolicy")
DENY_BLOCKS = "projectcalico.org/v3/NetworkPolicy calico-system/allow-tigera.default-deny"
DENY_STORED = ObjectId(*STORED_POLICY, "calico-system", "allow-tigera.default-deny")
API_SERVICE = ObjectId("apiregistration.k8s.io", "APIService", "", "v3.projectcalico.org")
BINDING = ObjectId(
    "rbac.authorization.k8s.io", "ClusterRoleBinding", "", "calico-apiserver-access-calico-crds"
)
NEW = "calico-system"
SERVER = "apiserver=true"


def subjects(body: Body) -> set[str]:
    """The namespaces of a binding's subjects."""
    return {subject["namespace"] for subject in body["subjects"]}


def points_at(body: Body) -> str:
    """The namespace that an APIService leads to."""
    return str(body["spec"]["service"]["namespace"])


def is_ready(pod: Body) -> bool:
    """Whether a pod says that it is ready."""
    conditions = (pod.get("status") or {}).get("conditions") or []
    return any(row["type"] == "Ready" and row["status"] == "True" for row in conditions)
