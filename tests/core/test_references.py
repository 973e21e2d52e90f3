"""Who names whom: kinds by the tables, both ways, and what serves behind a pointer."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.model import Body, ObjectId, path_text
from agent.core.policy import PODS, id_of
from agent.core.references import Graph, uses
from agent.core.selectors import Requirement
from agent.core.targets import Target
from tests.core.casefiles import shipped


def body(api_version: str, kind: str, name: str, **rest: Any) -> Body:
    namespace = rest.pop("namespace", "n")
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}


RBAC = "rbac.authorization.k8s.io"
POD_SPEC: Body = {
    "serviceAccountName": "runner",
    "imagePullSecrets": [{"name": "pull"}],
    "initContainers": [{"name": "i", "envFrom": [{"configMapRef": {"name": "init"}}]}],
    "containers": [
        {
            "name": "c",
            "envFrom": [{"secretRef": {"name": "env-secret"}}],
            "env": [
                {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "key", "key": "k"}}},
                {"name": "B", "valueFrom": {"secretKeyRef": {"name": "key-secret", "key": "k"}}},
            ],
        }
    ],
    "volumes": [
        {"name": "a", "configMap": {"name": "mounted"}},
        {"name": "b", "secret": {"secretName": "mounted-secret"}},
        {"name": "c", "persistentVolumeClaim": {"claimName": "claim"}},
        {
            "name": "d",
            "projected": {"sources": [{"configMap": {"name": "p"}}, {"secret": {"name": "p-secret"}}]},
        },
    ],
}
NEEDED = {
    "ServiceAccount n/runner",
    "Secret n/pull",
    "ConfigMap n/init",
    "Secret n/env-secret",
    "ConfigMap n/key",
    "Secret n/key-secret",
    "ConfigMap n/mounted",
    "Secret n/mounted-secret",
    "PersistentVolumeClaim n/claim",
    "ConfigMap n/p",
    "Secret n/p-secret",
}


def deployment(name: str, spec: Body, labels: dict[str, str]) -> Body:
    template = {"metadata": {"labels": labels}, "spec": spec}
    return body("apps/v1", "Deployment", name, spec={"template": template})


@pytest.mark.parametrize(
    "holder",
    [
        body("v1", "Pod", "x", spec=POD_SPEC),
        deployment("x", POD_SPEC, {}),
        body("batch/v1", "CronJob", "x", spec={"jobTemplate": {"spec": {"template": {"spec": POD_SPEC}}}}),
    ],
)
def test_what_a_pod_needs(holder: Body) -> None:
    assert {str(reference.target) for reference in uses(holder, shipped())} == NEEDED


MONITORED = {
    "basicAuth": {"password": {"name": "password", "key": "k"}},
    "tlsConfig": {"ca": {"configMap": {"name": "authority", "key": "k"}}, "keySecret": {"name": "key"}},
}
MIRRORED = {
    "backendRefs": [{"name": "web", "port": 80}],
    "filters": [{"type": "RequestMirror", "requestMirror": {"backendRef": {"name": "copy", "port": 80}}}],
}
CONFIGURED = [
    (
        body("gateway.networking.k8s.io/v1", "HTTPRoute", "x", spec={"rules": [MIRRORED]}),
        {"Service n/web", "Service n/copy"},
    ),
    (
        body("monitoring.coreos.com/v1", "ServiceMonitor", "x", spec={"endpoints": [MONITORED]}),
        {"Secret n/password", "ConfigMap n/authority", "Secret n/key"},
    ),
    (deployment("x", {"containers": []}, {}), {"ServiceAccount n/default"}),
    (
        body(
            f"{RBAC}/v1",
            "RoleBinding",
            "x",
            roleRef={"apiGroup": RBAC, "kind": "Role", "name": "r"},
            subjects=[
                {"kind": "ServiceAccount", "name": "s", "namespace": "other"},
                {"kind": "User", "name": "u"},
            ],
        ),
        {"Role n/r", "ServiceAccount other/s"},
    ),
    (
        body(
            f"{RBAC}/v1",
            "ClusterRoleBinding",
            "x",
            namespace="",
            roleRef={"apiGroup": RBAC, "kind": "ClusterRole", "name": "r"},
        ),
        {"ClusterRole r"},
    ),
    (
        body(
            "networking.k8s.io/v1",
            "Ingress",
            "x",
            spec={
                "ingressClassName": "c",
                "tls": [{"secretName": "t"}],
                "defaultBackend": {"service": {"name": "d"}},
                "rules": [{"http": {"paths": [{"path": "/", "backend": {"service": {"name": "w"}}}]}}],
            },
        ),
        {"IngressClass c", "Secret n/t", "Service n/d", "Service n/w"},
    ),
    (
        body(
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            "x",
            spec={"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}},
        ),
        {"Deployment n/d"},
    ),
    (
        body(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            "x",
            namespace="",
            spec={"conversion": {"webhook": {"clientConfig": {"service": {"name": "h", "namespace": "m"}}}}},
        ),
        {"Service m/h"},
    ),
    (
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": "x",
                "namespace": "n",
                "ownerReferences": [{"apiVersion": "v1", "kind": "Secret", "name": "o", "uid": "u"}],
            },
        },
        {"Secret n/o"},
    ),
]


@pytest.mark.parametrize(("holder", "names"), CONFIGURED, ids=range(len(CONFIGURED)))
def test_what_objects_name(holder: Body, names: set[str]) -> None:
    assert {str(reference.target) for reference in uses(holder, shipped())} == names


EVERY_POD = Target(PODS, "n", "", is_watched=True)


def test_selectors_of_services_budgets_and_policies() -> None:
    service = body("v1", "Service", "x", spec={"selector": {"app": "web"}})
    assert [r.target for r in uses(service, shipped())] == [Target(PODS, "n", "", (("app", "web"),))]
    without = body("v1", "Service", "x", spec={"selector": {}})
    assert uses(without, shipped()) == ()
    everything = body("networking.k8s.io/v1", "NetworkPolicy", "x", spec={"podSelector": {}})
    assert [(r.target, r.grants) for r in uses(everything, shipped())] == [
        (Target(PODS, "n", "", is_watched=True), True)
    ]
    expression = {"key": "tier", "operator": "In", "values": ["a", "b"]}
    budget = body(
        "policy/v1", "PodDisruptionBudget", "x", spec={"selector": {"matchExpressions": [expression]}}
    )
    (reference,) = uses(budget, shipped())
    assert path_text(reference.path) == "spec.selector"
    assert reference.target == Target(
        PODS, "n", "", (), (Requirement("tier", "In", ("a", "b")),), is_watched=True
    )


@pytest.mark.parametrize(
    ("operator", "matching"),
    [
        ("In", [True, False]),
        ("NotIn", [False, True]),
        ("Exists", [True, False]),
        ("DoesNotExist", [False, True]),
    ],
)
def test_requirements(operator: str, matching: list[bool]) -> None:
    selector = Target(PODS, "n", "", (("app", "web"),), (Requirement("tier", operator, ("a",)),))
    labels = [{"app": "web", "tier": "a"}, {"app": "web"}]
    assert [selector.takes("n", one) for one in labels] == matching
    assert not selector.takes("other", labels[0])
    assert not Requirement("tier", "Near", ("a",)).matches({"tier": "a"})


def serving() -> dict[ObjectId, Body]:
    """An APIService with all that serves behind it, and bystanders."""
    objects = [
        body(
            "apiregistration.k8s.io/v1",
            "APIService",
            "v1.a",
            namespace="",
            spec={"service": {"name": "api", "namespace": "n"}},
        ),
        body("v1", "Service", "api", spec={"selector": {"app": "api"}}),
        deployment("api", POD_SPEC, {"app": "api", "more": "x"}),
        deployment("other", {"containers": []}, {"app": "other"}),
        body("v1", "ServiceAccount", "runner"),
        body("v1", "ServiceAccount", "default"),
        body(
            f"{RBAC}/v1",
            "ClusterRoleBinding",
            "api",
            namespace="",
            roleRef={"apiGroup": RBAC, "kind": "ClusterRole", "name": "store"},
            subjects=[
                {"kind": "ServiceAccount", "name": "runner", "namespace": "n"},
                {"kind": "ServiceAccount", "name": "default", "namespace": "n"},
            ],
        ),
        body(f"{RBAC}/v1", "ClusterRole", "store", namespace="", rules=[]),
        body("v1", "ConfigMap", "mounted"),
    ]
    return {id_of(one): one for one in objects}


def test_everything_that_serves_behind_a_pointer() -> None:
    graph = Graph(serving(), shipped())
    names = {str(one) for one in graph.closure(ObjectId("apiregistration.k8s.io", "APIService", "", "v1.a"))}
    assert names == NEEDED | {
        "Service n/api",
        "Deployment n/api",
        "ClusterRoleBinding api",
        "ClusterRole store",
    }


def test_graph_both_ways() -> None:
    graph = Graph(serving(), shipped())
    account = ObjectId("", "ServiceAccount", "n", "runner")
    assert {str(one) for one in graph.users_of(account)} == {"Deployment n/api", "ClusterRoleBinding api"}
    assert {str(one) for one in graph.used_by(ObjectId("", "Service", "n", "api"))} == {"Deployment n/api"}
    assert graph.users_of(ObjectId("", "ServiceAccount", "n", "nobody")) == frozenset()


def test_a_kept_template_names_what_it_needs_and_serves_nothing() -> None:
    labels = {"metadata": {"labels": {"app": "web"}}}
    kept = body("v1", "PodTemplate", "kept", template={**labels, "spec": POD_SPEC})
    service = body("v1", "Service", "web", spec={"selector": {"app": "web"}})
    graph = Graph({id_of(one): one for one in (kept, service)}, shipped())
    assert {str(one) for one in graph.used_by(id_of(kept))} == NEEDED
    assert graph.used_by(id_of(service)) == frozenset()


def test_cluster_scoped_owner_is_found() -> None:
    owner = body("example.test/v1", "Owner", "o", namespace="")
    owned = body("v1", "ConfigMap", "x")
    owned["metadata"]["ownerReferences"] = [{"apiVersion": "example.test/v1", "kind": "Owner", "name": "o"}]
    graph = Graph({id_of(one): one for one in (owner, owned)}, shipped())
    assert graph.users_of(id_of(owner)) == {id_of(owned)}
