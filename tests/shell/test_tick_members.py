"""Who is a member: by the ledger, never by a label alone."""

from __future__ import annotations

from tests.shell.job import MANAGER, SET, Job
from tests.shell.releases import CONFIG, namespace, web


def test_labels_that_controllers_copy_make_nobody_a_member() -> None:
    job = Job()
    job.release(namespace("front"), web("blue"))
    job.run()
    assert job.plan().warnings == ()
    assert job.tick().plan is None


def test_an_object_with_the_sets_label_that_the_ledger_does_not_name_is_told_and_left() -> None:
    job = Job()
    job.release(CONFIG % "red")
    job.run()
    metadata = {"name": "x", "namespace": "default", "labels": {"trapeze.dev/set": SET}}
    job.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}, MANAGER)
    report = job.tick()
    assert report.plan is not None
    assert "ConfigMap default/x is left alone" in report.plan.warnings[0]
    assert job.get("ConfigMap", "default/x") is not None


def test_a_lost_ledger_is_begun_anew_and_prunes_again_later() -> None:
    job = Job()
    job.release(CONFIG % "red", (CONFIG % "red").replace("settings", "more"))
    job.run()
    job.store.delete("shop")
    job.restart()
    assert job.run() == []
    job.release(CONFIG % "red")
    assert job.run() == ["delete ConfigMap default/more"]


def test_a_standing_revision_that_cannot_be_read_any_more_does_not_stop_the_next() -> None:
    job = Job()
    first = job.release(CONFIG % "red")
    job.run()
    job.git.unreadable.add(first)
    job.release(CONFIG % "blue")
    assert job.run() == ["update ConfigMap default/settings"]
