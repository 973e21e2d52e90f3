"""Which requests an admission webhook sees, and what becomes of them while it cannot be asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent.core.model import Body
from agent.errors import Rejected
from tests.contract.bench import Bench, condition, config_map, named, namespace
from tests.contract.looks import refusal
from tests.contract.test_admission import HOOK, guard
from tests.rig.resources import load
from tests.rig.test_webhook import MANIFESTS

ADMISSION = "admissionregistration.k8s.io/v1"


def hook(bench: Bench, **rest: Any) -> Body:
    """A validating webhook whose backend does not exist: whatever it sees and must see is refused."""
    body = guard(bench)
    one = body["webhooks"][0] | {"timeoutSeconds": 2} | rest
    one["clientConfig"] = {"caBundle": bench.ca_bundle, "service": {"namespace": "hooks", "name": "nobody"}}
    return named(ADMISSION, "ValidatingWebhookConfiguration", "guard", webhooks=[one])


def seen(bench: Bench, body: Body) -> bool:
    """Whether a webhook that does not answer stands before this request."""
    return isinstance(refusal(lambda: bench.dry_run(body)), Rejected)


def closed(bench: Bench, body: Body) -> None:
    """Apply the hook and wait until ConfigMaps of ``shop`` that it surely sees are refused."""
    bench.apply(body)
    bench.until("it counts", lambda: seen(bench, marked()))


def marked(**data: str) -> Body:
    body = config_map("marked", **data)
    body["metadata"]["labels"] = {"guarded": "yes"}
    return body


def rules(**rest: Any) -> list[Body]:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
    return [{**rule, **rest}]


SECRET = named("v1", "Secret", "web", "shop")


def test_a_dead_webhook_that_must_be_asked_refuses_what_it_sees(bench: Bench) -> None:
    closed(bench, hook(bench))
    assert not seen(bench, SECRET)
    bench.delete(bench.must(hook(bench)))
    bench.until("it is gone", lambda: not seen(bench, marked()))


def test_a_dead_webhook_that_may_be_ignored_refuses_nothing(bench: Bench) -> None:
    bench.apply(hook(bench, failurePolicy="Ignore"))
    bench.advance(1)
    assert bench.apply(marked(a="1"))["data"] == {"a": "1"}


@pytest.mark.parametrize(
    ("rest", "body"),
    [
        ({"objectSelector": {"matchLabels": {"guarded": "yes"}}}, config_map("plain")),
        ({"rules": rules(scope="Namespaced")}, SECRET),
        ({"rules": rules(resources=["config*"]) + rules()}, SECRET),
        ({"rules": rules(apiGroups=["*"], resources=["*"], apiVersions=["v2"]) + rules()}, SECRET),
    ],
    ids=["object selector", "resource", "no pattern", "version"],
)
def test_a_webhook_does_not_see_what_it_does_not_select(bench: Bench, rest: Body, body: Body) -> None:
    closed(bench, hook(bench, **rest))
    assert not seen(bench, body)


@pytest.mark.parametrize(
    ("rest", "body"),
    [
        ({"rules": rules(resources=["*"])}, SECRET),
        ({"rules": rules(resources=["*/*"])}, SECRET),
        ({"rules": rules(apiGroups=["*"], apiVersions=["*"])}, config_map("plain")),
    ],
    ids=["all resources", "all with subresources", "all groups"],
)
def test_a_webhook_sees_what_its_wildcards_match(bench: Bench, rest: Body, body: Body) -> None:
    closed(bench, hook(bench, **rest))
    assert seen(bench, body)


def test_a_webhook_sees_the_namespaces_that_it_selects(bench: Bench) -> None:
    bench.apply(namespace("other"))
    closed(bench, hook(bench))
    assert not seen(bench, named("v1", "ConfigMap", "web", "other"))
    labelled = namespace("other")
    labelled["metadata"]["labels"] = {"guarded": "yes"}
    bench.apply(labelled)
    both = [{"key": "guarded", "operator": "In", "values": ["yes"]}]
    bench.apply(hook(bench, namespaceSelector={"matchExpressions": both}))
    bench.until("it sees the other", lambda: seen(bench, named("v1", "ConfigMap", "web", "other")))
    bench.until("not this one", lambda: not seen(bench, marked()))


def test_a_webhook_for_creations_does_not_see_updates(bench: Bench) -> None:
    bench.apply(marked(a="1"))
    bench.apply(hook(bench, rules=rules(operations=["CREATE"])))
    bench.until("it counts", lambda: seen(bench, config_map("new")))
    assert bench.apply(marked(a="2"))["data"] == {"a": "2"}


def test_a_webhook_for_deletions_keeps_objects(bench: Bench) -> None:
    made = bench.apply(marked(a="1"))
    bench.apply(hook(bench, rules=rules(operations=["DELETE"])))

    def refused() -> bool:
        other = config_map("other")
        bench.apply(other)
        return isinstance(refusal(lambda: bench.delete_soon(other)), Rejected)

    bench.until("it counts", refused)
    assert isinstance(refusal(lambda: bench.delete_soon(made)), Rejected)
    assert bench.live(made) is not None


def test_an_apply_that_changes_nothing_is_still_seen(bench: Bench) -> None:
    bench.apply(marked(a="1"))
    closed(bench, hook(bench))
    assert seen(bench, marked(a="1"))


def test_match_conditions_leave_out_what_they_do_not_match(bench: Bench) -> None:
    only = [
        {
            "name": "guarded",
            "expression": "has(object.metadata.labels) && 'guarded' in object.metadata.labels",
        }
    ]
    closed(bench, hook(bench, matchConditions=only))
    assert not seen(bench, config_map("plain"))


def test_a_webhook_whose_backend_it_guards_itself_cannot_come_back(bench: Bench) -> None:
    """The cycle of every policy engine: its own pods are admitted by itself (failurePolicy Fail)."""
    for body in load(MANIFESTS / "webhook.yaml"):
        bench.apply(body)
    bench.until("the webhook's server", lambda: condition(bench.must(HOOK), "Available") == "True")
    body = guard(bench)
    body["webhooks"][0] |= {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "hooks"}},
        "rules": rules(resources=["pods", "configmaps"], operations=["CREATE"]),
    }
    bench.apply(body)
    bench.apply({**HOOK, "spec": {"replicas": 0}}, "scaler", take_over=True)
    probe = named("v1", "ConfigMap", "probe", "hooks")
    bench.until("it is down", lambda: seen(bench, probe))
    bench.apply({**HOOK, "spec": {"replicas": 1}}, "scaler", take_over=True)
    bench.until("it cannot", lambda: condition(bench.must(HOOK), "ReplicaFailure") == "True")
    bench.delete_soon(body)
    bench.until("it is back", lambda: condition(bench.must(HOOK), "Available") == "True", 60)


def test_webhook_configurations_are_seen_by_no_webhook(bench: Bench) -> None:
    everything = rules(apiGroups=["*"], apiVersions=["*"], resources=["*"])
    closed(bench, hook(bench, rules=everything, namespaceSelector={}))
    assert seen(bench, SECRET)
    bench.apply({**hook(bench, rules=everything), "webhooks": []})
    bench.until("it is open", lambda: not seen(bench, SECRET))


@pytest.mark.parametrize("policy", ["None", "NoneOnDryRun", "Some", "Unknown"])
def test_side_effects_are_none_that_matter_or_refused(bench: Bench, policy: str) -> None:
    error = refusal(lambda: bench.apply(hook(bench, sideEffects=policy, failurePolicy="Ignore")))
    assert (error is None) == (policy in ("None", "NoneOnDryRun"))


def test_what_a_mutating_webhook_adds_belongs_to_the_caller(bench: Bench) -> None:
    for body in load(MANIFESTS / "webhook.yaml"):
        bench.apply(body)
    bench.until("the webhook's server", lambda: condition(bench.must(HOOK), "Available") == "True")
    bench.apply(guard(bench))
    noted: Callable[[], Any] = lambda: bench.dry_run(config_map("seen"))["metadata"].get("annotations")  # noqa: E731 - looked at twice
    bench.until("it counts", noted)
    made = bench.apply(config_map("seen", a="1"))
    assert made["metadata"]["annotations"] == {"example.dev/seen": "yes"}
    again = bench.apply(config_map("seen", a="1"))
    assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
