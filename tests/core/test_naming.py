"""Who names whom, for kinds that projects bring: one line a kind."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.model import Body
from agent.core.references import uses
from agent.core.targets import pointers_of
from tests.core.casefiles import shipped

ROUTE = "gateway.networking.k8s.io/v1"
NAMED: list[tuple[str, str, Any, set[str]]] = [
    (
        "cert-manager.io/v1",
        "Certificate",
        {"secretName": "tls", "issuerRef": {"name": "ca"}},
        {"Secret n/tls", "Issuer.cert-manager.io n/ca"},
    ),
    (
        "cert-manager.io/v1",
        "Certificate",
        {"issuerRef": {"name": "ca", "kind": "ClusterIssuer"}},
        {"ClusterIssuer.cert-manager.io ca"},
    ),
    ("cert-manager.io/v1", "Issuer", {"ca": {"secretName": "root"}}, {"Secret n/root"}),
    (
        ROUTE,
        "Gateway",
        {"gatewayClassName": "g", "listeners": [{"tls": {"certificateRefs": [{"name": "c"}]}}]},
        {"GatewayClass g", "Secret n/c"},
    ),
    (
        ROUTE,
        "HTTPRoute",
        {
            "parentRefs": [{"name": "g", "namespace": "edge"}],
            "rules": [{"backendRefs": [{"name": "web", "port": 80}]}],
        },
        {"Gateway edge/g", "Service n/web"},
    ),
    ("keda.sh/v1alpha1", "ScaledObject", {"scaleTargetRef": {"name": "w"}}, {"Deployment n/w"}),
    (
        "keda.sh/v1alpha1",
        "ScaledObject",
        {"scaleTargetRef": {"name": "w", "kind": "StatefulSet"}},
        {"StatefulSet n/w"},
    ),
    (
        "autoscaling.k8s.io/v1",
        "VerticalPodAutoscaler",
        {"targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "w"}},
        {"Deployment n/w"},
    ),
    (
        "monitoring.coreos.com/v1",
        "Prometheus",
        {
            "serviceAccountName": "p",
            "secrets": ["s"],
            "alerting": {"alertmanagers": [{"name": "am", "namespace": "m"}]},
        },
        {"ServiceAccount n/p", "Secret n/s", "Service m/am"},
    ),
    (
        "tekton.dev/v1",
        "Pipeline",
        {"tasks": [{"taskRef": {"name": "t"}}, {"taskRef": {"name": "c", "kind": "ClusterTask"}}]},
        {"Task.tekton.dev n/t", "ClusterTask.tekton.dev c"},
    ),
    ("argoproj.io/v1alpha1", "Rollout", {"strategy": {"blueGreen": {"activeService": "a"}}}, {"Service n/a"}),
    ("kueue.x-k8s.io/v1beta1", "LocalQueue", {"clusterQueue": "q"}, {"ClusterQueue.kueue.x-k8s.io q"}),
    ("v1", "PersistentVolume", {"claimRef": {"name": "c", "namespace": "m"}}, {"PersistentVolumeClaim m/c"}),
]


def body(api_version: str, kind: str, spec: Any) -> Body:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "x", "namespace": "n"},
        "spec": spec,
    }


@pytest.mark.parametrize(("api_version", "kind", "spec", "names"), NAMED, ids=range(len(NAMED)))
def test_what_it_names(api_version: str, kind: str, spec: Any, names: set[str]) -> None:
    found = uses(body(api_version, kind, spec), shipped())
    assert {str(reference.target) for reference in found} == names


def test_certificate_makes_its_secret_and_does_not_need_it() -> None:
    found = uses(body("cert-manager.io/v1", "Certificate", {"secretName": "s"}), shipped())
    assert [reference.grants for reference in found] == [True]


def test_backend_of_a_route_is_a_pointer() -> None:
    route = body(ROUTE, "HTTPRoute", {"rules": [{"backendRefs": [{"name": "web"}]}]})
    assert [str(pointer.target) for pointer in pointers_of(route, shipped())] == ["Service n/web"]
