"""What a handoff between two generations leaves alone, and where it cannot go."""

from __future__ import annotations

from agent.core.policy import id_of
from tests.incidents.bodies import config, doc
from tests.shell.job import Job, reasons
from tests.shell.releases import CONFIG, binding, namespace, server

OLD = (namespace("old"), server("old"), binding("old"), CONFIG % "red")
NEW = (namespace("new"), server("new"), binding("new"), CONFIG % "red")
CERTS = doc("v1", "Secret", "default/certs", type="Opaque")


def test_the_old_generation_is_not_written_while_the_new_one_comes_up() -> None:
    job = Job()
    job.release(*OLD)
    job.run()
    before = {kind: job.get(kind, "old/api") for kind in ("ServiceAccount", "Service", "Deployment.apps")}
    job.release(NEW[0], server("new", knobs="standin.dev/ready-after: '1000000'"), *NEW[2:])
    job.hold()
    for kind, body in before.items():
        now = job.get(kind, "old/api")
        assert body is not None
        assert now is not None
        assert now["metadata"]["resourceVersion"] == body["metadata"]["resourceVersion"], kind


def test_a_secret_that_a_controller_fills_is_neither_emptied_nor_pruned_by_the_next_generation() -> None:
    job = Job()
    job.release(CERTS, config("default/flags", a="1"))
    job.run()
    job.apply(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "certs", "namespace": "default"},
            "data": {"tls.key": "YQ=="},
        },
        manager="certificates",
    )
    job.release(CERTS, config("default/flags", a="2"))
    job.run()
    secret = job.get("Secret", "default/certs")
    assert secret is not None
    assert secret["data"] == {"tls.key": "YQ=="}
    assert not job.plan().changes


def test_nothing_is_made_in_a_namespace_that_is_going_until_it_has_gone() -> None:
    job = Job(allow=frozenset({"Namespace"}))
    job.release(*OLD)
    job.run()
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}
    job.apply(body)
    stuck = {**body, "kind": "ConfigMap"}
    stuck["metadata"] = {"name": "stuck", "namespace": "new", "finalizers": ["example.org/keeps"]}
    job.apply(stuck)
    resource = next(r for k, r in job.world.discover().resources.items() if k.kind == "Namespace")
    job.world.delete(resource, id_of(body), uid="", resource_version="")
    job.release(*NEW)
    job.hold()
    assert "namespace new is being deleted" in reasons(job.plan(), "create Service new/api")
    assert job.get("Deployment.apps", "old/api") is not None
    job.apply({**stuck, "metadata": {"name": "stuck", "namespace": "new", "finalizers": []}})
    job.world.advance(30)
    job.run()
    assert job.get("Deployment.apps", "new/api") is not None
