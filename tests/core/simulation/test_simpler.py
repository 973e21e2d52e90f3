"""Where the model knowingly knows less than a cluster, it errs on the cautious side (docs/model.md)."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.model import Body
from agent.core.simulation.definitions import check_conversion
from agent.core.simulation.serving import through_resolver, through_service
from agent.core.simulation.world import id_of
from agent.errors import Rejected, Unreachable
from tests.core.simulation.lab import Lab, named, service, template, workload

OUTSIDE = {"url": "https://hooks.example.org/admit"}
CONFIG = named("v1", "ConfigMap", "seen", "shop")


def pod(name: str, **knobs: str) -> Body:
    made = template(**knobs)
    body = named("v1", "Pod", name, "shop", spec=made["spec"])
    body["metadata"] |= made["metadata"]
    return body


def guard(**rest: Any) -> Body:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
    hook = {
        "name": "guard.example.dev",
        "clientConfig": OUTSIDE,
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "rules": [rule],
        **rest,
    }
    kind = "ValidatingWebhookConfiguration"
    return named("admissionregistration.k8s.io/v1", kind, "guard", webhooks=[hook])


def test_a_path_is_as_good_as_its_worst_endpoint() -> None:
    lab, bad = Lab(), pod("bad")
    bad["spec"]["containers"][0]["args"] = ["--need=/api/v1/namespaces/shop/configmaps/settings"]
    lab.apply(service(), pod("good"))
    lab.advance(4)
    assert through_service(lab.world, "shop", "web").is_right
    lab.apply(bad)
    lab.advance(4)
    # Both are ready, and a real client meets the one that answers half of the time.
    assert lab.ready(service()) == 2
    assert not through_service(lab.world, "shop", "web").is_right


def test_the_api_server_reaches_no_endpoint_that_is_ending() -> None:
    lab = Lab()
    lab.apply(service(), pod("one", slow_stop="20"))
    lab.advance(4)
    lab.delete(id_of(pod("one")))
    lab.advance(1)
    ref = {"namespace": "shop", "name": "web", "port": 80}
    assert through_service(lab.world, "shop", "web").is_right
    assert not through_resolver(lab.world, ref).is_right


def test_a_webhook_outside_the_cluster_counts_as_not_answering() -> None:
    lab = Lab()
    lab.apply(guard())
    with pytest.raises(Rejected, match="outside"):
        lab.apply(CONFIG)
    lab.apply(guard(failurePolicy="Ignore"))
    lab.apply(CONFIG)


@pytest.mark.parametrize(
    "expression",
    ["request.userInfo.username != 'agent'", "authorizer.group('').resource('pods').check('get').allowed()"],
    ids=["caller", "authorizer"],
)
def test_a_match_condition_that_cannot_be_judged_leaves_the_webhook_in_place(expression: str) -> None:
    lab = Lab()
    lab.apply(guard(matchConditions=[{"name": "one", "expression": expression}]))
    with pytest.raises(Rejected):
        lab.apply(CONFIG)


def test_a_quota_with_scopes_counts_for_all_pods() -> None:
    lab = Lab()
    lab.apply(
        named("v1", "ResourceQuota", "some", "shop", spec={"hard": {"pods": "1"}, "scopes": ["Terminating"]})
    )
    lab.apply(pod("one"))
    with pytest.raises(Rejected, match="exceeded quota"):
        lab.apply(pod("two"))


def test_a_conversion_outside_the_cluster_counts_as_not_answering() -> None:
    versions = [{"name": "v1", "served": True, "storage": True}, {"name": "v2", "served": True}]
    conversion = {"strategy": "Webhook", "webhook": {"clientConfig": OUTSIDE}}
    spec = {"group": "example.dev", "names": {"kind": "Gadget", "plural": "gadgets"}, "versions": versions}
    crd = named("apiextensions.k8s.io/v1", "CustomResourceDefinition", "gadgets.example.dev")
    crd["spec"] = {**spec, "conversion": conversion}
    check_conversion(Lab().world, crd, "v1")
    with pytest.raises(Unreachable, match="conversion webhook"):
        check_conversion(Lab().world, crd, "v2")


def test_an_autoscaler_adds_nothing_for_a_load_that_nobody_knows() -> None:
    lab = Lab()
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    web = workload("Deployment", template(), replicas=2)
    spec = {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 9}
    lab.apply(web, named("autoscaling/v2", "HorizontalPodAutoscaler", "web", "shop", spec=spec))
    lab.advance(600)
    assert lab.get(web)["spec"]["replicas"] == 2
