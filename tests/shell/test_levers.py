"""What people decide, from the command's word to what the next ticks write (issue 5, point 15)."""

from __future__ import annotations

import pytest

from agent.core import deciding
from agent.core.acts import ActKind
from agent.core.ledger import GenerationState
from agent.core.orders import Order
from agent.core.waiting import for_a_person, waits_for_a_person
from agent.errors import ConfigError
from agent.shell.report import State
from agent.shell.store import CONFIG_MAPS
from tests.shell.job import Job, reasons
from tests.shell.judged import Judged
from tests.shell.releases import CONFIG, binding, ingress, namespace, server, web

OLD = (namespace("old"), server("old"), binding("old"))
NEW = (namespace("new"), server("new"), binding("new"))
BLUE = (namespace("front"), web("blue"), ingress("front/blue"))
GREEN = (namespace("front"), web("green"), ingress("front/green"))
NEVER = (namespace("front"), web("red", knobs="standin.dev/never-ready: 'true'"), ingress("front/red"))
GONE = "delete Namespace old"


def moved() -> Job:
    """The API server's move, which ends where the old namespace waits for a person."""
    job = Job()
    job.release(*OLD)
    job.run()
    job.release(*NEW)
    for _ in range(40):
        report = job.tick()
        if report.plan is not None and waits_for_a_person(report.plan):
            return job
    raise AssertionError("it never comes to wait for a person alone")


def test_a_hold_names_the_command_and_an_approval_lets_the_step_go() -> None:
    job = moved()
    assert f"`trapeze approve shop '{GONE}'`" in reasons(job.plan(), GONE)
    assert for_a_person(job.plan())[0].startswith(f"{GONE}: needs approval")
    act = job.approve(GONE)
    assert (act.kind, act.by, act.step) == (ActKind.APPROVE, job.world.whoami(), GONE)
    assert job.run()[0] == GONE
    assert job.get("Namespace", "old") is None
    assert job.ledger().acts == (act,)
    assert ("Namespace", "old") in {(one.id.kind, one.id.name) for one in job.ledger().pruned}


KEPT = """\
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: default}
stringData: {pin: '%s'}
"""
RECREATE = web("blue").replace("  replicas: 2\n", "  replicas: 2\n  strategy: {type: Recreate}\n")


def test_an_approval_is_for_what_was_seen_and_stale_for_anything_else() -> None:
    job = Job()
    job.release(namespace("front"), RECREATE)
    job.run()
    job.release(namespace("front"), RECREATE.replace("standin/http:1", "standin/http:2"))
    job.hold(3)
    key = "update Deployment front/blue"
    job.approve(key)
    job.release(namespace("front"), RECREATE.replace("standin/http:1", "standin/http:3"))
    report = job.hold(3)
    assert report.plan is not None
    assert "is stale: what it was bound to has changed" in reasons(report.plan, key)
    assert "is stale" in job.ledger().holds[key].reason
    job.release(namespace("front"), RECREATE.replace("standin/http:1", "standin/http:2"))
    assert key in job.run()


def test_an_approval_of_a_secret_leaves_no_digest_of_it() -> None:
    job = Job()
    job.release(KEPT % "1234", CONFIG % "red")
    job.run()
    job.release(KEPT % "1234", CONFIG % "red", namespace("front"), NEVER[1])
    job.hold(3)
    job.release(CONFIG % "red", namespace("front"), NEVER[1])
    job.hold(3)
    act = job.override("delete Secret default/key", "ready")
    live = job.get("Secret", "default/key")
    assert live is not None
    assert act.digest.startswith(f"version {live['metadata']['resourceVersion']}")
    job.tick()
    assert job.get("Secret", "default/key") is None


def test_suspended_nothing_is_written_in_any_order_until_it_is_resumed() -> None:
    job = Job()
    job.release(*BLUE)
    job.run()
    job.decide(lambda ledger: deciding.suspend(ledger, "audit"))
    job.release(*GREEN)
    before = len(job.written)
    for order in Order:
        report = job.tick(order)
        assert (report.state, len(job.written)) == (State.HELD, before)
        assert report.plan is not None
        assert waits_for_a_person(report.plan)
        assert "suspended by" in reasons(report.plan, "create Deployment front/green")
    with pytest.raises(ConfigError, match="suspended already"):
        job.decide(lambda ledger: deciding.suspend(ledger, ""))
    job.decide(lambda ledger: deciding.resume(ledger, ""))
    assert "create Deployment front/green" in job.run()


def test_a_pin_stays_where_it_is_against_newer_commits_until_it_is_lifted() -> None:
    job = Job()
    job.release(*BLUE)
    job.run()
    job.decide(lambda ledger: deciding.pin(ledger, 0, "freeze"))
    job.release(*GREEN)
    assert job.run() == []
    assert job.get("Deployment.apps", "front/green") is None
    job.decide(lambda ledger: deciding.unpin(ledger, ""))
    assert "create Deployment front/green" in job.run()
    with pytest.raises(ConfigError, match="is not pinned"):
        job.decide(lambda ledger: deciding.unpin(ledger, ""))


def test_a_rollback_keeps_the_promise_and_holds_against_newer_commits() -> None:
    judged = Judged(BLUE, GREEN)
    judged.run()
    judged.turn()
    job = judged.job
    act = job.decide(lambda ledger: deciding.rollback(ledger, 0, "errors"))
    assert (act.generation, act.revision) == (1, f"{1:040x}")
    written = judged.run()
    assert "cutover Ingress front/front" in written
    job.release(*NEVER)
    assert job.run() == []
    newest = job.ledger().newest
    assert newest is not None
    assert (newest.number, newest.revision, newest.state) == (3, f"{1:040x}", GenerationState.IN_SERVICE)
    assert job.get("Deployment.apps", "front/green") is None


def test_abort_gives_up_the_handoff_and_goes_back_under_the_old_number() -> None:
    judged = Judged(BLUE, NEVER)
    job = judged.job
    with pytest.raises(ConfigError, match="in no handoff"):
        job.decide(lambda ledger: deciding.abort(ledger, ""))
    job.hold(5)
    blue = job.get("Deployment.apps", "front/blue")
    act = job.decide(lambda ledger: deciding.abort(ledger, "red never comes up"))
    assert act.generation == 1
    written = judged.run()
    assert not [key for key in written if key.startswith(("create", "update"))]
    newest = job.ledger().newest
    assert newest is not None
    assert (newest.number, newest.state, newest.returns) == (1, GenerationState.IN_SERVICE, 1)
    after = job.get("Deployment.apps", "front/blue")
    assert blue is not None
    assert after is not None
    assert after["metadata"]["uid"] == blue["metadata"]["uid"]
    assert job.get("Deployment.apps", "front/red") is None


def test_an_override_opens_one_gate_of_one_step() -> None:
    job = Job()
    job.release(*BLUE, CONFIG % "red", CONFIG.replace("settings", "other") % "red")
    job.run()
    job.release(*BLUE, web("red", knobs="standin.dev/never-ready: 'true'"))
    job.hold(5)
    with pytest.raises(ConfigError, match="closed are: ready"):
        job.override("delete ConfigMap default/other", "serves")
    act = job.override("delete ConfigMap default/other")
    assert (act.kind, act.gate, act.reason) == (ActKind.OVERRIDE, "ready", "known better")
    report = job.tick()
    assert report.state is State.HELD
    assert job.get("ConfigMap", "default/other") is None
    assert job.get("ConfigMap", "default/settings") is not None


def test_what_is_not_ours_cannot_be_overridden() -> None:
    job = Job()
    job.release(*BLUE, CONFIG % "red")
    job.run()
    live = job.get("ConfigMap", "default/settings")
    assert live is not None
    del live["metadata"]["labels"]["trapeze.dev/set"]
    job.world.replace(CONFIG_MAPS, live)
    job.release(*BLUE)
    job.hold(3)
    with pytest.raises(ConfigError, match="the gate ours cannot be overridden: the label of set shop"):
        job.override("delete ConfigMap default/settings", "ours")
    with pytest.raises(ConfigError, match="waits for no approval"):
        job.approve("delete ConfigMap default/settings")
    with pytest.raises(
        ConfigError,
        match="no step is called 'delete ConfigMap x'; waiting are: 'delete ConfigMap default/settings'",
    ):
        job.approve("delete ConfigMap x")
