"""What a dry run tells of a webhook: which ones can be asked, about what, and what the answers mean."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.admits import admitted, as_trial, asked_about, decided, not_admitted
from agent.core.model import Body
from agent.core.steps import GateState
from agent.errors import ClusterError, Forbidden, Rejected


def rule(*resources: str, operations: str = "UPDATE", groups: str = "", **more: Any) -> Body:
    return {"apiGroups": [groups], "operations": operations.split(), "resources": [*resources], **more}


def config(*rules: Body, **more: Any) -> Body:
    return {"webhooks": [{"name": "w.example", "sideEffects": "None", "rules": [*rules], **more}]}


@pytest.mark.parametrize(
    ("told", "body"),
    [
        (True, config(rule("pods"))),
        (True, config(rule("pods", operations="CREATE *"))),
        (True, config(rule("pods"), failurePolicy="Fail", sideEffects="NoneOnDryRun")),
        (False, config(rule("pods", operations="CREATE DELETE"))),
        (False, config(rule("pods"), failurePolicy="Ignore")),
        (False, config(rule("pods"), sideEffects="Some")),
        (False, config(rule("pods"), sideEffects=None)),
        (False, config(rule("pods"), matchConditions=[{"name": "c", "expression": "false"}])),
        (False, {"webhooks": None}),
    ],
)
def test_which_webhooks_a_dry_run_tells_of(told: bool, body: Body) -> None:  # noqa: FBT001 - a table
    assert bool(list(asked_about(body))) is told


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (rule("pods"), (True, False, False)),
        (rule("*"), (True, False, True)),
        (rule("*/*", groups="*"), (True, True, True)),
        (rule("*", groups="*", scope="Cluster"), (False, False, True)),
        (rule("*", groups="*", scope="Namespaced"), (True, True, False)),
    ],
)
def test_what_it_is_asked_about(row: Body, expected: tuple[bool, ...]) -> None:
    (asked,) = asked_about(config(row))
    resources = (("", "pods", True), ("apps", "deployments", True), ("", "nodes", False))
    found = tuple(asked.takes(group, name, is_namespaced=inside) for group, name, inside in resources)
    assert found == expected


def test_selectors_choose_what_is_tried() -> None:
    chosen = {"objectSelector": {"matchLabels": {"a": "b"}}, "namespaceSelector": {}}
    (asked,) = asked_about(config(rule("pods"), **chosen))
    assert [asked.objects.match(labels) for labels in ({"a": "b"}, {})] == [True, False]
    assert asked.namespaces.match({})


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (Rejected('failed calling webhook "w.example": refused', is_unanswered=True), GateState.HELD),
        (Rejected('admission webhook "w.example" denied the request'), GateState.OPEN),
        (Rejected('failed calling webhook "other": refused', is_unanswered=True), GateState.UNKNOWN),
        (Forbidden("may not patch pods"), GateState.UNKNOWN),
        (ClusterError("503"), GateState.UNKNOWN),
    ],
)
def test_a_refusal_is_an_answer_and_other_errors_say_nothing(error: ClusterError, state: GateState) -> None:
    assert not_admitted("w.example", "Pod shop/a", error).state is state


def test_a_trial_holds_nothing_that_the_server_writes() -> None:
    metadata = {"name": "a", "namespace": "shop", "uid": "1", "resourceVersion": "2", "labels": {"x": "y"}}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {}, "status": {}}
    kept = {"name": "a", "namespace": "shop", "labels": {"x": "y"}}
    assert as_trial(body) == {"apiVersion": "v1", "kind": "Pod", "metadata": kept, "spec": {}}


def test_one_webhook_that_does_not_answer_decides_and_none_leaves_it_to_the_endpoints() -> None:
    held = not_admitted("w", "t", Rejected('"w" refused', is_unanswered=True))
    unknown, fine = not_admitted("w", "t", ClusterError("503")), admitted("w", "t")
    assert decided([fine, unknown, None, held]).state is GateState.HELD
    assert decided([fine, unknown]).state is GateState.UNKNOWN
    assert [decided(each).state for each in ([fine, None], [None], [])] == [GateState.OPEN] * 3
