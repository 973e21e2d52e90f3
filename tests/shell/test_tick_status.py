"""What the ledger tells of a set that is not in service: each thing that waits, and why."""

from __future__ import annotations

import pytest

from agent.errors import SourceError
from agent.shell.report import State
from tests.shell.job import Job
from tests.shell.releases import CONFIG, ingress, namespace, web


def test_a_refused_revision_is_told_until_it_is_mended() -> None:
    job = Job()
    job.release(CONFIG % "red")
    job.run()
    refused = job.release(CONFIG % "red", CONFIG % "blue")
    assert job.tick().state is State.REFUSED
    hold = job.ledger().holds[f"revision {refused}"]
    assert "1.yaml" in hold.reason
    assert hold.since > 0
    job.release(CONFIG % "green")
    job.run()
    assert job.ledger().holds == {}


def test_a_revision_that_cannot_be_read_is_told_until_it_is_mended() -> None:
    """Issue 4, cases/36: an empty folder, and the status said that all was well."""
    job = Job()
    job.release(CONFIG % "red")
    job.run()
    emptied = job.release()
    job.git.unreadable.add(emptied)
    with pytest.raises(SourceError):
        job.tick()
    assert "does not exist at" in job.ledger().holds[f"revision {emptied}"].reason
    assert job.get("ConfigMap", "default/settings") is not None
    job.release(CONFIG % "green")
    job.run()
    assert job.ledger().holds == {}


def test_a_release_that_only_waits_to_be_ready_says_for_what() -> None:
    job = Job()
    job.release(namespace("front"), web("blue", knobs="standin.dev/never-ready: 'true'"))
    job.hold(5)
    assert "Deployment front/blue: 0 of 2 replicas" in job.ledger().holds["generation 1"].reason


def test_endpoints_wanted_are_those_of_the_workload_not_of_what_it_made() -> None:
    job = Job()
    job.release(namespace("front"), web("blue"), ingress("front/blue"))
    job.run()
    slow = web("green", knobs="standin.dev/ready-after: '5'")
    job.release(namespace("front"), slow, ingress("front/green"))
    job.hold(3)
    cutover = next(step for step in job.plan().steps if step.key == "cutover Ingress front/front")
    assert "2 endpoints of Service front/green ready" in [gate.wants for gate in cutover.gates]
