"""Both directions of one object, by name and by labels, in three forms."""

from __future__ import annotations

import pytest

from agent.build import kinds_of
from agent.core.explain import Explanation, explain, find
from agent.core.model import ObjectId
from agent.core.render import explained, explained_json, explained_markdown
from tests.core.casefiles import shipped
from tests.core.upgrades import release

RELEASE = """
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      serviceAccountName: runner
      containers: [{name: web, image: web, envFrom: [{secretRef: {name: db}}]}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: runner}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: other}
spec: {selector: {matchLabels: {app: other}}}
"""
BODIES = {key: manifest.body for key, manifest in release(RELEASE).manifests.items()}


def of(kind: str, name: str) -> Explanation:
    (key,) = find(BODIES, kinds_of(), kind, name)
    return explain(BODIES, shipped(), key)


def test_workload_names_by_name_and_is_named_by_labels() -> None:
    found = of("Deployment", "shop/web")
    assert [(link.says, link.field, link.is_there) for link in found.names] == [
        ("ServiceAccount shop/runner", "spec.template.spec", True),
        ("Secret shop/db", "spec.template.spec.containers[web].envFrom[0].secretRef", False),
    ]
    assert [(str(link.holder), link.field) for link in found.named_by] == [
        ("Service shop/web", "spec.selector")
    ]


def test_service_leads_to_the_workload_and_is_led_to_by_the_ingress() -> None:
    found = of("services", "web")
    assert [list(map(str, link.ids)) for link in found.names] == [["Deployment shop/web"]]
    assert [str(link.holder) for link in found.named_by] == ["Ingress shop/web"]


def test_what_only_others_name() -> None:
    found = explain(BODIES, shipped(), ObjectId("", "Secret", "shop", "db"))
    assert not found.is_there
    assert [str(link.holder) for link in found.named_by] == ["Deployment shop/web"]
    assert explained(found).startswith("Secret shop/db (is not there)\n")


@pytest.mark.parametrize(
    "kind", ["Deployment", "deployment", "deployments", "Deployment.apps", "deployments.apps"]
)
def test_spellings_of_a_kind(kind: str) -> None:
    assert [str(key) for key in find(BODIES, kinds_of(), kind, "web")] == ["Deployment shop/web"]


def test_another_kind_or_name_is_nobody() -> None:
    assert find(BODIES, kinds_of(), "StatefulSet", "web") == ()
    assert find(BODIES, kinds_of(), "Deployment", "other/web") == ()


def test_three_forms() -> None:
    found = of("Service", "web")
    assert explained(found) == (
        "Service shop/web\n\nnames\n  pods app=web in shop: Deployment shop/web  spec.selector\n"
        "\nnamed by\n  Ingress shop/web  spec.defaultBackend\n"
    )
    assert "| `Ingress shop/web` | `spec.defaultBackend` |" in explained_markdown(found)
    shown = explained_json(found)
    assert shown["names"][0]["objects"] == [
        {"group": "apps", "kind": "Deployment", "namespace": "shop", "name": "web"}
    ]
    assert (shown["there"], shown["namedBy"][0]["holder"]["kind"]) == (True, "Ingress")
