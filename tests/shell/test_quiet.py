"""A tick with nothing to do: what it costs, and everything that it must notice all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent.core.model import GroupKind, ObjectId
from agent.errors import ClusterError, Forbidden, NotServed, Unreachable
from agent.shell.report import State
from tests.shell.faults import Call, Hooked, Note
from tests.shell.job import Job
from tests.shell.releases import CONFIG, binding, ingress, namespace, server, web

RELEASE = (
    namespace("front"),
    web("blue"),
    ingress("front/blue"),
    server("front"),
    binding("front"),
    CONFIG % "red",
)
KINDS = ("ClusterRoleBinding", "ConfigMap", "Deployment", "Ingress", "Namespace", "Service", "ServiceAccount")
LABEL = "trapeze.dev/set"


class Quiet:
    """A set in service; ``note`` holds the requests made since the last look at it."""

    def __init__(self) -> None:
        self.note = Note()
        self.failing: Callable[[Call], ClusterError | None] = lambda _: None
        self.job = Job(wrap=lambda cluster: Hooked(cluster, self._hook), take_over=frozenset({"kubectl"}))
        self.job.release(*RELEASE)
        self.job.run()

    def _hook(self, call: Call, do: Callable[[], Any]) -> Any:
        error = self.failing(call)
        if error:
            raise error
        return self.note(call, do)

    def tick(self) -> list[Call]:
        """One more tick; its requests."""
        self.note.calls.clear()
        self.report = self.job.tick()
        return list(self.note.calls)

    def body(self, kind: str, path: str) -> dict[str, Any]:
        """A live object as its owner would apply it again."""
        live = self.job.get(kind, path)
        assert live is not None
        metadata = {k: v for k, v in live["metadata"].items() if k in ("name", "namespace", "labels")}
        return {"apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": metadata}


@pytest.fixture
def quiet() -> Quiet:
    return Quiet()


def test_one_metadata_list_for_each_kind_of_member_and_the_ledgers_head_and_nothing_else(
    quiet: Quiet,
) -> None:
    calls = quiet.tick()
    assert quiet.report.plan is None
    assert [call.method for call in calls] == ["get", *["list_metadata"] * len(KINDS)]
    assert sorted(call.kind.kind for call in calls[1:] if call.kind) == sorted(KINDS)
    assert calls[0] == Call("get", GroupKind("", "ConfigMap"), "trapeze-system/trapeze-shop")


def test_a_new_process_needs_one_whole_look_at_most_and_writes_nothing(quiet: Quiet) -> None:
    quiet.job.restart()
    first = quiet.tick()
    assert not [call for call in first if call.is_write]
    assert [call.method for call in quiet.tick()] == ["get", *["list_metadata"] * len(KINDS)]


def test_a_commit_with_the_same_content_is_looked_at_once(quiet: Quiet) -> None:
    quiet.job.release(*RELEASE)
    quiet.tick()
    assert quiet.report.plan is not None
    assert quiet.report.outcomes == ()
    quiet.tick()
    assert quiet.report.plan is None


def test_a_status_that_moves_on_is_no_change(quiet: Quiet) -> None:
    pod = next(key for key in quiet.job.world.world.objects() if key.kind == "Pod")
    before = quiet.job.get("Pod", f"{pod.namespace}/{pod.name}")
    assert before is not None
    resource = quiet.job.world.discover().resources[pod.group_kind]
    uid = before["metadata"]["uid"]
    quiet.job.world.delete(resource, pod, uid=uid, resource_version="")
    quiet.job.world.advance(20)
    calls = quiet.tick()
    assert quiet.report.plan is None
    assert not [call for call in calls if call.method == "list"]


def _changes(quiet: Quiet) -> None:
    quiet.job.apply({**quiet.body("ConfigMap", "default/settings"), "data": {"colour": "blue"}})


def _scales(quiet: Quiet) -> None:
    quiet.job.apply({**quiet.body("Deployment.apps", "front/blue"), "spec": {"replicas": 5}})


def _annotates(quiet: Quiet) -> None:
    body = quiet.body("Deployment.apps", "front/blue")
    body["metadata"]["annotations"] = {"example.test/seen": "yes"}
    quiet.job.apply(body)


def _deletes(quiet: Quiet) -> None:
    key = ObjectId("", "ServiceAccount", "front", "api")
    live = quiet.job.get("ServiceAccount", "front/api")
    assert live is not None
    resource = quiet.job.world.discover().resources[key.group_kind]
    quiet.job.world.delete(resource, key, uid=live["metadata"]["uid"], resource_version="")


def _makes_anew(quiet: Quiet) -> None:
    body = quiet.job.get("ConfigMap", "default/settings")
    assert body is not None
    key = ObjectId("", "ConfigMap", "default", "settings")
    resource = quiet.job.world.discover().resources[key.group_kind]
    quiet.job.world.delete(resource, key, uid=body["metadata"]["uid"], resource_version="")
    metadata = {k: body["metadata"][k] for k in ("name", "namespace", "labels", "annotations")}
    quiet.job.apply({**body, "metadata": metadata})


def _relabels(quiet: Quiet) -> None:
    body = quiet.body("ConfigMap", "default/settings")
    body["metadata"]["labels"] = {LABEL: "other"}
    quiet.job.apply(body)


def _adds(quiet: Quiet) -> None:
    metadata = {"name": "more", "namespace": "default", "labels": {LABEL: "shop"}}
    quiet.job.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})


NOTICED = {
    "a field is changed": _changes,
    "a count is changed": _scales,
    "an annotation is put on": _annotates,
    "a member is deleted": _deletes,
    "a member is made anew": _makes_anew,
    "the label names another set": _relabels,
    "an object is added with our label": _adds,
}


@pytest.mark.parametrize("what", NOTICED)
def test_is_noticed(quiet: Quiet, what: str) -> None:
    NOTICED[what](quiet)
    calls = quiet.tick()
    assert quiet.report.plan is not None
    assert [call for call in calls if call.method == "list"]


@pytest.mark.parametrize("what", ["a field is changed", "a count is changed", "a member is deleted"])
def test_is_mended_and_quiet_again(quiet: Quiet, what: str) -> None:
    NOTICED[what](quiet)
    assert quiet.job.run()
    quiet.tick()
    assert quiet.report.plan is None


def test_an_annotation_of_others_is_let_be_and_not_looked_at_twice(quiet: Quiet) -> None:
    _annotates(quiet)
    assert not [call for call in quiet.tick() if call.is_write]
    quiet.tick()
    assert quiet.report.plan is None


@pytest.mark.parametrize("error", [NotServed("gone"), Forbidden("no"), Unreachable("down")])
def test_a_list_that_fails_is_no_quiet_and_the_tick_says_what_it_could_not_read(
    quiet: Quiet, error: ClusterError
) -> None:
    def fails(call: Call) -> ClusterError | None:
        is_list = call.method in ("list", "list_metadata")
        return error if is_list and call.kind == GroupKind("networking.k8s.io", "Ingress") else None

    quiet.failing = fails
    quiet.tick()
    assert quiet.report.state is State.HELD
    assert quiet.report.plan is not None
    reasons = [gate.reason for step in quiet.report.plan.steps for gate in step.closed_gates]
    assert any(str(error) in reason for reason in reasons)
    quiet.failing = lambda _: None
    quiet.job.run()
    quiet.tick()
    assert quiet.report.plan is None
