"""A set's own webhook must not stand between the agent and its ledger."""

from __future__ import annotations

import pytest

from agent.core.yamlread import read_documents
from agent.errors import Rejected
from tests.shell.job import Job, reasons
from tests.shell.releases import CONFIG, namespace, web

HOOK = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: guard}
webhooks:
- name: guard.shop.example
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig: {service: {namespace: front, name: blue, port: 80, path: /}}
  failurePolicy: %(failure)s
  rules:
  - {apiGroups: [%(group)s], apiVersions: [v1], operations: [%(operation)s],
     resources: [%(resource)s]%(scope)s}
%(more)s"""
USUAL = {
    "failure": "Fail",
    "group": '""',
    "operation": "CREATE",
    "resource": "configmaps",
    "scope": "",
    "more": "",
}
OTHERS = """\
  namespaceSelector:
    matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [trapeze-system]}]
"""
KEY = "create ValidatingWebhookConfiguration guard"


def planned(**more: str) -> Job:
    job = Job(ledger_namespace="trapeze-system")
    job.release(namespace("front"), web("blue"), HOOK % (USUAL | more))
    return job


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"group": '"*"', "resource": '"*"'},
        {"operation": '"*"', "resource": '"*/*"'},
        {"operation": "UPDATE, CONNECT"},
        {"scope": ", scope: Namespaced"},
        {"more": "  namespaceSelector: {}\n"},
        {"more": "  objectSelector: {matchLabels: {app.kubernetes.io/managed-by: trapeze}}\n"},
        {"more": "  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: trapeze-system}}\n"},
    ],
)
def test_it_is_held_with_the_way_out_where_it_must_answer_for_the_ledger(more: dict[str, str]) -> None:
    said = reasons(planned(**more).plan(), KEY)
    assert "lockout: webhook guard.shop.example must answer for the ConfigMaps of the agent's ledger" in said
    assert "operator: NotIn, values: [trapeze-system]" in said


@pytest.mark.parametrize(
    "more",
    [
        {"failure": "Ignore"},
        {"group": "apps"},
        {"resource": "secrets"},
        {"resource": '"configmaps/status"'},
        {"operation": "CONNECT"},
        {"scope": ", scope: Cluster"},
        {"more": OTHERS},
        {"more": "  objectSelector: {matchLabels: {app: web}}\n"},
        {"more": "  namespaceSelector: {matchLabels: {guarded: 'yes'}}\n"},
    ],
)
def test_any_other_webhook_is_let_be(more: dict[str, str]) -> None:
    assert "lockout" not in reasons(planned(**more).plan(), KEY)


def test_the_rest_of_the_set_goes_on_and_the_webhook_follows_once_it_leaves_the_ledger_out() -> None:
    job = planned()
    job.hold(10)
    plan = job.plan()
    assert [step.key for step in plan.steps] == [KEY]
    assert plan.needs_a_person
    job.release(namespace("front"), web("blue"), HOOK % (USUAL | {"resource": "pods"}))
    assert job.run() == [KEY]


def test_one_that_stands_is_told_and_what_it_stops_is_told_with_the_way_out() -> None:
    job = Job(ledger_namespace="trapeze-system")
    job.release(namespace("front"), web("blue"))
    job.run()
    text = HOOK % (USUAL | {"operation": "UPDATE"})
    (hook,) = read_documents(text.replace("blue", "gone").encode(), "hook").documents
    job.apply(hook.body)
    (said,) = job.plan().warnings
    assert said.startswith("ValidatingWebhookConfiguration guard: webhook guard.shop.example must answer for")
    assert said.endswith("operator: NotIn, values: [trapeze-system]}]}")
    job.release(namespace("front"), web("blue"), CONFIG % "red")
    with pytest.raises(Rejected, match=r"ledger of set shop cannot be written.*guard\.shop\.example") as told:
        job.tick()
    assert "values: [trapeze-system]}]}" in str(told.value)
    assert job.get("ConfigMap", "default/settings") is None


def test_a_change_that_would_begin_to_cover_the_ledger_is_held() -> None:
    job = planned(resource="pods")
    job.run()
    job.release(namespace("front"), web("blue"), HOOK % USUAL)
    job.hold(3)
    held = job.plan().steps
    assert held
    for step in held:
        assert "lockout" in {gate.name for gate in step.closed_gates}
