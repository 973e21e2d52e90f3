"""Every step that moves or takes away is decided on a look of its own, and sent on what that look saw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.core.model import GroupKind, ObjectId
from tests.shell.faults import Call, Hooked
from tests.shell.job import Job, reasons
from tests.shell.releases import namespace, web

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: default}\ndata: {k: v}\n"
FRONT = namespace("front")


class Before:
    """Does something once, just before the first request of ``method`` about ``about``."""

    def __init__(self, method: str, about: str) -> None:
        self.wanted = (method, about)
        self.do_first: Callable[[], object] | None = None

    def __call__(self, call: Call, do: Callable[[], Any]) -> Any:
        """Make the request, after what comes first."""
        first = self.do_first
        if first is not None and (call.method, call.about) == self.wanted:
            self.do_first = None
            first()
        return do()


def prepared(method: str, about: str) -> tuple[Job, Before]:
    hook = Before(method, about)
    return Job(wrap=lambda cluster: Hooked(cluster, hook)), hook


def test_what_a_pod_begins_to_use_between_two_deletes_is_not_deleted() -> None:
    job, hook = prepared("delete", "default/a")
    job.release(FRONT, CONFIG % "a", CONFIG % "b")
    job.run()
    spec = {
        "containers": [{"name": "c", "image": "standin/http:1"}],
        "volumes": [{"name": "v", "configMap": {"name": "b"}}],
    }
    meta = {"name": "late", "namespace": "default"}
    hook.do_first = lambda: job.apply({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
    job.release(FRONT)
    job.tick()
    assert job.written[-1] == "delete ConfigMap default/a"
    assert "used by Pod default/late" in reasons(job.plan(), "delete ConfigMap default/b")


def test_what_somebody_changes_just_before_its_delete_is_looked_at_again() -> None:
    job, hook = prepared("delete", "default/b")
    job.release(FRONT, CONFIG % "b")
    job.run()

    def protect() -> None:
        meta = {"name": "b", "namespace": "default", "annotations": {"trapeze.dev/protect": "true"}}
        job.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})

    hook.do_first = protect
    job.release(FRONT)
    report = job.tick()
    assert [bool(outcome.error) for outcome in report.outcomes] == [True]
    assert job.get("ConfigMap", "default/b") is not None
    assert "protected" in reasons(job.plan(), "delete ConfigMap default/b")


INGRESS = """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: %s, namespace: front}
spec: {defaultBackend: {service: {name: %s, port: {number: 80}}}}
"""


def test_a_backend_that_is_lost_between_two_cutovers_gets_no_second_one() -> None:
    job, hook = prepared("apply", "front/one")
    job.release(FRONT, web("blue"), INGRESS % ("one", "blue"), INGRESS % ("two", "blue"))
    job.run()
    job.release(FRONT, web("blue"), web("green"), INGRESS % ("one", "green"), INGRESS % ("two", "green"))

    def lose() -> None:
        live = job.get("Deployment.apps", "front/green")
        assert live is not None
        kind = GroupKind("apps", "Deployment")
        key = ObjectId(*kind, "front", "green")
        meta = live["metadata"]
        resource = job.world.discover().resources[kind]
        job.world.delete(resource, key, uid=meta["uid"], resource_version=meta["resourceVersion"])
        job.world.advance(1)

    while "create Deployment front/green" not in job.written:
        job.tick()
    hook.do_first = lose
    while "cutover Ingress front/one" not in job.written:
        job.tick()
    assert "cutover Ingress front/two" not in job.written
    assert "serves" in reasons(job.plan(), "cutover Ingress front/two")
