"""Fields that are not what their kind has: one clear error, nothing of it applied, nothing pruned by it."""

from __future__ import annotations

import pytest

from agent.core.policy import PODS
from tests.shell.job import POLICY, Job
from tests.shell.releases import CONFIG, binding, ingress, namespace, server, web

WRONG = [
    (
        server("default").replace("selector: {app: api}", "selector: api"),
        "Service default/api: spec.selector",
    ),
    (server("default").replace("ports: [{port: 443, targetPort: 8443}]", "ports: 443"), "spec.ports"),
    (server("default").replace("labels: {app: api}", "labels: [app]"), "spec.template.metadata.labels"),
    (binding("old").replace("subjects: [{", "subjects: {").replace("}]", "}"), "subjects"),
    (binding("old").replace("subjects: [", "subjects: [nobody, "), "subjects[0]"),
    (ingress("default/web").replace("service: {name: web, port: {number: 80}}", "service: web"), "service"),
    (web("blue").replace("containers: [{name: web,", "containers: [web, {name: web,"), "containers[0]"),
]


@pytest.mark.parametrize(("text", "place"), WRONG, ids=[place for _, place in WRONG])
def test_a_wrong_shape_is_one_error_with_its_place(text: str, place: str) -> None:
    job = Job()
    job.release(namespace("front"), CONFIG % "red", CONFIG.replace("settings", "old") % "red")
    job.run()
    job.release(namespace("front"), CONFIG % "blue", text)
    report = job.hold(2)
    said = [error for error in report.errors if place in error]
    assert len(said) == 1
    assert "3.yaml:" in said[0]
    assert "update ConfigMap default/settings" in job.written
    assert job.get("ConfigMap", "default/old") is not None


def test_every_kind_that_makes_pods_has_the_shapes_of_a_template() -> None:
    for row in POLICY.tables.pod_templates:
        kind, _, group = row.kind[0].partition(".")
        rows = POLICY.of(PODS._replace(group=group, kind=kind)).shapes
        assert "spec.containers" in {placed.row.path for placed in rows}
