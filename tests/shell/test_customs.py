"""Custom objects that leave: before their controller, and told where a group move would lose them."""

from __future__ import annotations

from tests.shell.job import Job, reasons
from tests.shell.releases import labelled, namespace
from tests.shell.test_storage import definition, thing

OBJECT = """\
apiVersion: example.com/v1
kind: Thing
metadata: {name: one, namespace: default, finalizers: [example.com/clean]}
"""
MOVED = definition("v1").replace("example.com", "example.org")
CONTROLLER = (namespace("front"), labelled("app: web"))


def freed(job: Job, name: str) -> None:
    """What the controller does: it takes the finalizer off."""
    live = job.get("Thing.example.com", f"default/{name}")
    assert live is not None
    resource = next(r for kind, r in job.world.discover().resources.items() if kind.kind == "Thing")
    job.world.replace(resource, {**live, "metadata": {**live["metadata"], "finalizers": []}})


def test_a_controller_goes_after_the_objects_whose_finalizers_it_takes_off() -> None:
    job = Job()
    job.release(definition("v1"), OBJECT, *CONTROLLER)
    job.run()
    job.release(definition("v1"), namespace("front"))
    report = job.hold(5)
    assert report.plan is not None
    said = reasons(report.plan, "delete Deployment front/web")
    assert "Thing.example.com default/one has finalizer example.com/clean" in said
    assert job.get("Deployment.apps", "front/web") is not None
    freed(job, "one")
    written = job.run()
    assert "delete Deployment front/web" in written


def test_objects_of_others_keep_the_controller_of_a_definition_that_leaves() -> None:
    job = Job(allow=frozenset({"CustomResourceDefinition.apiextensions.k8s.io"}))
    job.release(definition("v1"), *CONTROLLER)
    job.run()
    body = {**thing("theirs"), "apiVersion": "example.com/v1"}
    job.apply({**body, "metadata": {**body["metadata"], "finalizers": ["example.com/clean"]}})
    job.release(namespace("front"))
    report = job.hold(5)
    assert report.plan is not None
    crd = reasons(report.plan, "delete CustomResourceDefinition things.example.com")
    assert "1 object of Thing.example.com would go with it" in crd
    assert "default/theirs has finalizer" in reasons(report.plan, "delete Deployment front/web")


def test_a_kind_that_moves_to_another_group_is_told_as_a_loss_of_its_objects() -> None:
    job = Job()
    job.release(definition("v1"))
    job.run()
    for number in range(2):
        job.apply({**thing(f"t{number}"), "apiVersion": "example.com/v1"})
    job.release(MOVED)
    (said,) = [text for text in job.plan().warnings if "becomes" in text]
    assert said.startswith("Thing.example.com becomes Thing.example.org: its 2 objects are not carried over")
    job.hold(5)
    assert job.get("Thing.example.com", "default/t0") is not None
