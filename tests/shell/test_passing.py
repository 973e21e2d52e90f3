"""A Job that its TTL takes away is done: it is not made again until Git changes it."""

from __future__ import annotations

from agent.core.model import ObjectId
from agent.shell.cluster import Resource
from agent.shell.report import State
from tests.shell.job import Job

ONCE = """
apiVersion: batch/v1
kind: Job
metadata: {name: certificates, namespace: default}
spec:
  %s
  template:
    metadata: {annotations: {standin.dev/run-for: "1"}}
    spec:
      restartPolicy: Never
      containers: [{name: make, image: "standin/http:%s"}]
"""
WITH_TTL = "ttlSecondsAfterFinished: 0"
ID = ObjectId("batch", "Job", "default", "certificates")


def take_away(job: Job) -> None:
    """Delete the Job as somebody does by hand."""
    resource: Resource = job.world.discover().resources[ID.group_kind]
    live = job.get("Job.batch", "default/certificates")
    assert live is not None
    metadata = live["metadata"]
    job.world.delete(resource, ID, uid=metadata["uid"], resource_version=metadata["resourceVersion"])
    job.world.advance(2)


def test_job_gone_by_its_ttl_is_not_made_again_until_git_changes_it() -> None:
    job = Job()
    job.release(ONCE % (WITH_TTL, "v1"))
    assert job.run() == ["create Job default/certificates"]
    job.world.advance(5)
    assert job.get("Job.batch", "default/certificates") is None, "its time to live is over"
    report = job.tick()
    assert (report.state, report.outcomes) == (State.IN_SERVICE, ())
    assert job.tick().plan is None, "the next tick looks at metadata only"
    job.release(ONCE % (WITH_TTL, "v2"))
    assert job.run() == ["create Job default/certificates"]


def test_job_without_ttl_that_somebody_deletes_is_made_again() -> None:
    job = Job()
    job.release(ONCE % ("backoffLimit: 1", "v1"))
    job.run()
    take_away(job)
    assert job.run() == ["create Job default/certificates"]
