"""Entries that stand twice in a list with merge keys: told with their place, and left out of the plan."""

from __future__ import annotations

import pytest

from agent.core.model import Severity
from tests.core.upgrades import release, told, upgrade

POD = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {a: "1"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web, env: [{name: A, value: "1"}, {name: A, value: "2"}]}]}
"""
ONCE = POD.replace(', {name: A, value: "2"}', "")


def test_object_with_an_entry_twice_is_left_out_and_nothing_is_taken_away() -> None:
    made = upgrade(ONCE, POD.replace('a: "1"', 'a: "2"'))
    plan = made.plan()
    (finding,) = plan.findings
    assert finding.severity is Severity.OBJECT
    assert str(finding) == (
        "release.yaml:7 (document 2): Deployment shop/web:"
        " spec.template.spec.containers[web].env[A] stands twice in its list;"
        " keep one of the two: of entries with one key the server takes none"
    )
    assert told(plan) == ["update ConfigMap shop/settings"]
    assert not made.situation.desired.is_complete


def test_new_object_with_an_entry_twice_is_not_made() -> None:
    plan = upgrade("", POD).plan()
    assert [step.key for step in plan.steps] == ["create ConfigMap shop/settings"]
    assert len(plan.findings) == 1


def test_base_with_an_entry_twice_is_compared_like_any_other() -> None:
    """The API server took it once, with a warning; Git mends it now (kubernetes/kubernetes#58477)."""
    plan = upgrade(POD, ONCE).plan()
    assert told(plan) == ["update Deployment shop/web"]
    assert plan.findings == ()


SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: "
INGRESS = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web}\nspec: {rules: "
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, finalizers: "
DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: as.x.y}
spec:
  group: x.y
  scope: Cluster
  names: {kind: A, plural: as}
  versions: [{name: v1, additionalPrinterColumns: [{name: Age, type: date}, {name: Age, type: date}]}]
"""


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (SERVICE + "[{port: 53, protocol: UDP}, {port: 53}]}", ""),
        (SERVICE + "[{port: 53, protocol: TCP}, {port: 53, name: again}]}", "spec.ports[53,TCP]"),
        (CONFIG + "[x/y, a/b, x/y]}", "metadata.finalizers[x/y]"),
        # Atomic for the server: hosts and columns may stand twice (tektoncd/triggers has such a column).
        (INGRESS + "[{host: h}, {host: h}]}", ""),
        (DEFINITION, ""),
    ],
)
def test_what_counts_as_twice(text: str, path: str) -> None:
    assert release(text).findings == ()
    found = [finding.message.partition(": ")[2] for finding in upgrade("", text).plan().findings]
    assert found == ([f"{path} stands twice in its list"] if path else [])
