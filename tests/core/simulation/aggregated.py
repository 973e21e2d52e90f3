"""The cutover of an aggregated API server as objects: two generations, one shared binding, one pointer.

Shaped as tigera/operator #5143 found it: the old server in its own namespace, the new one in another, both
storing under one binding, and the APIService that moves between them.
"""

from __future__ import annotations

from agent.core.model import Body
from tests.core.simulation.lab import RBAC, Lab, binding, named

AUTH_READER = "extension-apiserver-authentication-reader"
OLD, NEW = ("old-system", "old-apiserver"), ("new-system", "new-apiserver")
POLICY = "networkpolicies"

STORAGE = named(
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
    f"{POLICY}.crd.example.dev",
    spec={
        "group": "crd.example.dev",
        "scope": "Namespaced",
        "names": {"kind": "NetworkPolicy", "plural": POLICY},
        "versions": [{"name": "v1", "served": True, "storage": True}],
    },
)
VERBS = ["get", "list", "watch", "create", "update", "patch", "delete"]
RULES = [{"apiGroups": ["crd.example.dev"], "resources": [POLICY], "verbs": VERBS}]
ROLE = named(f"{RBAC}/v1", "ClusterRole", "storage-access", rules=RULES)


def shared(*accounts: tuple[str, str]) -> Body:
    """The binding that both generations share by name: who may use the storage."""
    return binding("storage-access", "storage-access", *accounts)


def pointer(account: tuple[str, str]) -> Body:
    """The APIService, pointing at one generation's Service."""
    spec = {
        "group": "example.dev",
        "version": "v3",
        "groupPriorityMinimum": 1500,
        "versionPriority": 200,
        "service": {"namespace": account[0], "name": "api", "port": 443},
    }
    return named("apiregistration.k8s.io/v1", "APIService", "v3.example.dev", spec=spec)


def own(account: tuple[str, str], **knobs: str) -> list[Body]:
    """What one generation has for itself: namespace, account, delegated rights, server, Service."""
    space, name = account
    subject = {"kind": "ServiceAccount", "name": name, "namespace": space}
    role_ref = {"apiGroup": RBAC, "kind": "Role", "name": AUTH_READER}
    reader = named(
        f"{RBAC}/v1",
        "RoleBinding",
        f"{name}-auth-reader",
        "kube-system",
        subjects=[subject],
        roleRef=role_ref,
    )
    ports = [{"port": 443, "targetPort": 5443}]
    return [
        named("v1", "Namespace", space),
        named("v1", "ServiceAccount", name, space),
        binding(f"{name}-delegate", "system:auth-delegator", account),
        reader,
        _server(account, knobs),
        named("v1", "Service", "api", space, spec={"selector": {"apiserver": name}, "ports": ports}),
    ]


def _server(account: tuple[str, str], knobs: dict[str, str]) -> Body:
    space, name = account
    flags = ["--group=example.dev", "--version=v3", f"--resource={POLICY}:NetworkPolicy:namespaced"]
    probe = {"httpGet": {"path": "/readyz", "port": 5443, "scheme": "HTTPS"}, "periodSeconds": 1}
    container = {
        "name": "server",
        "image": "standin/apiserver:1",
        "args": [*flags, "--storage-group=crd.example.dev", "--storage-version=v1"],
        "ports": [{"containerPort": 5443}],
        "readinessProbe": {**probe, "failureThreshold": 1},
    }
    annotations = {f"standin.dev/{key.replace('_', '-')}": value for key, value in knobs.items()}
    template = {
        "metadata": {"labels": {"apiserver": name}, "annotations": annotations},
        "spec": {"serviceAccountName": name, "containers": [container]},
    }
    spec = {"replicas": 2, "selector": {"matchLabels": {"apiserver": name}}, "template": template}
    return named("apps/v1", "Deployment", name, space, spec=spec)


def in_service() -> Lab:
    """A cluster in which the old generation serves the group."""
    lab = Lab()
    lab.apply(STORAGE, ROLE, shared(OLD), *own(OLD))
    lab.advance(5)
    lab.apply(pointer(OLD))
    lab.advance(5)
    assert lab.condition(pointer(OLD), "Available") == ("True", "Passed")
    assert lab.reply(pointer(OLD)).is_right
    return lab
