"""Storage versions of definitions: rewritten before a version goes, and only then."""

from __future__ import annotations

from agent.core.model import Body, ObjectId
from agent.core.steps import Verb
from tests.shell.faults import Hooked, Kill, Killed
from tests.shell.job import Job, reasons

STEP = "migrate CustomResourceDefinition things.example.com"
NARROW = "narrow CustomResourceDefinition things.example.com"
KEY = ObjectId("apiextensions.k8s.io", "CustomResourceDefinition", "", "things.example.com")


def definition(*versions: str) -> str:
    """The definition of Thing with these versions; the last one is stored."""
    rows = "".join(
        f"""
  - name: {name}
    served: true
    storage: {str(name == versions[-1]).lower()}
    schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}"""
        for name in versions
    )
    return f"""\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: things.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: things, singular: thing, kind: Thing, listKind: ThingList}}
  versions:{rows}
"""


def thing(name: str) -> Body:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "example.com/v1alpha1", "kind": "Thing", "metadata": metadata, "spec": {"n": 1}}


def begun(job: Job, count: int = 3) -> Job:
    """With a definition of v1alpha1 and some of its objects."""
    job.release(definition("v1alpha1"))
    job.run()
    for number in range(count):
        job.apply(thing(f"t{number}"))
    return job


def stored(job: Job) -> list[str]:
    crd = job.world.world.get(KEY)
    assert crd is not None
    return list(crd["status"]["storedVersions"])


def test_a_version_goes_after_every_object_was_rewritten_and_the_status_has_lost_it() -> None:
    job = begun(Job())
    job.release(definition("v1"))
    plan = job.plan()
    assert "3 objects are rewritten" in next(step.says for step in plan.steps if step.verb is Verb.MIGRATE)
    assert "status.storedVersions has v1alpha1" in reasons(plan, NARROW)
    written = job.run()
    assert written.index(STEP) < written.index(NARROW)
    assert stored(job) == ["v1"]
    kept = [body for key, body in job.world.world.objects().items() if key.kind == "Thing"]
    assert [body["apiVersion"] for body in kept] == ["example.com/v1"] * 3
    assert [body["spec"] for body in kept] == [{"n": 1}] * 3


def test_nothing_is_rewritten_where_no_version_goes() -> None:
    job = begun(Job())
    job.release(definition("v1alpha1", "v1"))
    assert not [key for key in job.run() if key.startswith("migrate")]
    assert stored(job) == ["v1alpha1", "v1"]


def test_killed_at_any_write_it_goes_on_to_the_same_end() -> None:
    for is_done in (False, True):
        at = 1
        while True:
            job = begun(Job())
            job.release(definition("v1"))
            job.cluster = Hooked(job.world, Kill(at, is_done))
            job.restart()
            try:
                job.run()
            except Killed:
                job.cluster = job.world
                job.restart()
                job.run()
                at += 1
            else:
                break
            assert stored(job) == ["v1"]
        assert at > len((STEP, NARROW))
