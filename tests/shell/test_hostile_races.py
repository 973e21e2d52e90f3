"""Other writers between our look and our write: a person, an operator, a second agent of the same set."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import pytest

from agent.core.model import Body
from agent.errors import Conflict
from tests.shell.faults import Call, Hooked
from tests.shell.job import Job, reasons
from tests.shell.releases import CONFIG, binding, namespace, server

BINDING = "ClusterRoleBinding.rbac.authorization.k8s.io"


class Between:
    """Does something once, just before the apply of an object whose path ends with ``about``."""

    def __init__(self, about: str) -> None:
        self.about = about
        self.do_first: Callable[[], object] | None = None

    def __call__(self, call: Call, do: Callable[[], Any]) -> Any:
        """Make the request, after what comes first."""
        first = self.do_first
        if first is not None and call.method == "apply" and call.about.endswith(self.about):
            self.do_first = None
            first()
        return do()


def between(about: str, **rules: Any) -> tuple[Job, Between]:
    hook = Between(about)
    return Job(wrap=lambda cluster: Hooked(cluster, hook), **rules), hook


def config(colour: str) -> Body:
    """The object of CONFIG as somebody else writes it."""
    metadata = {"name": "settings", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"colour": colour}}


def service(*ports: int) -> str:
    listed = ", ".join(f"{{name: p{port}, port: {port}}}" for port in ports)
    return f"""\
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: default}}
spec: {{selector: {{app: web}}, ports: [{listed}]}}
"""


def test_an_agent_that_slept_does_not_undo_what_its_successor_added() -> None:
    job, hook = between("web")
    job.release(service(80))
    job.run()
    job.release(service(80, 81))
    successor = copy(job)
    successor.git = copy(job.git)
    successor.cluster = job.world
    successor.written = []
    successor.restart()
    successor.release(service(80, 81, 82))
    hook.do_first = successor.run
    with pytest.raises(Conflict, match="another agent wrote the ledger"):
        job.tick()
    live = job.get("Service", "default/web")
    assert live is not None
    assert [port["port"] for port in live["spec"]["ports"]] == [80, 81, 82]


def test_a_subject_that_somebody_adds_while_we_widen_keeps_its_right() -> None:
    job, hook = between("api-storage", take_over=frozenset({"kubectl"}))
    namespaces = tuple(map(namespace, ("old", "new")))
    job.release(*namespaces, server("old"), binding("old"))
    job.run()

    def add_theirs() -> None:
        live = job.get(BINDING, "api-storage")
        assert live is not None
        body = {key: live[key] for key in ("apiVersion", "kind", "roleRef")}
        theirs = {"kind": "ServiceAccount", "name": "api", "namespace": "theirs"}
        job.apply({**body, "metadata": {"name": "api-storage"}, "subjects": [*live["subjects"], theirs]})

    hook.do_first = add_theirs
    job.release(*namespaces, server("old"), server("new"), binding("old", "new"))
    job.hold(10)
    live = job.get(BINDING, "api-storage")
    assert live is not None
    assert {subject["namespace"] for subject in live["subjects"]} == {"old", "new", "theirs"}
    assert "foreign_entries" in reasons(job.plan(), f"narrow {BINDING.partition('.')[0]} api-storage")


def test_what_somebody_made_just_before_us_is_theirs_and_holds_nothing_once_git_drops_it() -> None:
    job, hook = between("settings")
    job.release(namespace("front"))
    job.run()
    job.release(namespace("front"), CONFIG % "ours")
    hook.do_first = lambda: job.apply(config("theirs"))
    report = job.tick()
    assert ["kubectl" in outcome.error for outcome in report.outcomes] == [True]
    job.release(namespace("front"))
    assert job.run(5) == []
    live = job.get("ConfigMap", "default/settings")
    assert live is not None
    assert live["data"] == {"colour": "theirs"}
