"""Admission: what a webhook refuses or cannot be asked about is Rejected, with its name."""

from __future__ import annotations

import pytest

from agent.core.model import Body
from agent.errors import ClusterError, Rejected
from tests.contract.bench import Bench, condition, config_map, named
from tests.rig.resources import load
from tests.rig.test_webhook import MANIFESTS

HOOK = named("apps/v1", "Deployment", "hook", "hooks")
GUARD = "guard.example.dev"


def guard(bench: Bench) -> Body:
    """A webhook that guards ConfigMaps of ``shop``."""
    hook = {
        "name": GUARD,
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 2,
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "shop"}},
        "clientConfig": {
            "caBundle": bench.ca_bundle,
            "service": {"namespace": "hooks", "name": "hook", "path": "/admit", "port": 443},
        },
        "rules": [
            {
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "operations": ["CREATE", "UPDATE"],
                "resources": ["configmaps"],
                "scope": "*",
            }
        ],
    }
    return named("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "guard", webhooks=[hook])


@pytest.fixture
def guarded(bench: Bench) -> Bench:
    for body in load(MANIFESTS / "webhook.yaml"):
        bench.apply(body)
    bench.until("the webhook's server", lambda: condition(bench.must(HOOK), "Available") == "True")
    bench.apply(guard(bench))
    return bench


def labelled(**labels: str) -> Body:
    body = config_map("seen", a="1")
    body["metadata"]["labels"] = labels
    return body


def refusal(bench: Bench, body: Body) -> ClusterError | None:
    try:
        bench.dry_run(body)
    except ClusterError as error:
        return error
    return None


def test_a_webhook_that_denies_is_named(guarded: Bench) -> None:
    guarded.until("the webhook counts", lambda: refusal(guarded, labelled(bad="true")))
    with pytest.raises(Rejected, match=GUARD):
        guarded.apply(labelled(bad="true"))
    with pytest.raises(Rejected, match=GUARD):
        guarded.cluster.create(guarded.resource("", "ConfigMap"), labelled(bad="true"))
    assert guarded.live(labelled()) is None
    assert guarded.apply(labelled(good="true"))["data"] == {"a": "1"}


def test_a_webhook_that_cannot_be_asked_refuses_where_it_must(guarded: Bench) -> None:
    guarded.apply({**HOOK, "spec": {"replicas": 0}}, "scaler", take_over=True)
    guarded.until("the webhook is down", lambda: refusal(guarded, labelled(good="true")))
    with pytest.raises(Rejected, match=GUARD):
        guarded.apply(labelled(good="true"))
    guarded.delete_soon(guard(guarded))
    guarded.until("the webhook is gone", lambda: refusal(guarded, labelled(good="true")) is None)
    assert guarded.apply(labelled(good="true"))["data"] == {"a": "1"}
