"""What a tick makes of the cluster's documents: objects that do not fit have no steps, the others go on."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.model import Severity
from agent.errors import Forbidden
from agent.shell.embedded import EmbeddedCluster
from tests.core.validation.bad import CONFIG, DEFINITION, LAMP
from tests.shell.faults import Call, Hooked
from tests.shell.job import Job

WATTS = "watts: 5"


def with_lamp(job: Job, lamp: str) -> None:
    """The definition stands in the cluster before a set brings a lamp and something else."""
    job.release(DEFINITION)
    job.tick()
    job.release(lamp, CONFIG, DEFINITION)


def test_an_object_that_the_server_would_refuse_has_no_step_and_the_others_go_on() -> None:
    job = Job()
    with_lamp(job, LAMP.replace(WATTS, "watts: 5, wats: 6"))
    report = job.tick()
    assert report.plan is not None
    (finding,) = report.plan.findings
    assert finding.severity is Severity.OBJECT
    assert "Lamp.shop.example default/one: spec.wats is no field of this kind; did you mean watts?" in str(
        finding
    )
    assert "create ConfigMap default/web" in job.written
    assert [key for key in job.written if "Lamp" in key] == []


def test_an_object_that_fits_is_made() -> None:
    job = Job()
    with_lamp(job, LAMP)
    report = job.tick()
    assert report.plan is not None
    assert report.plan.findings == ()
    assert [key for key in job.written if "Lamp" in key] == ["create Lamp.shop.example default/one"]


def test_documents_that_cannot_be_read_are_told_and_the_tables_stand_in() -> None:
    def wrap(cluster: EmbeddedCluster) -> Hooked:
        def hook(call: Call, do: Any) -> Any:
            if call.method == "openapi":
                raise Forbidden("no rule allows it")
            return do()

        return Hooked(cluster, hook)

    job = Job(wrap=wrap)
    job.release(CONFIG)
    plan = job.plan()
    (finding,) = plan.findings
    assert finding.severity is Severity.WARNING
    assert "the shipped tables stand in: no rule allows it" in finding.message
    assert [step.key for step in plan.steps] == ["create ConfigMap default/web"]


@pytest.mark.parametrize("live", [True, False], ids=["equal", "absent"])
def test_a_version_that_is_not_served_is_told_once_with_those_that_are(*, live: bool) -> None:
    job = Job()
    job.release(DEFINITION)
    job.tick()
    if live:
        job.release(DEFINITION, LAMP)
        job.run()
    job.release(DEFINITION, LAMP.replace("shop.example/v1", "shop.example/v2"))
    report = job.hold(2)
    (error,) = report.errors
    says = "apiVersion is shop.example/v2, which the server does not serve; use shop.example/v1"
    assert error.partition("): ")[2] == f"Lamp.shop.example default/one: {says}"
    assert report.plan is not None
    assert report.plan.steps == ()


def test_a_version_that_the_same_release_brings_is_waited_for() -> None:
    job = Job()
    job.release(DEFINITION, LAMP)
    job.run()
    second = "- {name: v2, served: true, storage: false, schema: {openAPIV3Schema: SCHEMA}}\n  - name: v1\n"
    more = second.replace("SCHEMA", "{type: object, x-kubernetes-preserve-unknown-fields: true}")
    lamp = LAMP.replace("shop.example/v1", "shop.example/v2")
    job.release(DEFINITION.replace("- name: v1\n", more), lamp, lamp.replace("name: one", "name: two"))
    assert job.run()[-1] == "create Lamp.shop.example default/two"


@pytest.mark.parametrize("holder", ["people", ""])
def test_a_field_that_lacks_in_git_is_no_fault_where_another_manager_holds_it(holder: str) -> None:
    job = Job()
    job.release(DEFINITION)
    job.tick()
    job.release(DEFINITION, LAMP)
    job.run()
    if holder:
        named = {"name": "one", "namespace": "default"}
        lamp = {"apiVersion": "shop.example/v1", "kind": "Lamp", "metadata": named, "spec": {"watts": 5}}
        job.apply(lamp, holder)
    job.release(DEFINITION, LAMP.replace(f"{WATTS}, colour: red", "colour: green"))
    report = job.tick()
    assert report.plan is not None
    told = [str(finding).partition("): ")[2] for finding in report.plan.findings]
    assert told == ([] if holder else ["Lamp.shop.example default/one: spec lacks watts; add it"])
    live = job.get("Lamp.shop.example", "default/one")
    assert live is not None
    assert (live["spec"]["watts"], live["spec"]["colour"]) == (5, "green" if holder else "red")
