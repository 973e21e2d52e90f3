"""A new definition stands before who converts its objects: that is often the controller of its very kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.core.model import Reason
from tests.shell.faults import Call, Hooked
from tests.shell.job import Job, reasons
from tests.shell.releases import namespace, server

CRD = "cutover CustomResourceDefinition widgets.example.test"
DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.test}
spec:
  group: example.test
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget}
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {service: {name: api, namespace: hooks, port: 443, path: /convert}}
  versions:
  - {name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
"""
WIDGETS = """\
apiVersion: example.test/v1
kind: Widget
metadata: {name: old-style, namespace: hooks}
---
apiVersion: example.test/v2
kind: Widget
metadata: {name: as-stored, namespace: hooks}
"""
LABELS = {"hooks.example.test/conversion": "yes"}


def definition(job: Job) -> dict[str, Any]:
    body = job.get("CustomResourceDefinition.apiextensions.k8s.io", "widgets.example.test")
    assert body is not None
    return dict(body["spec"])


def test_definition_is_made_first_and_converts_once_its_webhook_serves() -> None:
    job = Job()
    job.release(namespace("hooks"), DEFINITION, server("hooks"), WIDGETS)
    job.tick()
    first = definition(job)
    assert first.get("conversion", {"strategy": "None"}) == {"strategy": "None"}
    assert {row["name"]: row["served"] for row in first["versions"]} == {"v1": False, "v2": True}
    plan = job.plan()
    assert "0 of 2 endpoints ready" in reasons(plan, CRD)
    (change,) = [change for change in plan.changes if change.id.kind == "CustomResourceDefinition"]
    assert {one.reason for one in change.fields} == {Reason.GIT}
    written = job.run()
    final = definition(job)
    assert final["conversion"]["webhook"]["clientConfig"]["service"]["name"] == "api"
    assert all(row["served"] for row in final["versions"])
    assert written.index("create Widget.example.test hooks/as-stored") < written.index(CRD)
    assert written.index(CRD) < written.index("create Widget.example.test hooks/old-style")
    assert job.plan().steps == ()


def test_object_in_a_version_that_is_not_served_yet_says_what_it_waits_for() -> None:
    job = Job()
    job.release(namespace("hooks"), DEFINITION, server("hooks", knobs="standin.dev/never-ready: ''"), WIDGETS)
    job.hold(10)
    why = reasons(job.plan(), "create Widget.example.test hooks/old-style")
    assert "widgets.example.test does not serve version v1 yet" in why
    assert job.get("Widget.example.test", "hooks/as-stored") is not None


def test_pods_that_get_their_labels_at_run_time_open_the_cutover() -> None:
    """A manager that labels its own pods once it leads: no template says so."""
    job = Job()
    selector = "hooks.example.test/conversion: 'yes'"
    job.release(
        namespace("hooks"),
        DEFINITION,
        server("hooks").replace("app: api}\n  ports", f"{selector}}}\n  ports"),
    )
    job.hold(10)
    assert "no workload makes pods" in reasons(job.plan(), CRD)
    pods = [key.name for key in job.world.world.of("", "Pod") if key.namespace == "hooks"]
    for name in pods:
        metadata = {"name": name, "namespace": "hooks", "labels": LABELS}
        job.apply({"apiVersion": "v1", "kind": "Pod", "metadata": metadata}, "longhorn-manager")
    assert CRD in job.run()


def test_definition_whose_webhook_serves_already_is_made_whole() -> None:
    job = Job()
    job.release(namespace("hooks"), server("hooks"))
    job.run()
    job.release(namespace("hooks"), server("hooks"), DEFINITION)
    written = job.run()
    assert written == ["create CustomResourceDefinition widgets.example.test"]
    assert definition(job)["conversion"]["strategy"] == "Webhook"


def test_preview_shows_both_halves() -> None:
    job = Job()
    job.release(namespace("hooks"), DEFINITION, server("hooks"))
    steps = [step for step in job.plan().steps if step.id.kind == "CustomResourceDefinition"]
    assert [step.key for step in steps] == ["create CustomResourceDefinition widgets.example.test", CRD]
    assert not steps[1].is_open


def test_a_document_that_cannot_be_read_does_not_hold_what_points_at_nothing_yet() -> None:
    job = Job()
    job.release(namespace("hooks"), DEFINITION, server("hooks"), "kind: [")
    job.hold(10)
    assert definition(job)["conversion"]["strategy"] == "Webhook"


def test_a_bundle_that_does_not_fit_holds_no_conversion_that_is_new() -> None:
    """A release with a placeholder for a bundle, which its controller replaces once the pointer stands."""

    def hook(call: Call, do: Callable[[], Any]) -> Any:
        return "unable to get local issuer certificate" if call.method == "verify_serving" else do()

    job = Job(wrap=lambda cluster: Hooked(cluster, hook))
    bundle = "caBundle: cGxhY2Vob2xkZXI=, service: {name: api"
    job.release(namespace("hooks"), DEFINITION.replace("service: {name: api", bundle), server("hooks"))
    assert CRD in job.run()
    assert definition(job)["conversion"]["webhook"]["clientConfig"]["caBundle"] == "cGxhY2Vob2xkZXI="
