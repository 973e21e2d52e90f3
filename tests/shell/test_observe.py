"""Unknown is never evidence: a kind that cannot be read or an open question holds what takes away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent.core.model import Desired, GroupKind
from agent.core.policy import group_kind
from agent.core.steps import GateState, Plan
from agent.errors import ClusterError, Forbidden, Unauthorized, Unreachable
from agent.shell.cluster import Discovery
from agent.shell.observe import Observer
from tests.core.validation.bad import DEFINITION, LAMP
from tests.shell.faults import Call
from tests.shell.handoffs import branch, carry_on, stage
from tests.shell.job import POLICY, Job, reasons

TICKS = 9
"""More than either handoff needs when nothing is in its way."""

EVIDENCE = (
    "Pod",
    "Service",
    "Namespace",
    "EndpointSlice.discovery.k8s.io",
    "APIService.apiregistration.k8s.io",
    "CustomResourceDefinition.apiextensions.k8s.io",
    "Deployment.apps",
    "ReplicaSet.apps",
    "StatefulSet.apps",
    "DaemonSet.apps",
    "Job.batch",
    "CronJob.batch",
)
ADDITIVE = ("create ", "update ", "widen ")


class Blind:
    """Fails LISTs of one kind with an error until it is cured."""

    def __init__(self, kind: str, error: ClusterError) -> None:
        self.kind: GroupKind | None = group_kind(kind)
        self.error = error

    def __call__(self, call: Call, do: Callable[[], Any]) -> Any:
        """Fail it, or make the request."""
        if call.method == "list" and call.kind == self.kind and call.about != "trapeze-system":
            raise self.error
        return do()


def taken(job: Job) -> list[str]:
    """The steps written that move or take away."""
    return [key for key in job.written if not key.startswith(ADDITIVE)]


def ticked(job: Job, ticks: int = TICKS) -> Plan:
    """So many ticks, and the plan after them."""
    for _ in range(ticks):
        job.tick()
    return job.plan()


@pytest.mark.parametrize("name", ["subject move", "pointer cutover"])
@pytest.mark.parametrize("kind", EVIDENCE)
def test_nothing_moves_or_goes_while_evidence_cannot_be_read(name: str, kind: str) -> None:
    blind = Blind(kind, Unreachable(f"cannot list {kind}"))
    job = branch(stage(name), blind)
    plan = ticked(job)
    assert taken(job) == []
    assert not [step.key for step in plan.open_steps if not step.is_additive]
    blind.kind = None
    carry_on(job)
    assert taken(job)


@pytest.mark.parametrize(
    "error", [Forbidden("no right"), Unauthorized("expired")], ids=lambda e: type(e).__name__
)
def test_a_missing_right_to_read_says_so_at_every_step_that_it_holds(error: ClusterError) -> None:
    job = branch(stage("subject move"), Blind("Pod", error))
    plan = ticked(job)
    assert taken(job) == []
    assert plan.held_steps
    for step in plan.held_steps:
        assert f"Pod: {error}" in reasons(plan, step.key), step.key


def test_what_is_only_added_goes_on() -> None:
    job = branch(stage("subject move"), Blind("Pod", Unreachable("down")))
    ticked(job)
    assert "create Deployment new/api" in job.written
    assert "widen ClusterRoleBinding api-storage" in job.written


def _fails(method: str, error: ClusterError) -> Callable[[Call, Callable[[], Any]], Any]:
    def hook(call: Call, do: Callable[[], Any]) -> Any:
        if call.method == method:
            raise error
        return do()

    return hook


@pytest.mark.parametrize("name", ["subject move", "pointer cutover"])
def test_a_dry_run_that_cannot_be_asked_holds_what_takes_away_and_nothing_else(name: str) -> None:
    job = branch(stage(name), _fails("dry_run", Unreachable("no answer")))
    plan = ticked(job)
    key = {
        "subject move": "narrow ClusterRoleBinding api-storage",
        "pointer cutover": "cutover Ingress front/front",
    }
    assert "accepted: no answer" in reasons(plan, key[name])
    assert not [w for w in taken(job) if not w.startswith("delete ")]
    assert [w for w in job.written if w.startswith("create ")]


@pytest.mark.parametrize("name", ["first sync", "subject move", "pointer cutover"])
def test_a_right_that_cannot_be_asked_for_holds_everything(name: str) -> None:
    job = branch(stage(name), _fails("can", Unreachable("no answer")))
    plan = ticked(job, 3)
    assert job.written == []
    assert plan.steps
    assert plan.open_steps == ()
    assert {g.state for s in plan.steps for g in s.closed_gates if g.name == "allowed"} == {GateState.UNKNOWN}
    assert not plan.needs_a_person


def test_a_right_that_is_missing_holds_everything_and_needs_a_person() -> None:
    def hook(call: Call, do: Callable[[], Any]) -> Any:
        if call.method == "can" and call.about.startswith("delete") and call.kind == ("apps", "Deployment"):
            return "no rule allows it"
        return do()

    job = branch(stage("subject move"), hook)
    plan = ticked(job, 3)
    assert job.written == []
    assert plan.needs_a_person
    assert [str(finding) for finding in plan.findings] == [
        "may not delete Deployment old: no rule allows it; grant it to the agent; nothing is written"
    ]


def look(job: Job, discovery: Discovery, desired: Desired | None = None) -> Any:
    """One look with this discovery."""
    wanted = desired or job.git.desired(job.git.head, job.git.kinds)
    return Observer(job.cluster, POLICY, discovery).look(wanted, job.ledger())


def test_a_kind_whose_discovery_failed_is_unknown_and_not_absent() -> None:
    job = branch(stage("pointer cutover"), lambda _, do: do())
    whole = job.cluster.discover()
    ingress = GroupKind("networking.k8s.io", "Ingress")
    rest = {kind: resource for kind, resource in whole.resources.items() if kind != ingress}
    seen = look(job, Discovery(rest, {"networking.k8s.io/v1": "503"}))
    assert seen.unknown[ingress] == "discovery of networking.k8s.io/v1 failed: 503"
    assert ingress not in seen.unserved


def test_a_kind_that_is_not_served_is_told_apart_from_one_that_failed() -> None:
    job = branch(stage("pointer cutover"), lambda _, do: do())
    whole = job.cluster.discover()
    ingress = GroupKind("networking.k8s.io", "Ingress")
    rest = {kind: resource for kind, resource in whole.resources.items() if kind != ingress}
    seen = look(job, Discovery(rest, {}))
    assert (ingress in seen.unserved, dict(seen.unknown)) == (True, {})


def test_configuration_of_others_is_not_read() -> None:
    asked: list[Call] = []

    def hook(call: Call, do: Callable[[], Any]) -> Any:
        asked.append(call)
        return do()

    job = branch(stage("pointer cutover"), hook)
    look(job, job.cluster.discover())
    where = {call.about for call in asked if call.method == "list" and call.kind == ("", "ConfigMap")}
    assert where == {"default", "trapeze-system"}
    assert not [call for call in asked if call.kind == ("", "Secret")]


def test_each_object_is_read_in_the_version_that_git_writes_it_in() -> None:
    schema = "{type: object, x-kubernetes-preserve-unknown-fields: true}"
    row = "- {name: v2, served: true, storage: false, schema: {openAPIV3Schema: SCHEMA}}\n  - name: v1\n"
    other = LAMP.replace("name: one", "name: two").replace("shop.example/v1", "shop.example/v2")
    job = Job()
    job.release(DEFINITION.replace("- name: v1\n", row.replace("SCHEMA", schema)), LAMP, other)
    job.run()
    seen = look(job, job.cluster.discover())
    lamps = {key.name: obj.body["apiVersion"] for key, obj in seen.objects.items() if key.kind == "Lamp"}
    assert lamps == {"one": "shop.example/v1", "two": "shop.example/v2"}
    assert job.plan().changes == ()
