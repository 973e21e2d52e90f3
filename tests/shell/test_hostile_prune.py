"""Removals that would take along what is wanted or foreign, and removals that wait for each other."""

from __future__ import annotations

from tests.shell.job import Job, reasons
from tests.shell.releases import namespace, web

FRONT = namespace("front")


def test_a_namespace_that_left_git_alone_is_kept_while_wanted_objects_stand_in_it() -> None:
    job = Job(allow=frozenset({"Namespace"}))
    job.release(FRONT, web("blue"))
    job.run()
    job.release(web("blue"))
    job.hold()
    assert "Deployment front/blue is there" in reasons(job.plan(), "delete Namespace front")
    assert job.get("Deployment.apps", "front/blue") is not None


def test_a_namespace_is_kept_while_something_made_anew_under_our_label_stands_in_it() -> None:
    job = Job(allow=frozenset({"Namespace"}))
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"by": "an operator"}}
    job.release(FRONT, web("blue"))
    job.run()
    labels = {"trapeze.dev/set": "shop"}
    job.apply({**settings, "metadata": {"name": "theirs", "namespace": "front", "labels": labels}})
    job.release(namespace("other"))
    job.hold(40)
    assert "ConfigMap front/theirs is there" in reasons(job.plan(), "delete Namespace front")
    assert job.get("ConfigMap", "front/theirs") is not None
