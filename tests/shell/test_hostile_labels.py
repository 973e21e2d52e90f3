"""Pods that get other labels in place, behind a Service that selects by them."""

from __future__ import annotations

import pytest

from agent.core.yamlread import read_documents
from tests.shell.job import reasons
from tests.shell.judged import Judged
from tests.shell.releases import ingress, namespace, web

FRONT = namespace("front")


def service(labels: str) -> str:
    return f"""\
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: front}}
spec: {{selector: {{{labels}}}, ports: [{{port: 80, targetPort: 8080}}]}}
"""


def workload(version: str, name: str = "web") -> str:
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: front}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: web, name: {name}}}}}
  template:
    metadata: {{labels: {{app: web, name: {name}, version: {version}}}}}
    spec: {{containers: [{{name: c, image: "standin/http:{version}"}}]}}
"""


def test_a_selector_that_moves_with_the_labels_of_its_pods_keeps_endpoints_all_through() -> None:
    old = (FRONT, service("app: web, version: v1"), workload("v1"))
    written = Judged(old, (FRONT, service("app: web, version: v2"), workload("v2"))).run()
    assert written == ["widen Service front/web", "update Deployment front/web", "cutover Service front/web"]


def test_a_rollout_that_takes_the_pods_from_their_service_is_held_with_the_way_out() -> None:
    old = (FRONT, service("version: v1"), workload("v1"))
    judged = Judged(old, (FRONT, service("version: v2"), workload("v2")))
    judged.job.hold(10)
    reason = reasons(judged.job.plan(), "update Deployment front/web")
    assert "Service front/web selects its pods by version=v1" in reason
    assert "allow_downtime: [Deployment front/web]" in reason
    assert judged.verdict().broken == ()


def test_labels_in_common_that_would_let_in_other_pods_are_not_used() -> None:
    other = workload("v0", name="canary")
    old = (FRONT, service("app: web, version: v1"), workload("v1"), other)
    judged = Judged(old, (FRONT, service("app: web, version: v2"), workload("v2"), other))
    assert judged.job.hold(10).outcomes == ()
    assert judged.verdict().broken == ()


def tiered(name: str, *, labels: str = "") -> str:
    """A web application whose pods have more labels than its own Service selects by."""
    plain = f"labels: {{app: {name}}}, annotations"
    return web(name).replace(plain, f"labels: {{app: {name}{labels}}}, annotations")


TIER = """\
apiVersion: v1
kind: Service
metadata: {name: tier, namespace: front}
spec: {selector: {tier: shop}, ports: [{port: 80, targetPort: 8080}]}
"""


@pytest.mark.parametrize("pointer", [(), (ingress("front/tier"),)], ids=["alone", "behind an Ingress"])
def test_a_service_that_leaves_with_the_labels_it_selects_by_goes_before_them(
    pointer: tuple[str, ...],
) -> None:
    old = (FRONT, tiered("blue", labels=", tier: shop"), TIER, *pointer)
    judged = Judged(old, (FRONT, tiered("blue")))
    plan = judged.job.plan()
    step = next(step for step in plan.steps if step.id.kind == "Deployment")
    assert reasons(plan, step.key) == (
        "selected: Service front/tier selects its pods by tier=shop; Service front/tier goes first"
    )
    written = judged.run()
    assert written.index("delete Service front/tier") < written.index(step.key)
    live = judged.job.get("Deployment.apps", "front/blue")
    assert live is not None
    assert live["spec"]["template"]["metadata"]["labels"] == {"app": "blue"}


def test_a_service_that_somebody_else_names_stays_with_the_labels_that_it_selects_by() -> None:
    judged = Judged((FRONT, tiered("blue", labels=", tier: shop"), TIER), (FRONT, tiered("blue")))
    judged.job.apply(next(iter(read_documents(ingress("front/tier").encode(), "x").documents)).body)
    judged.job.hold(10)
    assert "used by Ingress front/front" in reasons(judged.job.plan(), "delete Service front/tier")
    assert judged.verdict().broken == ()
