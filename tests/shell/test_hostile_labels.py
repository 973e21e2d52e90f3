"""Pods that get other labels in place, behind a Service that selects by them."""

from __future__ import annotations

from tests.shell.job import reasons
from tests.shell.judged import Judged
from tests.shell.releases import namespace

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
