"""Hand-made histories: bodies as an API server gives them, small, and the events between two states."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agent.core.health import HealthRules
from agent.core.model import SET_LABEL, Body, ObjectId
from agent.core.policy import Policy, id_of
from agent.core.promise import Checker, Verdict
from agent.core.serving import Routes
from agent.core.states import Event
from agent.core.terms import Terms
from agent.shell.policies import shipped_tables

TABLES = shipped_tables()
ROUTES = Routes(Policy.parse(TABLES), HealthRules.parse(TABLES))
RBAC = "rbac.authorization.k8s.io/v1"


def obj(api: str, kind: str, name: str, namespace: str = "", **rest: Any) -> Body:
    """Any object; ``meta`` is added to its metadata, ``uid`` is made of its kind and name."""
    meta: Body = {"name": name, "uid": f"{kind}-{namespace}-{name}", **rest.pop("meta", {})}
    if namespace:
        meta["namespace"] = namespace
    return {"apiVersion": api, "kind": kind, "metadata": meta, **rest}


def meta(body: Body, **more: Any) -> Body:
    """The object with other metadata."""
    return {**body, "metadata": {**body["metadata"], **more}}


def ours(body: Body) -> Body:
    """The object as one of a set of ours."""
    return meta(body, labels={**body["metadata"].get("labels", {}), SET_LABEL: "shop"})


def deleting(body: Body) -> Body:
    return meta(body, deletionTimestamp="2026-01-01T00:00:00Z")


def pod(name: str, owner: str = "rs-1", app: str = "web", **spec: Any) -> Body:
    """A running pod of shop under the ServiceAccount web, labelled for the Service ``app``."""
    owners = [{"uid": owner, "controller": True, "kind": "ReplicaSet", "name": owner}]
    return obj(
        "v1",
        "Pod",
        name,
        "shop",
        meta={"ownerReferences": owners, "labels": {"app": app}},
        spec={"serviceAccountName": "web", **spec},
        status={"phase": "Running"},
    )


def service(name: str = "web", *ports: int) -> Body:
    rows = [{"port": port, "name": f"p{port}"} for port in ports or (80,)]
    return obj("v1", "Service", name, "shop", spec={"ports": rows, "selector": {"app": name}})


def endpoints(name: str, *pods: str, ready: bool = True, ports: Iterable[int] = (80,)) -> Body:
    """The EndpointSlice of a Service: its pods, all ready or none."""
    return obj(
        "discovery.k8s.io/v1",
        "EndpointSlice",
        f"{name}-x",
        "shop",
        meta={"labels": {"kubernetes.io/service-name": name}},
        ports=[{"name": f"p{port}", "port": port} for port in ports],
        endpoints=[
            {
                "addresses": ["10.0.0.1"],
                "conditions": {"ready": ready},
                "targetRef": {"kind": "Pod", "name": each, "uid": f"Pod-shop-{each}"},
            }
            for each in pods
        ],
    )


def api_service(to: str = "web", *, available: bool = True, **spec: Any) -> Body:
    return obj(
        "apiregistration.k8s.io/v1",
        "APIService",
        "v1.example.org",
        spec={"service": {"namespace": "shop", "name": to, "port": 80}, **spec},
        status={
            "conditions": [{"type": "Available", "status": str(available), "reason": "R", "message": "m"}]
        },
    )


def webhook(to: str = "web", name: str = "check", **config: Any) -> Body:
    config = {"service": {"namespace": "shop", "name": to, "port": 80}, **config}
    return obj(
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
        name,
        webhooks=[{"name": f"{name}.example.org", "clientConfig": config}],
    )


def cluster_role(name: str, verbs: str, resources: str = "pods") -> Body:
    rule = {"verbs": verbs.split(), "apiGroups": [""], "resources": resources.split()}
    return obj(RBAC, "ClusterRole", name, rules=[rule])


def binding(name: str, role: str, *subjects: Body) -> Body:
    ref = {"kind": "ClusterRole", "name": role, "apiGroup": "rbac.authorization.k8s.io"}
    return obj(RBAC, "ClusterRoleBinding", name, roleRef=ref, subjects=list(subjects))


def account(name: str) -> Body:
    """A subject: a ServiceAccount of shop."""
    return {"kind": "ServiceAccount", "name": name, "namespace": "shop"}


SA = obj("v1", "ServiceAccount", "web", "shop")
SERVING: tuple[Body, ...] = (
    obj("v1", "Namespace", "shop"),
    SA,
    service(),
    pod("a"),
    pod("b"),
    endpoints("web", "a", "b"),
    cluster_role("reader", "get list"),
    binding("web-reads", "reader", account("web")),
)
"""shop/web: two ready pods that may get and list pods everywhere."""

Step = Body | ObjectId
"""An object as it is from now on, or the identity of one that is deleted."""


def gone(body: Body) -> ObjectId:
    """The object's deletion, as a step."""
    return id_of(body)


def checker(first: Iterable[Body], terms: Terms | None = None) -> Checker:
    return Checker([(id_of(body), body) for body in first], ROUTES, terms, version=100)


def walk(judge: Checker, *steps: Step, version: int = 100) -> Checker:
    """Move on step by step; one version and one second each."""
    for number, step in enumerate(steps, version + 1):
        object_id, body = (step, None) if isinstance(step, ObjectId) else (id_of(step), step)
        judge.step(Event(number, f"2026-01-01T00:00:{number % 60:02}Z", object_id, body))
    return judge


def verdict(first: Iterable[Body], *steps: Step, terms: Terms | None = None) -> Verdict:
    return walk(checker(first, terms), *steps).verdict()


def told(found: Verdict) -> list[str]:
    """What was broken: ``version invariant: subject: story``."""
    return [f"{b.version} {b.invariant}: {b.subject}: {b.story}" for b in found.broken]


def by_id(*bodies: Body) -> dict[ObjectId, Body]:
    return {id_of(body): body for body in bodies}
