"""What a delete waits for: each rule open, held and unknown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.core.model import SET_LABEL, Body, LiveObject, ObjectId
from agent.core.policy import id_of
from agent.core.pruning import Pruning, is_dead_webhook
from agent.core.situation import Situation
from agent.core.steps import NEEDS_A_PERSON, Answer, Gate, GateState, NamespaceContents
from tests.core.histories import RBAC, account, api_service, binding, cluster_role, deleting, obj
from tests.core.scenes import answered, app, gates, labelled, pod_of, running, said, scene, unread, workload

OPEN, HELD, UNKNOWN = GateState.OPEN, GateState.HELD, GateState.UNKNOWN
CONFIG = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
"""
SPACE = """
apiVersion: v1
kind: Namespace
metadata: {name: old}
"""
SETTINGS = ObjectId("", "ConfigMap", "shop", "settings")
OLD = ObjectId("", "Namespace", "", "old")


def judged(situation: Situation, key: ObjectId, *leaving: ObjectId) -> dict[str, Gate]:
    """The gates of the delete of ``key``, by their names."""
    judge = Pruning(gates(situation, leaving=(key, *leaving)), frozenset())
    return {one.name: one for one in judge.of(situation.live.objects[key])}


def test_what_nothing_uses_may_go() -> None:
    found = judged(scene(CONFIG, "", allow=frozenset({"*"})), SETTINGS)
    assert [said(one) for one in found.values() if not one.is_open] == []
    assert said(found["unreferenced"]) == "open unreferenced: nothing live uses it"


def test_what_git_itself_names_waits_for_a_person() -> None:
    """argo-cd 2.3.17 has a RoleBinding whose Role it has dropped."""
    binding = """
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: cache, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: cache}
subjects: [{kind: ServiceAccount, name: cache}]
"""
    role = """
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: cache, namespace: shop}
rules: []
"""
    key = ObjectId("rbac.authorization.k8s.io", "Role", "shop", "cache")
    found = judged(scene(binding + role, binding), key)
    assert said(found["named"]) == (
        "held named: RoleBinding shop/cache of this revision names it:"
        " put it back into Git, or take the name out there"
    )
    assert found["named"].name in NEEDS_A_PERSON
    assert judged(scene(binding + role, ""), key)["unreferenced"].is_open is False


def mounting(name: str) -> Body:
    body = pod_of(workload(), name)
    return {**body, "spec": {"volumes": [{"name": "v", "configMap": {"name": "settings"}}]}}


def test_what_a_live_pod_names_stays() -> None:
    situation = scene(CONFIG, "", mounting("a"))
    assert said(judged(situation, SETTINGS)["unreferenced"]) == "held unreferenced: used by Pod shop/a"
    blind = unread(situation, "Pod")
    assert (
        said(judged(blind, SETTINGS)["unreferenced"]) == "unknown unreferenced: Pod: the server answers 503"
    )


def test_a_delete_that_was_accepted_only_waits_for_its_end() -> None:
    going = deleting(labelled(obj("v1", "ConfigMap", "settings", "shop", meta={"finalizers": ["a.b/c"]})))
    (gone,) = judged(scene(CONFIG, "", going), SETTINGS).values()
    assert said(gone) == "held gone: deleted at 2026-01-01T00:00:00Z, waits for a.b/c"


def test_an_object_without_our_label_is_left_to_a_person() -> None:
    bare = obj("v1", "ConfigMap", "settings", "shop")
    held = judged(scene(CONFIG, "", bare), SETTINGS)["ours"]
    assert said(held).startswith("held ours: the label of set shop was taken off")
    assert "ours" not in judged(scene(CONFIG, ""), SETTINGS)


@pytest.mark.parametrize(
    ("allow", "state"), [((), HELD), (("Namespace",), OPEN), (("Namespace old",), OPEN), (("*",), HELD)]
)
def test_a_namespace_goes_with_approval_alone(allow: tuple[str, ...], state: GateState) -> None:
    found = judged(scene(SPACE, "", allow=frozenset(allow)), OLD)
    assert found["approved"].state is state


def test_a_namespace_goes_last_empty_and_with_discovery_whole() -> None:
    situation = scene(SPACE, "", allow=frozenset({"Namespace"}))
    found = judged(situation, OLD)
    assert said(found["empty"]) == "unknown empty: not asked yet"
    assert found["discoverable"].is_open
    for ids, state in (((), OPEN), ((SETTINGS,), HELD)):
        told = answered(situation, {NamespaceContents("old"): Answer(OPEN, ids=ids)})
        assert judged(told, OLD)["empty"].state is state
    ill = scene(SPACE, "", api_service(available=False))
    reason = "held discoverable: APIService v1.example.org: not available: R m"
    assert said(judged(ill, OLD)["discoverable"]) == reason
    assert judged(unread(ill, "APIService.apiregistration.k8s.io"), OLD)["discoverable"].state is UNKNOWN
    judge = Pruning(gates(situation), frozenset({SETTINGS}))
    assert said(judge.last()) == "held last: ConfigMap shop/settings first"


DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.org}
spec:
  group: example.org
  names: {kind: Thing, plural: things}
  scope: Cluster
  versions: []
"""
THINGS = ObjectId("apiextensions.k8s.io", "CustomResourceDefinition", "", "things.example.org")


def test_a_definition_goes_once_no_object_of_its_kind_is_left() -> None:
    assert judged(scene(DEFINITION, ""), THINGS)["without-objects"].is_open
    kept = scene(DEFINITION, "", obj("example.org/v1", "Thing", "a"))
    held = "held without-objects: 1 object of Thing.example.org would go with it"
    told = said(judged(kept, THINGS)["without-objects"])
    assert told == f"{held}, Thing.example.org a is there, of no set"
    blind = unread(scene(DEFINITION, ""), "Thing.example.org")
    assert judged(blind, THINGS)["without-objects"].state is UNKNOWN


def test_an_aggregated_api_goes_after_its_own_objects() -> None:
    text = """
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.example.org}
spec: {group: example.org, version: v1, service: {namespace: shop, name: web}}
"""
    key = ObjectId("apiregistration.k8s.io", "APIService", "", "v1.example.org")
    member = ObjectId("example.org", "Thing", "", "a")
    assert judged(scene(text, ""), key)["without-objects"].is_open
    held = judged(scene(text, ""), key, member)["without-objects"]
    assert said(held) == "held without-objects: Thing.example.org a first"


def under(name: str) -> Body:
    body = pod_of(workload("gone"), "a")
    return {**body, "spec": {"serviceAccountName": name}}


def bound(*live: Body) -> Situation:
    """A binding that leaves, of the ServiceAccount ``old``, and what else lives."""
    text = f"""
apiVersion: {RBAC}
kind: ClusterRoleBinding
metadata: {{name: reads}}
roleRef: {{kind: ClusterRole, name: view, apiGroup: rbac.authorization.k8s.io}}
subjects: [{{kind: ServiceAccount, name: old, namespace: shop}}]
"""
    return scene(text, "", *live)


def test_a_binding_stays_while_a_pod_works_under_it() -> None:
    key = ObjectId("rbac.authorization.k8s.io", "ClusterRoleBinding", "", "reads")
    assert judged(bound(), key)["idle"].is_open
    assert said(judged(bound(under("old")), key)["idle"]) == "held idle: pod a (running)"
    assert judged(bound(under("other")), key)["idle"].is_open
    assert judged(unread(bound(), "Pod"), key)["idle"].state is UNKNOWN


def test_a_role_stays_while_its_rules_are_used_through_a_binding() -> None:
    text = f"""
apiVersion: {RBAC}
kind: ClusterRole
metadata: {{name: reader}}
rules: [{{apiGroups: [""], resources: [pods], verbs: [get]}}]
"""
    key = id_of(cluster_role("reader", "get"))
    assert judged(scene(text, ""), key)["idle"].is_open
    used = scene(text, "", binding("reads", "reader", account("old")), under("old"))
    assert said(judged(used, key)["idle"]) == "held idle: pod a (running)"


def test_a_workload_stays_while_a_service_that_stays_has_no_other() -> None:
    situation = scene(app("blue"), "", *(labelled(body) for body in running("blue")))
    key = ObjectId("apps", "Deployment", "shop", "blue")
    service = ObjectId("", "Service", "shop", "blue")
    alone = "held unreferenced: used by Service shop/blue (nothing else stands behind it)"
    assert said(judged(situation, key)["unreferenced"]) == alone
    first = "held unreferenced: used by Service shop/blue (goes first)"
    assert said(judged(situation, key, service)["unreferenced"]) == first


def hook(policy: str = "Fail") -> LiveObject:
    config = {"service": {"namespace": "shop", "name": "green"}}
    one = {"name": "a.example", "failurePolicy": policy, "clientConfig": config}
    body = obj("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "gate", webhooks=[one])
    return LiveObject(id_of(body), body)


def test_a_webhook_is_dead_only_where_it_must_answer_and_nothing_does() -> None:
    empty, serving = scene("", ""), scene("", "", *running("green"))
    assert is_dead_webhook(empty, hook())
    assert not is_dead_webhook(serving, hook())
    assert not is_dead_webhook(empty, hook("Ignore"))
    assert not is_dead_webhook(unread(empty, "Service"), hook())
    config = LiveObject(hook().id, {**hook().body, "webhooks": []})
    assert not is_dead_webhook(empty, config)


def test_what_only_constrains_does_not_wait_for_the_new_generation() -> None:
    text = CONFIG + "---\n" + SPACE
    situation = scene(text, text + app("green"), hook().body)
    meta = {**hook().body["metadata"], "labels": {SET_LABEL: "shop"}}
    own = LiveObject(hook().id, {**hook().body, "metadata": meta})
    objects = {**situation.live.objects, own.id: own}
    situation = replace(situation, live=replace(situation.live, objects=objects))
    names = {one.name for one in Pruning(gates(situation), frozenset()).of(own)}
    assert "ready" not in names
    assert "complete" in names
