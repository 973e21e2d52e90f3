"""What running pods use, what is foreign, what holds data: each break beside its neighbour."""

from __future__ import annotations

import pytest

from agent.core.model import Body
from agent.core.terms import Terms
from tests.core.histories import (
    ROUTES,
    SA,
    Step,
    api_service,
    by_id,
    deleting,
    gone,
    meta,
    obj,
    ours,
    pod,
    told,
    verdict,
)


def broken(first: tuple[Body, ...], *steps: Step, terms: Terms | None = None) -> list[str]:
    return told(verdict(first, *steps, terms=terms))


def using(**spec: object) -> Body:
    return pod("a", volumes=[{"name": "v", **spec}])


def config(*keys: str, kind: str = "ConfigMap", **more: object) -> Body:
    return ours(obj("v1", kind, "conf", "shop", data=dict.fromkeys(keys, "x"), **more))


ITEM = {"name": "conf", "items": [{"key": "k", "path": "k"}]}


@pytest.mark.parametrize(
    ("user", "used"),
    [
        (using(configMap=ITEM), config("k", "l")),
        (using(secret={"secretName": "conf", "items": ITEM["items"]}), config("k", "l", kind="Secret")),
        (using(projected={"sources": [{"secret": ITEM}]}), config("k", "l", kind="Secret")),
        (
            pod(
                "a", containers=[{"env": [{"valueFrom": {"configMapKeyRef": {"name": "conf", "key": "k"}}}]}]
            ),
            config("k", "l"),
        ),
        (
            pod(
                "a", initContainers=[{"env": [{"valueFrom": {"secretKeyRef": {"name": "conf", "key": "k"}}}]}]
            ),
            config("k", "l", kind="Secret"),
        ),
    ],
)
def test_what_a_running_pod_uses_stays_with_the_keys_that_it_names(user: Body, used: Body) -> None:
    first = (SA, user, used)
    kind = used["kind"]
    less = {**used, "data": {"k": "y"}}
    assert broken(first, less) == []
    assert broken(first, {**used, "data": {"l": "x"}}) == [
        f"101 in use: Pod shop/a: {kind} shop/conf has lost the key k"
    ]
    assert broken(first, gone(used)) == [f"101 in use: Pod shop/a: {kind} shop/conf is gone"]
    assert broken(first, deleting(used)) == [f"101 in use: Pod shop/a: {kind} shop/conf is being deleted"]
    assert broken(first, deleting(user), gone(used)) == []


@pytest.mark.parametrize(
    "user",
    [
        using(configMap={**ITEM, "optional": True}),
        pod("a", containers=[{"envFrom": [{"configMapRef": {"name": "conf", "optional": True}}]}]),
        using(emptyDir={}),
    ],
)
def test_what_is_optional_may_go(user: Body) -> None:
    assert broken((SA, user, config("k")), gone(config())) == []


def test_what_a_pod_never_found_is_not_missed_until_it_was_there() -> None:
    user = pod("a", containers=[{"envFrom": [{"configMapRef": {"name": "conf"}}]}])
    assert broken((SA, user)) == []
    assert len(broken((SA, user), config("k"), gone(config()))) == 1


def test_a_claim_in_use_stays() -> None:
    claim = ours(obj("v1", "PersistentVolumeClaim", "data", "shop"))
    first = (SA, using(persistentVolumeClaim={"claimName": "data"}), claim)
    assert broken(first, deleting(claim)) == [
        "101 data: PersistentVolumeClaim shop/data: it is being deleted, and no release gave it up",
        "101 in use: Pod shop/a: PersistentVolumeClaim shop/data is being deleted",
    ]


def test_a_service_account_made_anew_refuses_the_tokens_of_running_pods() -> None:
    first, anew = (ours(SA), pod("a")), ours(meta(SA, uid="another"))
    assert broken(first, gone(SA), anew, pod("a")) == [
        "101 in use: Pod shop/a: ServiceAccount shop/web is gone"
    ]
    assert verdict(first, gone(SA), anew, pod("a")).broken[0].states == 3
    assert broken(first, anew) == [
        (
            "101 in use: Pod shop/a: ServiceAccount shop/web was made anew, "
            "which refuses the tokens that the pod holds"
        )
    ]
    assert broken((ours(SA), pod("a", automountServiceAccountToken=False)), anew) == []


FOREIGN = obj("v1", "ConfigMap", "theirs", "shop", meta={"managedFields": [{"manager": "kubectl"}]})


def written_by(body: Body, *managers: str) -> Body:
    return meta(body, managedFields=[{"manager": manager} for manager in managers])


def test_foreign_objects_are_neither_deleted_nor_written_by_us() -> None:
    first = (FOREIGN,)
    assert broken(first, written_by(FOREIGN, "kubectl", "helm")) == []
    assert broken(first, ours(written_by(FOREIGN, "kubectl", "trapeze/shop"))) == [
        "101 foreign object: ConfigMap shop/theirs: it is foreign and was written by trapeze/shop"
    ]
    assert broken(first, gone(FOREIGN)) == [
        "101 foreign object: ConfigMap shop/theirs: it is foreign and was deleted"
    ]


def test_what_is_ours_named_by_the_release_owned_or_made_by_the_system_is_not_foreign() -> None:
    mine = (ours(FOREIGN), written_by(FOREIGN, "trapeze"))
    owned = meta(FOREIGN, ownerReferences=[{"uid": "x"}])
    root = obj("v1", "ConfigMap", "kube-root-ca.crt", "shop")
    group = meta(api_service(), labels={"kube-aggregator.kubernetes.io/automanaged": "true"})
    for body in (*mine, owned, root, pod("a"), group):
        assert broken((body,), gone(body)) == []
    adopted = Terms.between(by_id(FOREIGN), by_id(FOREIGN), ROUTES)
    assert broken((FOREIGN,), written_by(FOREIGN, "trapeze/shop"), terms=adopted) == []
    retired = Terms.between(by_id(FOREIGN), {}, ROUTES)
    assert broken((FOREIGN,), gone(FOREIGN), terms=retired) == []
    assert broken((), FOREIGN, gone(FOREIGN)) == []


@pytest.mark.parametrize(
    "held",
    [
        obj("v1", "Namespace", "shop"),
        obj("apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets.example.org"),
        obj("v1", "PersistentVolume", "disk"),
    ],
)
def test_what_takes_data_with_it_goes_only_when_the_release_gave_it_up(held: Body) -> None:
    assert len(broken((ours(held),), deleting(ours(held)), gone(held))) == 1
    assert len(broken((held,), gone(held))) == 1
    assert broken((held,), gone(held), terms=Terms.between(by_id(held), {}, ROUTES)) == []
    assert broken((), ours(held), gone(held)) == []
    assert broken((deleting(held),), gone(held)) == []
