"""Webhooks: whom they guard, what they refuse, and what their absence does."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.model import Body
from agent.core.simulation.draft import Draft
from agent.core.simulation.requests import apply
from agent.core.simulation.world import id_of
from agent.errors import Invalid, Rejected
from tests.core.simulation.lab import MANAGER, Lab, named, workload

GUARD = "admissionregistration.k8s.io/v1"
SERVER = named(
    "v1", "Service", "guard", "shop", spec={"selector": {"app": "guard"}, "ports": [{"port": 443}]}
)
PLAIN = named("v1", "ConfigMap", "plain", "shop", data={"a": "1"})


def guard(kind: str = "ValidatingWebhookConfiguration", **hook: Any) -> Body:
    rules = [
        {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "resources": ["configmaps"],
            "operations": ["CREATE", "UPDATE"],
        }
    ]
    config = {"service": {"name": "guard", "namespace": "shop", "path": "/"}}
    row = {"name": "guard.example.dev", "clientConfig": config, "rules": rules, "sideEffects": "None"}
    return named(GUARD, kind, "guard", webhooks=[{**row, "admissionReviewVersions": ["v1"], **hook}])


def lab_with(configuration: Body, *flags: str) -> Lab:
    """A webhook server in service, and then the configuration that points at it."""
    lab = Lab()
    container = {"name": "guard", "image": "standin/webhook:1", "args": list(flags)}
    pods = {"metadata": {"labels": {"app": "guard"}}, "spec": {"containers": [container]}}
    lab.apply(workload("Deployment", pods, "guard"), SERVER)
    lab.advance(3)
    lab.apply(configuration)
    return lab


def labelled(**labels: str) -> Body:
    return {**PLAIN, "metadata": {**PLAIN["metadata"], "labels": labels}}


# https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#failure-policy
def test_a_webhook_without_pods_refuses_what_it_guards_and_nothing_else() -> None:
    lab = lab_with(guard())
    lab.apply(PLAIN)
    lab.delete(id_of(workload("Deployment", {"metadata": {"labels": {"app": "guard"}}}, "guard")))
    lab.advance(5)
    with pytest.raises(Rejected, match=r"failed calling webhook.*no ready endpoints"):
        lab.apply({**PLAIN, "data": {"a": "2"}})
    assert lab.get(PLAIN)["data"] == {"a": "1"}
    lab.apply(named("v1", "Secret", "free", "shop"))
    assert not lab.reply(guard()).is_right


def test_a_webhook_that_may_be_ignored_is() -> None:
    lab = lab_with(guard(failurePolicy="Ignore"))
    lab.delete(id_of(SERVER))
    lab.apply(PLAIN)
    assert lab.get(PLAIN)["data"] == {"a": "1"}


def test_a_webhook_denies_with_its_own_words() -> None:
    lab = lab_with(guard(), "--deny=no talking", "--deny-label=noise=loud")
    lab.apply(labelled(noise="low"))
    with pytest.raises(Rejected, match="no talking"):
        lab.apply(labelled(noise="loud"))


def test_a_mutating_webhook_changes_what_is_stored() -> None:
    lab = lab_with(guard("MutatingWebhookConfiguration"), "--annotate=seen=yes")
    lab.apply(PLAIN)
    assert lab.get(PLAIN)["metadata"]["annotations"] == {"seen": "yes"}


# https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests
@pytest.mark.parametrize(
    "selectors",
    [
        {"namespaceSelector": {"matchLabels": {"guarded": "true"}}},
        {"objectSelector": {"matchLabels": {"guarded": "true"}}},
        {"rules": [{"apiGroups": ["apps"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]}]},
        {
            "rules": [
                {
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "resources": ["configmaps"],
                    "operations": ["DELETE"],
                }
            ]
        },
    ],
    ids=["namespace", "object", "group", "operation"],
)
def test_what_is_not_selected_is_not_asked(selectors: Body) -> None:
    lab = lab_with(guard(**selectors), "--deny=never")
    lab.apply(PLAIN)
    assert lab.get(PLAIN)["data"] == {"a": "1"}


# https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#side-effects
def test_a_dry_run_does_not_go_through_a_webhook_with_side_effects() -> None:
    lab = lab_with(guard())
    # Version v1 refuses to write one; those that were written before it stand on.
    old, draft = lab.get(guard()), Draft(lab.world)
    draft.put(id_of(old), old | {"webhooks": [old["webhooks"][0] | {"sideEffects": "Some"}]})
    lab.world = draft.finish()
    with pytest.raises(Invalid, match="dry run"):
        apply(Draft(lab.world), PLAIN, MANAGER, is_dry=True)
    lab.apply(PLAIN)
