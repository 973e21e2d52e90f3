"""Who is a member: by the ledger, never by a label alone."""

from __future__ import annotations

import pytest

from agent.core import deciding
from agent.core.acts import ActKind
from agent.core.ledger import How
from agent.core.model import ObjectId
from agent.core.waiting import waits_for_a_person
from agent.shell.deciding import Decider
from tests.shell.hands import edit
from tests.shell.job import MANAGER, SET, Job, reasons
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


MORE = (CONFIG % "red").replace("settings", "more")


def test_a_lost_ledger_is_rebuilt_and_prunes_nothing_until_a_person_agrees() -> None:
    job = Job()
    first = job.release(CONFIG % "red", MORE)
    job.run()
    before = job.ledger()
    job.store.delete("shop")
    job.restart()
    job.release(CONFIG % "blue")
    report = job.hold(3)
    assert "update ConfigMap default/settings" in job.written
    assert report.plan is not None
    assert "`trapeze approve shop prunes`" in reasons(report.plan, "delete ConfigMap default/more")
    assert waits_for_a_person(report.plan)
    ledger = job.ledger()
    assert [(g.number, g.revision, g.state.value) for g in ledger.generations] == [
        (1, first, "retiring"),
        (2, job.git.head, "rolling-out"),
    ]
    more = ObjectId("", "ConfigMap", "default", "more")
    entry = ledger.entries[more]
    assert (entry.bases, entry.uid) == (before.entries[more].bases, before.entries[more].uid)
    assert [(act.kind, act.reason) for act in ledger.acts] == [
        (ActKind.REBUILD, "2 members found by their labels")
    ]
    Decider(job.tools, SET).decide(lambda found: deciding.agree(found, ""), deciding.agreed)
    assert job.run() == ["delete ConfigMap default/more"]
    assert {one.how for one in job.ledger().entries.values()} == {How.MADE}


def test_one_prune_of_a_rebuilt_ledger_can_be_approved_alone() -> None:
    job = Job()
    job.release(CONFIG % "red", MORE, MORE.replace("more", "most"))
    job.run()
    job.store.delete("shop")
    job.restart()
    job.git.commits.pop(job.git.head)
    job.release(CONFIG % "red")
    job.hold(3)
    job.approve("delete ConfigMap default/more")
    job.hold(3)
    assert job.get("ConfigMap", "default/more") is None
    assert job.get("ConfigMap", "default/most") is not None


def test_what_others_labelled_is_no_member_of_a_rebuilt_ledger() -> None:
    job = Job()
    metadata = {"name": "x", "namespace": "default", "labels": {"trapeze.dev/set": SET}}
    job.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    job.release(CONFIG % "red")
    assert job.run() == ["create ConfigMap default/settings"]
    assert job.get("ConfigMap", "default/x") is not None
    assert job.ledger().acts == ()


@pytest.mark.parametrize("label", ["9" * 63, str(2**53), "0", "", "v2"])
def test_a_generation_label_that_somebody_wrote_leaves_a_ledger_that_can_be_read(label: str) -> None:
    job = Job()
    job.release(CONFIG % "red")
    job.run()
    key = ObjectId("", "ConfigMap", "default", "settings")
    labels = {"trapeze.dev/set": SET, "trapeze.dev/generation": label}
    edit(job, key, lambda metadata: metadata.update(labels=labels))
    job.store.delete(SET)
    job.restart()
    job.run()
    job.release(CONFIG % "blue")
    job.run()
    job.restart()
    assert [generation.number for generation in job.ledger().generations] == [1, 2]


def test_a_standing_revision_that_cannot_be_read_any_more_does_not_stop_the_next() -> None:
    job = Job()
    first = job.release(CONFIG % "red")
    job.run()
    job.git.unreadable.add(first)
    job.release(CONFIG % "blue")
    assert job.run() == ["update ConfigMap default/settings"]
