"""What every contract test stands on: one adapter, its clock, and the objects that tests use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from agent.core.model import Body, GroupKind, ObjectId
from agent.errors import NotServed
from agent.shell.cluster import Cluster, Resource

T = TypeVar("T")
STEP = 0.1
MANAGER = "trapeze/contract"
RBAC = "rbac.authorization.k8s.io"


@dataclass
class Bench:
    """One adapter under test. ``advance`` lets seconds pass: really, or in the model.

    ``acting_as`` gives the port of a ServiceAccount (namespace, name) with that account's rights alone;
    ``ca_bundle`` verifies the servers behind APIServices and webhooks (base64).
    """

    cluster: Cluster
    advance: Callable[[float], None]
    acting_as: Callable[[str, str], Cluster]
    ca_bundle: str
    known: dict[GroupKind, Resource] = field(default_factory=dict)

    def resource(self, group: str, kind: str) -> Resource:
        """How the kind is served; asks discovery where it is not known yet. Raises ``NotServed``."""
        wanted = GroupKind(group, kind)
        if wanted not in self.known:
            self.known = dict(self.cluster.discover().resources)
        if wanted not in self.known:
            raise NotServed(f"no {wanted}")
        return self.known[wanted]

    def of(self, body: Body) -> Resource:
        """How the kind of a body is served."""
        group, _, _ = str(body["apiVersion"]).rpartition("/")
        return self.resource(group, str(body["kind"]))

    def apply(self, body: Body, manager: str = MANAGER, *, take_over: bool = False) -> Body:
        """Server-side apply."""
        return self.cluster.apply(self.of(body), body, manager=manager, take_over=take_over)

    def dry_run(self, body: Body, manager: str = MANAGER) -> Body:
        """What apply would answer."""
        return self.cluster.dry_run(self.of(body), body, manager=manager)

    def live(self, body: Body) -> Body | None:
        """The object of this body as it stands now."""
        return self.cluster.get(self.of(body), id_of(body))

    def must(self, body: Body) -> Body:
        """The object of this body, which is there."""
        live = self.live(body)
        assert live is not None, f"{id_of(body)} is gone"
        return live

    def delete(self, live: Body) -> None:
        """Delete exactly this object in this version."""
        metadata = live["metadata"]
        uid, version = metadata["uid"], metadata["resourceVersion"]
        self.cluster.delete(self.of(live), id_of(live), uid=uid, resource_version=version)

    def delete_soon(self, body: Body) -> None:
        """Delete an object that controllers write too: in whatever version it has."""
        uid = self.must(body)["metadata"]["uid"]
        self.cluster.delete(self.of(body), id_of(body), uid=uid, resource_version="")

    def until(self, what: str, look: Callable[[], T | None], seconds: float = 30) -> T:
        """Look ten times a second, by the adapter's own clock, until the answer is truthy."""
        for _ in range(round(seconds / STEP)):
            if found := look():
                return found
            self.advance(STEP)
        raise AssertionError(f"not within {seconds:g} s: {what}")


def id_of(body: Body) -> ObjectId:
    """The identity of a body."""
    group, _, _ = str(body["apiVersion"]).rpartition("/")
    metadata = body["metadata"]
    return ObjectId(group, body["kind"], metadata.get("namespace", ""), metadata["name"])


def named(api_version: str, kind: str, name: str, namespace: str = "", **rest: Any) -> Body:
    """A body with identity and what else is given."""
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}


def namespace(name: str = "shop") -> Body:
    """A namespace."""
    return named("v1", "Namespace", name)


def config_map(name: str = "web", **data: str) -> Body:
    """A ConfigMap in ``shop``."""
    return named("v1", "ConfigMap", name, "shop", data=data)


def binding(*users: str, role: str = "view", name: str = "readers") -> Body:
    """A ClusterRoleBinding; its subjects are a list that belongs to one manager as a whole."""
    subjects = [{"apiGroup": RBAC, "kind": "User", "name": user} for user in users]
    role_ref = {"apiGroup": RBAC, "kind": "ClusterRole", "name": role}
    return named(f"{RBAC}/v1", "ClusterRoleBinding", name, subjects=subjects, roleRef=role_ref)


def deployment(name: str = "web", *, app: str = "web", replicas: int = 1, version: str = "v1") -> Body:
    """A Deployment in ``shop`` of servers that answer every request."""
    container = {"name": "web", "image": f"standin/http:{version}", "ports": [{"containerPort": 8080}]}
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": {"app": app}},
        "template": {"metadata": {"labels": {"app": app}}, "spec": {"containers": [container]}},
    }
    return named("apps/v1", "Deployment", name, "shop", spec=spec)


def service(name: str = "web", *, app: str = "web", target: int = 8080) -> Body:
    """A Service in ``shop``."""
    ports = [{"port": 80, "targetPort": target, "protocol": "TCP"}]
    return named("v1", "Service", name, "shop", spec={"selector": {"app": app}, "ports": ports})


def crd(version: str = "v1") -> Body:
    """A namespaced kind ``Gadget`` of ``example.dev`` that keeps whatever it is given."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    spec = {
        "group": "example.dev",
        "scope": "Namespaced",
        "names": {"kind": "Gadget", "plural": "gadgets", "singular": "gadget", "listKind": "GadgetList"},
        "versions": [{"name": version, "served": True, "storage": True, "schema": schema}],
    }
    return named("apiextensions.k8s.io/v1", "CustomResourceDefinition", "gadgets.example.dev", spec=spec)


def condition(body: Body | None, name: str) -> str:
    """The status of a condition, or empty."""
    conditions = ((body or {}).get("status") or {}).get("conditions") or []
    return next((str(one["status"]) for one in conditions if one["type"] == name), "")
