"""Manifests of the scenarios, as JSON documents (which are YAML)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

READY_LATE: Mapping[str, str] = {"standin.dev/ready-after": "8"}
"""A new version takes its time: long enough for anything that does not wait to be seen."""
READY: Mapping[str, str] = {"standin.dev/ready-after": "1"}

Labels = Mapping[str, str]


def doc(api: str, kind: str, path: str, **rest: Any) -> str:
    """A document; ``path`` is ``namespace/name``, or ``name`` where there is no namespace."""
    namespace, _, name = path.rpartition("/")
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {}) | rest.pop("meta", {})
    return json.dumps({"apiVersion": api, "kind": kind, "metadata": metadata, **rest})


def namespace(name: str) -> str:
    """A Namespace."""
    return doc("v1", "Namespace", name)


def account(path: str) -> str:
    """A ServiceAccount."""
    return doc("v1", "ServiceAccount", path)


def service(path: str, selector: Labels, **spec: Any) -> str:
    """A Service of port 443."""
    ports = [{"name": "https", "port": 443, "targetPort": 8443}]
    return doc("v1", "Service", path, spec={"selector": selector, "ports": ports, **spec})


def template(labels: Labels, knobs: Labels, account_name: str = "default", **spec: Any) -> dict[str, Any]:
    """A pod template of one container."""
    container = {"name": "main", "image": "example.org/app:1", "ports": [{"containerPort": 8443}]}
    container |= spec.pop("container", {})
    return {
        "metadata": {"labels": labels, "annotations": knobs},
        "spec": {"serviceAccountName": account_name, "containers": [container], **spec},
    }


def deployment(
    path: str,
    labels: Labels,
    *,
    pods: Labels | None = None,
    knobs: Labels = READY,
    replicas: int = 2,
    **of: Any,
) -> str:
    """A Deployment that selects ``labels``; its pods carry ``pods`` where they carry more than that."""
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": template(pods or labels, knobs, **of),
    }
    return doc("apps/v1", "Deployment", path, spec=spec)


def daemon_set(path: str, labels: Labels, strategy: str = "RollingUpdate", **of: Any) -> str:
    """A DaemonSet."""
    spec = {
        "selector": {"matchLabels": labels},
        "template": template(labels, of.pop("knobs", READY), **of),
        "updateStrategy": {"type": strategy},
    }
    return doc("apps/v1", "DaemonSet", path, spec=spec)


RBAC = "rbac.authorization.k8s.io"


def rule(verbs: str, group: str, resources: str) -> dict[str, list[str]]:
    """A rule; words are separated by blanks."""
    return {"verbs": verbs.split(), "apiGroups": [group], "resources": resources.split()}


def cluster_role(name: str, *rules: Mapping[str, Any], **meta: Any) -> str:
    """A ClusterRole."""
    return doc(f"{RBAC}/v1", "ClusterRole", name, rules=list(rules), meta=meta)


def cluster_binding(name: str, role: str, *subjects: str, **meta: Any) -> str:
    """A ClusterRoleBinding of ServiceAccounts, ``namespace/name`` each."""
    told = [
        dict(zip(("kind", "namespace", "name"), ("ServiceAccount", *s.split("/")), strict=True))
        for s in subjects
    ]
    ref = {"apiGroup": RBAC, "kind": "ClusterRole", "name": role}
    return doc(f"{RBAC}/v1", "ClusterRoleBinding", name, roleRef=ref, subjects=told, meta=meta)


def api_server(
    where: str, group: str, knobs: Labels = READY, labels: Labels | None = None
) -> tuple[str, ...]:
    """An aggregated API server of ``group`` v1 with account, delegated rights and Service, all ``api``."""
    chosen = labels or {"app": "api"}
    reader = {"apiGroup": RBAC, "kind": "Role", "name": "extension-apiserver-authentication-reader"}
    subject = {"kind": "ServiceAccount", "namespace": where, "name": "api"}
    flags = [f"--group={group}", "--version=v1", "--resource=books:Book:namespaced"]
    container = {"image": "standin/apiserver:1", "args": [*flags, *STORED]}
    return (
        account(f"{where}/api"),
        doc(f"{RBAC}/v1", "RoleBinding", f"kube-system/{where}", roleRef=reader, subjects=[subject]),
        cluster_binding(f"{where}-delegates", "system:auth-delegator", f"{where}/api"),
        service(f"{where}/api", chosen),
        deployment(f"{where}/api", chosen, knobs=knobs, account_name="api", container=container),
    )


STORED: Final = ("--storage-group=library.example", "--storage-version=v1")
"""Where aggregated servers keep their objects: in a custom kind."""


def _client(path: str, bundle: str = "Q0E=") -> dict[str, Any]:
    namespace_name, _, name = path.rpartition("/")
    found: dict[str, Any] = {"service": {"namespace": namespace_name, "name": name, "port": 443}}
    return found | ({"caBundle": bundle} if bundle else {})


def api_service(name: str, path: str) -> str:
    """An APIService ``version.group`` behind a Service."""
    version, _, group = name.partition(".")
    target = _client(path)["service"]
    spec = {
        "group": group,
        "version": version,
        "groupPriorityMinimum": 1000,
        "versionPriority": 10,
        "insecureSkipTLSVerify": True,
        "service": target,
    }
    return doc("apiregistration.k8s.io/v1", "APIService", name, spec=spec)


def webhook(name: str, path: str, resources: str, bundle: str = "Q0E=", **more: Any) -> str:
    """A ValidatingWebhookConfiguration of one webhook that fails closed; an empty ``bundle`` is left out."""
    rules = [
        {
            "operations": ["CREATE", "UPDATE"],
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "resources": resources.split(),
        }
    ]
    hook = {
        "name": f"{name}.example.org",
        "clientConfig": _client(path, bundle),
        "rules": rules,
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **more,
    }
    return doc("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", name, webhooks=[hook])


def injected_bundle(name: str) -> str:
    """What a CA injector writes of a webhook configuration: its bundle alone."""
    hook = {"name": f"{name}.example.org", "clientConfig": {"caBundle": "Q0E="}}
    return doc("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", name, webhooks=[hook])


def crd(kind: str, versions: str = "v1", *, convert: str = "", scope: str = "Namespaced") -> str:
    """A CustomResourceDefinition of library.example; of ``versions`` the last one is stored."""
    names = versions.split()
    plural = f"{kind.lower()}s"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    rows = [{"name": n, "served": True, "storage": n == names[-1], "schema": schema} for n in names]
    spec: dict[str, Any] = {
        "group": "library.example",
        "scope": scope,
        "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
        "versions": rows,
    }
    if convert:
        hook = {"clientConfig": _client(convert), "conversionReviewVersions": ["v1"]}
        spec["conversion"] = {"strategy": "Webhook", "webhook": hook}
    return doc("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{plural}.library.example", spec=spec)


def book(path: str, version: str = "v1") -> str:
    """An object of the kind Book."""
    return doc(f"library.example/{version}", "Book", path, spec={"pages": 412})


def config(path: str, **data: str) -> str:
    """A ConfigMap."""
    return doc("v1", "ConfigMap", path, data=data)
