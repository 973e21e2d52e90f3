"""The main job, tick by tick, on the embedded cluster."""

from __future__ import annotations

import pytest

from agent.core.ledger import GenerationState
from agent.core.model import Category, Reason
from agent.core.orders import Order
from agent.core.situation import Foreign
from agent.shell.report import State
from tests.shell.job import Job, reasons
from tests.shell.releases import CONFIG, binding, ingress, namespace, server, web

OLD = (namespace("old"), server("old"), binding("old"))
NEW = (namespace("new"), server("new"), binding("new"))
MOVED = frozenset({"Namespace"})


def upgraded() -> Job:
    """A job in service at OLD, with NEW committed."""
    job = Job(allow=MOVED)
    job.release(*OLD)
    job.run()
    job.release(*NEW)
    return job


def test_first_sync_creates_in_order_and_a_second_finds_nothing() -> None:
    job = Job()
    job.release(*OLD)
    written = job.run()
    assert written[0] == "create Namespace old"
    assert written.index("create ServiceAccount old/api") < written.index("create Deployment old/api")
    second = job.tick()
    assert (second.state, second.plan, second.outcomes) == (State.IN_SERVICE, None, ())


def test_subject_moves_widened_first_narrowed_after_the_last_old_pod() -> None:
    written = upgraded().run()
    order = [
        "widen ClusterRoleBinding api-storage",
        "create Deployment new/api",
        "delete Service old/api",
        "delete Deployment old/api",
        "narrow ClusterRoleBinding api-storage",
        "delete Namespace old",
    ]
    assert [key for key in written if key in order] == order


def test_narrow_waits_for_pods_that_are_terminating() -> None:
    job = Job(allow=MOVED)
    slow = server("old", knobs="standin.dev/ready-after: '1', standin.dev/slow-stop: '5'")
    job.release(namespace("old"), slow, binding("old"))
    job.run()
    job.release(*NEW)
    while "delete Deployment old/api" not in job.written:
        job.tick()
    assert "narrow ClusterRoleBinding api-storage" not in job.written
    report = job.syncer.tick()
    assert report.plan is not None
    assert "(terminating)" in reasons(report.plan, "narrow ClusterRoleBinding api-storage")


def test_widened_binding_names_both_and_the_final_one_only_the_new() -> None:
    job = upgraded()
    job.tick()
    binding_now = job.get("ClusterRoleBinding.rbac.authorization.k8s.io", "api-storage")
    assert binding_now is not None
    assert [s["namespace"] for s in binding_now["subjects"]] == ["new", "old"]
    job.run()
    binding_then = job.get("ClusterRoleBinding.rbac.authorization.k8s.io", "api-storage")
    assert binding_then is not None
    assert [s["namespace"] for s in binding_then["subjects"]] == ["new"]


def test_nothing_old_is_left_and_the_ledger_says_so() -> None:
    job = upgraded()
    job.run()
    assert job.get("Namespace", "old") is None
    ledger = job.ledger()
    assert [g.state for g in ledger.generations] == [GenerationState.ABSENT, GenerationState.IN_SERVICE]
    assert {key.path for key in ledger.entries} == {"new", "new/api", "api-storage"}


def test_namespace_without_approval_is_held_with_the_way_out() -> None:
    job = Job()
    job.release(*OLD)
    job.run()
    job.release(*NEW)
    last = job.hold(40)
    assert last.plan is not None
    assert [step.key for step in last.plan.steps] == ["delete Namespace old"]
    assert "prune: {allow: [Namespace old]}" in reasons(last.plan, "delete Namespace old")
    assert last.plan.needs_a_person


def test_pointer_is_held_until_all_endpoints_are_ready() -> None:
    job = Job()
    job.release(namespace("front"), web("blue"), ingress("front/blue"))
    job.run()
    slow = web("green", replicas=3, knobs="standin.dev/ready-after: '6'")
    job.release(namespace("front"), slow, ingress("front/green"))
    job.tick()
    assert "0 of 3 endpoints ready" in reasons(job.plan(), "cutover Ingress front/front")
    written = job.run()
    after = ["cutover Ingress front/front", "delete Service front/blue", "delete Deployment front/blue"]
    assert [key for key in written if key in after] == after


def test_pointer_that_loses_its_new_backend_is_pointed_back_and_moves_again() -> None:
    job = Job(settle=8.0)
    job.release(namespace("front"), web("blue"), ingress("front/blue"))
    job.run()
    flapping = web("green", knobs="standin.dev/ready-after: '1', standin.dev/lose-ready-after: '5'")
    job.release(namespace("front"), flapping, ingress("front/green"))
    job.hold(25)
    assert job.written.count("point back Ingress front/front") >= 1
    live = job.get("Ingress.networking.k8s.io", "front/front")
    assert live is not None
    assert live["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]["name"] == "blue"
    job.release(namespace("front"), web("green"), ingress("front/green"))
    written = job.run(90)
    assert written[-1] == "delete Deployment front/blue"


def test_never_ready_holds_and_a_revert_returns_to_the_old_release() -> None:
    job = Job(allow=MOVED)
    job.release(*OLD)
    job.run()
    dead = (namespace("new"), server("new", knobs="standin.dev/never-ready: 'true'"), binding("new"))
    job.release(*dead)
    job.hold(15)
    holds = job.ledger().holds
    assert "Deployment new/api: 0 of 2 replicas available" in holds["delete Deployment old/api"].reason
    assert holds["delete Deployment old/api"].since > 0
    job.release(*OLD)
    job.run()
    assert job.get("Namespace", "new") is None
    assert [g.number for g in job.ledger().generations if g.state is GenerationState.IN_SERVICE] == [1]


def test_a_commit_with_the_same_content_is_no_new_generation() -> None:
    job = Job()
    job.release(CONFIG % "red")
    job.run()
    job.release(CONFIG % "red")
    report = job.tick()
    assert (report.state, report.outcomes) == (State.IN_SERVICE, ())
    assert [g.number for g in job.ledger().generations] == [1]


def test_drift_is_named_and_mended() -> None:
    job = Job()
    job.release(CONFIG % "red")
    job.run()
    drifted = {"name": "settings", "namespace": "default"}
    job.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": drifted, "data": {"colour": "blue"}})
    plan = job.plan()
    assert [(str(f.path), f.reason) for change in plan.changes for f in change.fields] == [
        ("('data', 'colour')", Reason.DRIFT)
    ]
    assert "owned: kubectl" in reasons(plan, "update ConfigMap default/settings")
    taking = Job(take_over=frozenset({"kubectl"}))
    taking.world, taking.git = job.world, job.git
    taking.cluster = job.world
    taking.restart()
    assert taking.run() == ["update ConfigMap default/settings"]


@pytest.mark.parametrize(
    ("foreign", "left"),
    [(Foreign.KEEP, ["mine", "theirs"]), (Foreign.DROP, ["mine"])],
)
def test_entries_that_git_never_had_are_kept_or_dropped_as_the_set_says(
    foreign: Foreign, left: list[str]
) -> None:
    job = Job(foreign=foreign, take_over=frozenset({"kubectl"}))
    job.release(namespace("mine"), binding("mine"))
    job.run()
    _add_subject(job, "theirs")
    job.run()
    live = job.get("ClusterRoleBinding.rbac.authorization.k8s.io", "api-storage")
    assert live is not None
    assert sorted(s["namespace"] for s in live["subjects"]) == left


def test_entries_that_git_never_had_hold_until_the_set_says_what_becomes_of_them() -> None:
    job = Job(take_over=frozenset({"kubectl"}))
    job.release(namespace("mine"), binding("mine"))
    job.run()
    _add_subject(job, "theirs")
    report = job.hold(3)
    assert report.plan is not None
    assert "foreign_entries: keep or drop" in reasons(report.plan, "narrow ClusterRoleBinding api-storage")


def _add_subject(job: Job, where: str) -> None:
    live = job.get("ClusterRoleBinding.rbac.authorization.k8s.io", "api-storage")
    assert live is not None
    more = {"kind": "ServiceAccount", "name": "api", "namespace": where}
    body = {key: live[key] for key in ("apiVersion", "kind", "roleRef")}
    job.apply({**body, "metadata": {"name": "api-storage"}, "subjects": [*live["subjects"], more]})


CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default}
spec: {accessModes: [%s], resources: {requests: {storage: 1Gi}}}
"""


def test_change_that_the_server_refuses_in_place_holds_and_says_so_before_anything_is_written() -> None:
    job = Job()
    job.release(CLAIM % "ReadWriteOnce")
    job.run()
    job.release(CLAIM % "ReadWriteMany")
    plan = job.plan()
    assert "not without a gap under this name" in reasons(plan, "replace PersistentVolumeClaim default/data")
    assert plan.needs_a_person
    assert job.hold(3).outcomes == ()


def test_a_broken_document_prunes_nothing_and_the_rest_goes_on() -> None:
    job = Job(allow=MOVED)
    job.release(*OLD)
    job.run()
    job.release(*NEW, "apiVersion: v1\nkind: [")
    report = job.hold(30)
    assert job.get("Deployment.apps", "new/api") is not None
    assert job.get("Deployment.apps", "old/api") is not None
    assert any("4.yaml" in error for error in report.errors)


def test_a_refused_set_writes_nothing() -> None:
    job = Job()
    job.release(CONFIG % "red", CONFIG % "blue")
    report = job.tick()
    assert (report.state, report.outcomes) == (State.REFUSED, ())
    assert "1.yaml" in report.errors[0]
    assert job.get("ConfigMap", "default/settings") is None


def test_unknown_kind_and_missing_namespace_are_errors_with_their_place() -> None:
    job = Job()
    thing = "apiVersion: example.test/v1\nkind: Thing\nmetadata: {name: a, namespace: default}\n"
    job.release(thing, CONFIG % "red", (CONFIG % "red").replace("default", "nowhere"))
    report = job.hold(2)
    assert any("1.yaml:1" in error and "serves no Thing.example.test" in error for error in report.errors)
    assert any("3.yaml:1" in error and "namespace nowhere does not exist" in error for error in report.errors)
    assert job.get("ConfigMap", "default/settings") is not None


def test_names_that_are_never_deleted_are_let_go_of() -> None:
    job = Job()
    job.release(namespace("default") + "  \n", CONFIG % "red")
    job.run()
    job.release(CONFIG % "red")
    assert job.run() == ["let go of Namespace default"]
    live = job.get("Namespace", "default")
    assert live is not None
    assert "trapeze.dev/set" not in live["metadata"]["labels"]
    assert job.tick().plan is None


def test_naive_order_applies_everything_at_once_and_deletes_at_once() -> None:
    job = upgraded()
    report = job.tick(Order.NAIVE)
    keys = [outcome.step.key for outcome in report.outcomes]
    assert "narrow ClusterRoleBinding api-storage" in keys
    assert "delete Deployment old/api" in keys
    assert not any(key.startswith("widen") for key in keys)


def test_changes_carry_their_category() -> None:
    plan = upgraded().plan()
    categories = {str(change.id): change.category for change in plan.changes}
    assert categories["ClusterRoleBinding api-storage"] is Category.SHARED_SUBJECT_REWRITE
    assert categories["Deployment new/api"] is Category.ADDITIVE
    assert categories["Deployment old/api"] is Category.PRUNE
