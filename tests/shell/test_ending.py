"""Nothing is pointed at what is being deleted: until its last finalizer is off it looks as if it served."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.core.model import ObjectId
from agent.core.situation import AfterDeadline
from tests.shell.hands import KEPT, delete, keep, let_go
from tests.shell.job import Job, reasons
from tests.shell.judged import Judged
from tests.shell.releases import ingress, namespace, web

FRONT = namespace("front")
BLUE = (FRONT, web("blue"), ingress("front/blue"))
GREEN = (FRONT, web("green"), ingress("front/green"))


def test_a_revert_waits_for_the_old_service_that_still_goes_and_keeps_every_path() -> None:
    judged = Judged(BLUE, GREEN)
    job, blue = judged.job, ObjectId("", "Service", "front", "blue")
    keep(job, blue)
    job.hold(12)
    assert KEPT in reasons(job.plan(), "delete Service front/blue")
    judged.turn()
    job.release(*BLUE)
    job.hold(5)
    assert reasons(job.plan(), "cutover Ingress front/front") == (
        "serves: Service front/blue: Service front/blue is being deleted; 2 of 2 endpoints ready; "
        "granted: Service front/blue is being deleted"
    )
    let_go(job, blue)
    written = job.run()
    assert [broken for broken in judged.verdict().broken if broken.subject.startswith("Ingress")] == []
    assert written[:2] == ["create Service front/blue", "cutover Ingress front/front"]


@pytest.mark.parametrize("kind", ["ServiceAccount", "ConfigMap"])
def test_a_pointer_waits_while_something_that_its_backend_needs_goes(kind: str) -> None:
    job = Job(allow=frozenset({"Namespace"}))
    job.release(*BLUE)
    job.run()
    need = f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: green, namespace: front}}\n"
    key = ObjectId("", kind, "front", "green")
    names = {
        "ServiceAccount": "serviceAccountName: green",
        "ConfigMap": "volumes: [{name: v, configMap: {name: green}}]",
    }
    named = web("green").replace(
        "    spec:\n      containers", f"    spec:\n      {names[kind]}\n      containers"
    )
    job.release(FRONT, need, named, ingress("front/green"))
    job.tick()
    keep(job, key)
    delete(job, key)
    job.world.advance(5)
    job.hold(5)
    assert f"granted: {kind} front/green is being deleted" in reasons(
        job.plan(), "cutover Ingress front/front"
    )
    let_go(job, key)
    assert job.run()[0] == f"create {kind} front/green"
    live = job.get("Ingress.networking.k8s.io", "front/front")
    assert live is not None
    assert live["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]["name"] == "green"


def test_a_pointer_waits_while_the_namespace_of_its_backend_goes() -> None:
    job = Job(allow=frozenset({"Namespace"}))
    alias = """\
apiVersion: v1
kind: Service
metadata: {name: shop, namespace: default}
spec: {type: ExternalName, externalName: %s.front.svc.cluster.local}
"""
    job.release(FRONT, web("blue"), web("green"), alias % "blue")
    job.run()
    for name in ("green", "blue"):
        keep(job, ObjectId("", "Service", "front", name))
    delete(job, ObjectId("", "Namespace", "", "front"))
    job.release(FRONT, web("blue"), web("green"), alias % "green")
    job.hold(1)
    assert "front/green is being deleted" in reasons(job.plan(), "update Service default/shop")


def test_time_that_is_up_points_nothing_back_at_what_goes() -> None:
    judged = Judged(
        BLUE, (FRONT, web("green"), web("slow", knobs="standin.dev/never-ready: 'true'"), GREEN[2])
    )
    job, key = judged.job, ObjectId("", "Service", "front", "blue")
    while "cutover Ingress front/front" not in job.written:
        job.tick()
    keep(job, key)
    delete(job, key)
    job.rules = replace(job.rules, deadline=1.0, after_deadline=AfterDeadline.POINT_BACK)
    job.restart()
    job.hold(5)
    live = job.get("Ingress.networking.k8s.io", "front/front")
    assert live is not None
    assert live["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]["name"] == "green"
