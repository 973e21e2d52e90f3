"""Backends and networks: certificates, strangers behind a Service, pods that a policy let in."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from agent.core.model import Body
from agent.core.terms import Terms
from tests.core.histories import (
    ROUTES,
    SERVING,
    Step,
    by_id,
    deleting,
    endpoints,
    gone,
    meta,
    obj,
    ours,
    pod,
    service,
    told,
    verdict,
    webhook,
)


def broken(first: tuple[Body, ...], *steps: Step, terms: Terms | None = None) -> list[str]:
    return told(verdict(first, *steps, terms=terms))


def bundle(*names: str) -> str:
    pem = "".join(f"-----BEGIN CERTIFICATE-----\n{name}\n-----END CERTIFICATE-----\n" for name in names)
    return b64encode(pem.encode()).decode()


HOOK = "ValidatingWebhookConfiguration check check.example.org"
OLD, NEW = webhook(caBundle=bundle("old")), webhook("new", caBundle=bundle("new"))
BOTH = Terms.between(by_id(service(), OLD), by_id(service("new"), NEW), ROUTES)
BACKENDS = (*SERVING, service("new"), pod("n", "rs-2", "new"), endpoints("new", "n"))


def test_a_ca_bundle_that_somebody_put_in_is_not_dropped() -> None:
    with_bundle = (*SERVING, ours(OLD))
    dropped = f"101 trust: {HOOK}: its caBundle is gone, and it had one"
    assert broken(with_bundle, ours(webhook())) == [dropped]
    assert broken(with_bundle, ours(webhook(caBundle="TmV3"))) == []
    found = verdict(with_bundle, ours(webhook()), ours(OLD))
    assert (told(found), found.broken[0].states) == ([dropped], 1)
    assert broken(with_bundle, ours(webhook(insecureSkipTLSVerify=True))) == []


@pytest.mark.parametrize("half", [webhook("new", caBundle=bundle("old")), webhook(caBundle=bundle("new"))])
def test_a_service_and_its_ca_bundle_move_in_one_write(half: Body) -> None:
    first = (*BACKENDS, ours(OLD))
    assert broken(first, ours(NEW), terms=BOTH) == []
    name = half["webhooks"][0]["clientConfig"]["service"]["name"]
    found = verdict(first, ours(half), ours(NEW), terms=BOTH)
    assert told(found) == [f"101 trust: {HOOK}: it calls shop/{name} with the caBundle of the other release"]
    assert found.broken[0].states == 1


def test_a_bundle_of_both_certificates_is_right_for_either_service() -> None:
    first, both = (*BACKENDS, ours(OLD)), bundle("old", "new")
    steps = (ours(webhook(caBundle=both)), ours(webhook("new", caBundle=both)), ours(NEW))
    assert broken(first, *steps, terms=BOTH) == []


def test_a_bundle_that_is_not_in_git_belongs_to_no_release() -> None:
    terms = Terms.between(by_id(service(), webhook()), by_id(service("new"), webhook("new")), ROUTES)
    first = (*BACKENDS, ours(OLD))
    assert broken(first, ours(webhook("new", caBundle=bundle("old"))), terms=terms) == []


def test_a_union_of_selectors_lets_in_no_pods_of_something_else() -> None:
    release = by_id(service())
    terms = Terms.between(release, release, ROUTES)
    first = (*SERVING, pod("x", "rs-9", "other"))
    assert broken(first, endpoints("web", "a"), terms=terms) == []
    found = verdict(first, endpoints("web", "a", "x"), endpoints("web", "a"), terms=terms)
    assert told(found) == [
        "101 strangers: Service shop/web: Pod shop/x is behind it, and no release's selector means it"
    ]
    assert found.broken[0].states == 1
    assert broken(first, endpoints("web", "a", "x")) == []
    both = Terms.between(release, by_id({**service(), "spec": {"selector": {"app": "other"}}}), ROUTES)
    assert broken(first, endpoints("web", "a", "x"), terms=both) == []


def policy(name: str, *peers: Body, app: str = "db", **spec: Any) -> Body:
    """Lets these peers in to the pods of ``app``."""
    ingress = [{"from": list(peers), "ports": [{"port": 5432}]}] if peers else []
    rules = {"podSelector": {"matchLabels": {"app": app}}, "policyTypes": ["Ingress"], "ingress": ingress}
    return ours(obj("networking.k8s.io/v1", "NetworkPolicy", name, "shop", spec={**rules, **spec}))


def app(name: str) -> Body:
    return {"podSelector": {"matchLabels": {"app": name}}}


DB = pod("db", "rs-db", "db")
SPACE = obj("v1", "Namespace", "shop", meta={"labels": {"team": "blue"}})
TALKING = (SPACE, *SERVING[1:2], pod("a"), DB, policy("in", app("web")))
CUT = 'reach: Pod shop/db Ingress Pod shop/a {"port": 5432}: no policy allows it any more'


def test_a_peer_is_narrowed_only_after_the_old_pods() -> None:
    new, wide = pod("n", "rs-2", "new"), policy("in", app("web"), app("new"))
    assert broken(TALKING, new, wide, deleting(pod("a")), policy("in", app("new"))) == []
    found = verdict(TALKING, new, wide, policy("in", app("new")), deleting(pod("a")))
    assert told(found) == [f"103 {CUT}"]
    assert (found.broken[0].states, found.broken[0].is_mended) == (1, True)


@pytest.mark.parametrize(
    "still",
    [
        policy("in", {"namespaceSelector": {"matchLabels": {"team": "blue"}}}),
        policy("in", {"podSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}}),
        policy("in", {"ipBlock": {"cidr": "10.0.0.0/8"}}),
        policy("in", ingress=[{"from": [app("web")]}]),
        policy("in", ingress=[{}]),
        policy("in", app("web"), app("more")),
    ],
)
def test_a_peer_that_is_let_in_in_other_words_is_let_in(still: Body) -> None:
    client = {**pod("a"), "status": {"phase": "Running", "podIP": "10.0.0.9"}}
    assert broken((*TALKING[:2], client, *TALKING[3:]), still) == []


@pytest.mark.parametrize(
    "less",
    [
        policy("in", {"namespaceSelector": {"matchLabels": {"team": "green"}}}),
        policy("in", {"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.0.0.0/24"]}}),
        policy("in", ingress=[{"from": [app("web")], "ports": [{"port": 80}]}]),
        policy("in"),
    ],
)
def test_a_peer_that_is_let_in_no_more_is_cut_off(less: Body) -> None:
    client = {**pod("a"), "status": {"phase": "Running", "podIP": "10.0.0.9"}}
    first = (*TALKING[:2], client, *TALKING[3:])
    found = verdict(first, less, policy("in", app("web")))
    assert told(found) == [f"101 {CUT}"]
    assert found.broken[0].states == 1


def test_a_policy_that_goes_takes_nothing_unless_another_one_isolates() -> None:
    deny = policy("deny", app="db")
    assert broken(TALKING, gone(TALKING[-1])) == []
    assert broken((*TALKING, deny), gone(TALKING[-1])) == [f"101 {CUT}"]
    assert broken(TALKING, deny) == []
    assert broken(TALKING[:-1], deny) == []


def test_what_both_releases_run_may_lose_what_the_new_one_does_not_allow() -> None:
    workloads = []
    for name, uid in (("web", "rs-1"), ("db", "rs-db")):
        owned = [{"uid": f"Deployment-shop-{name}", "controller": True}]
        workloads += [
            obj("apps/v1", "Deployment", name, "shop", spec={"template": {"spec": {}}}),
            obj("apps/v1", "ReplicaSet", name, "shop", meta={"uid": uid, "ownerReferences": owned}),
        ]
    release = by_id(*workloads[::2])
    terms = Terms.between(release, release, ROUTES)
    first = (*TALKING, *workloads)
    assert broken(first, policy("in", app("new")), terms=terms) == []
    assert broken(first, policy("in", app("new"))) == [f"101 {CUT}"]


def test_everybody_and_the_way_out_count_as_well() -> None:
    open_to_all = policy("in", ingress=[{"ports": [{"port": 5432}]}])
    first = (*TALKING[:-1], open_to_all)
    assert broken(first, policy("in", app("web"))) == [
        '101 reach: Pod shop/db Ingress everybody {"port": 5432}: no policy allows it any more'
    ]
    out = policy("out", app="web", policyTypes=["Egress"], egress=[{"to": [app("db")]}])
    none = policy("out", app="web", policyTypes=["Egress"], egress=[])
    assert broken((*TALKING, out), none) == [
        "101 reach: Pod shop/a Egress Pod shop/db any port: no policy allows it any more"
    ]


def test_a_namespace_that_loses_its_label_is_no_policy_of_ours() -> None:
    first = (*TALKING[:-1], policy("in", {"namespaceSelector": {"matchLabels": {"team": "blue"}}}))
    assert broken(first, meta(SPACE, labels={})) == []
