"""What the server refuses in place is made in another way, judged by the promise at every state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.core.model import ObjectId
from agent.core.replacement.gating import carried
from agent.core.replacement.orphans import orphans_left
from agent.core.situation import Situation
from agent.errors import Forbidden
from agent.shell.observe import Observer
from tests.shell.faults import Fail, Hooked, Kill, Killed, Note
from tests.shell.job import HEALTH, KINDS, POLICY, Job, reasons
from tests.shell.judged import SETTLED, Judged
from tests.shell.releases import binding, namespace, server
from tests.shell.releases import labelled as web

OLD = "app: web, version: v1"
NEW = "app: web, version: v2"
OTHER = "name: web"
REPLACE = "replace Deployment front/web"


def replicasets(job: Job) -> list[str]:
    return sorted(key.name for key in job.world.world.objects() if key.kind == "ReplicaSet")


def uid_of(job: Job, kind: str, path: str) -> str:
    body = job.get(kind, path)
    assert body is not None
    return str(body["metadata"]["uid"])


def swapped(old: str, new: str, **rules: Any) -> tuple[Judged, list[str]]:
    judged = Judged((namespace("front"), old), (namespace("front"), new), **rules)
    return judged, judged.run()


def test_a_deployment_with_another_selector_comes_up_beside_the_old_pods_which_go_after_it_serves() -> None:
    judged, written = swapped(web(OLD), web(NEW))
    assert REPLACE in written
    (left,) = [key for key in written if key.startswith("delete ReplicaSet")]
    order = [REPLACE, "create Deployment front/web", "cutover Service front/web", left]
    assert [key for key in written if key in order] == order
    assert len(replicasets(judged.job)) == 1
    entry = judged.job.ledger().entries[ObjectId("apps", "Deployment", "front", "web")]
    assert entry.uid == uid_of(judged.job, "Deployment.apps", "front/web")
    assert entry.orphans == ()


def test_without_a_label_in_common_the_service_stays_with_the_old_pods_until_the_new_ones_serve() -> None:
    _, written = swapped(web(OLD), web(OTHER))
    assert "widen Service front/web" not in written
    assert written.index("cutover Service front/web") > written.index("create Deployment front/web")


def test_a_service_that_selects_both_keeps_the_old_pods_until_it_lists_the_new_ones() -> None:
    _, written = swapped(web(OLD, service="app: web"), web(NEW, service="app: web"))
    assert not [key for key in written if "Service" in key]


def test_a_selector_that_takes_the_old_pods_too_takes_their_replicaset_over() -> None:
    judged, written = swapped(web(NEW, service="app: web"), web("app: web"))
    assert REPLACE in written
    assert not [key for key in written if key.startswith("delete ReplicaSet")]
    assert len(replicasets(judged.job)) == 2


def test_it_waits_where_a_service_would_have_nobody_to_move_to() -> None:
    old, new = web(OLD), web(OTHER, service=OLD)
    judged = Judged((namespace("front"), old), (namespace("front"), new))
    report = judged.job.hold(5)
    assert report.plan is not None
    assert "Service front/web selects none of the new pods" in reasons(report.plan, REPLACE)
    assert judged.verdict().broken == ()


def test_strategy_recreate_is_not_without_downtime_and_waits_for_a_person() -> None:
    recreate = "strategy: {type: Recreate}"
    old, new = web(OLD, more=recreate), web(NEW, more=recreate)
    judged = Judged((namespace("front"), old), (namespace("front"), new))
    report = judged.job.hold(5)
    assert report.plan is not None
    assert report.plan.needs_a_person
    said = reasons(report.plan, REPLACE)
    assert "not without downtime" in said
    assert "allow_downtime: [Deployment front/web]" in said
    assert judged.verdict().broken == ()
    job = Job(allow_downtime=frozenset({"Deployment front/web"}))
    job.release(namespace("front"), old)
    job.run()
    job.release(namespace("front"), new)
    assert REPLACE in job.run()


def test_a_revert_in_the_middle_takes_the_old_pods_up_again() -> None:
    job = Judged((namespace("front"), web(OLD)), (namespace("front"), web(NEW))).job
    before = replicasets(job)
    while job.get("Deployment.apps", "front/web") is not None:
        job.tick()
    job.release(namespace("front"), web(OLD))
    job.run()
    assert set(before) <= set(replicasets(job))
    pods = [key.name for key in job.world.world.objects() if key.kind == "Pod"]
    assert all(name.startswith(before[0]) for name in pods)


def test_a_role_changes_with_a_bridge_that_holds_the_old_one() -> None:
    old = (namespace("old"), server("old"), binding("old"))
    new = (
        namespace("old"),
        server("old").replace("standin/http:1", "standin/http:2"),
        binding("old", role="edit"),
    )
    judged = Judged(old, new)
    written = judged.run()
    (made,) = [key for key in written if "bridge" in key and key.startswith("create")]
    gone = made.replace("create", "delete")
    name = "ClusterRoleBinding api-storage"
    order = [made, f"replace {name}", f"create {name}", "update Deployment old/api", gone]
    assert [key for key in written if key in order] == order
    live = judged.job.get("ClusterRoleBinding.rbac.authorization.k8s.io", "api-storage")
    assert live is not None
    assert live["roleRef"]["name"] == "edit"
    names = [key.name for key in judged.job.world.world.objects() if key.kind == "ClusterRoleBinding"]
    assert not [name for name in names if "bridge" in name]


@pytest.mark.parametrize("is_done", [False, True], ids=["before", "after"])
def test_killed_as_the_deployment_is_deleted_the_ledger_still_names_what_it_left(*, is_done: bool) -> None:
    releases = ((namespace("front"), web(OLD)), (namespace("front"), web(NEW)))
    note = Note()
    counted = Judged(*releases).job
    counted.cluster = Hooked(counted.world, note)
    counted.restart()
    counted.run()
    writes = [call for call in note.calls if call.is_write]
    at = next(n for n, call in enumerate(writes, 1) if (call.method, call.about) == ("delete", "front/web"))
    judged = Judged(*releases)
    job = judged.job
    job.cluster = Hooked(job.world, Kill(at, is_done))
    job.restart()
    with pytest.raises(Killed):
        job.run()
    job.world.advance(5)
    job.cluster = job.world
    job.restart()
    job.run()
    job.world.advance(SETTLED)
    assert judged.verdict().broken == ()
    assert len(replicasets(job)) == 1


def test_a_bridge_that_could_not_be_made_keeps_the_binding_as_it_is() -> None:
    old = (namespace("old"), server("old"), binding("old"))
    job = Judged(old, (namespace("old"), server("old"), binding("old", role="edit"))).job
    refused = Fail(1, Forbidden("not today"), is_done=False, concerns=lambda call: "bridge" in call.about)
    job.cluster = Hooked(job.world, refused)
    job.restart()
    report = job.tick()
    assert report.plan is not None
    assert "is not there yet" in reasons(report.plan, "replace ClusterRoleBinding api-storage")
    live = job.get("ClusterRoleBinding.rbac.authorization.k8s.io", "api-storage")
    assert live is not None
    assert live["roleRef"]["name"] == "view"
    job.run()


def test_an_orphan_stays_until_the_service_lists_the_new_pods() -> None:
    old, new = web(OLD, service="app: web"), web(NEW, service="app: web")
    job = Judged((namespace("front"), old), (namespace("front"), new)).job
    while job.get("Deployment.apps", "front/web") is not None:
        job.tick()
    while not any(step.key.startswith("delete ReplicaSet") and step.is_open for step in job.plan().steps):
        job.tick()
    observer = Observer(job.world, POLICY, job.world.discover())
    desired, ledger = job.git.desired(job.git.head, KINDS), job.ledger()
    live = observer.look(desired, ledger)
    silent = {key: obj for key, obj in live.objects.items() if key.kind != "EndpointSlice"}
    situation = Situation(desired, live, {}, ledger, POLICY, HEALTH, job.rules, job.world.now())
    ((_, orphan),) = orphans_left(situation)
    assert carried(situation, orphan).is_open
    without = carried(replace(situation, live=replace(live, objects=silent)), orphan)
    assert without.reason == "Service front/web: 0 of 2 endpoints of the new pods ready"
