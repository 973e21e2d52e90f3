"""Rights of running pods and of callers: each history that breaks them, beside its neighbour."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.core.model import Body, ObjectId
from agent.core.serving import Path
from agent.core.terms import Terms, from_json, to_json
from tests.core.histories import (
    ROUTES,
    SA,
    SERVING,
    Step,
    account,
    binding,
    by_id,
    checker,
    cluster_role,
    deleting,
    gone,
    obj,
    ours,
    pod,
    told,
    verdict,
    walk,
)

READER, READS = SERVING[6], SERVING[7]
OURS: tuple[Body, ...] = tuple(ours(body) for body in SERVING)
WEB = "system:serviceaccount:shop:web"
NEW_SA = obj("v1", "ServiceAccount", "new", "shop")
NEW_POD = pod("n", "rs-2", serviceAccountName="new")


def broken(first: tuple[Body, ...], *steps: Step, terms: Terms | None = None) -> list[str]:
    return told(verdict(first, *steps, terms=terms))


def lost(version: int, name: str, rights: str, user: str = WEB) -> str:
    return f"{version} rights of a running pod: Pod shop/{name}: {user} has lost {rights}"


def to(*names: str) -> Body:
    """The shared binding, with these ServiceAccounts as its subjects."""
    return ours(binding("web-reads", "reader", *map(account, names)))


def test_a_shared_binding_may_be_narrowed_only_after_the_old_pods() -> None:
    first, steps = OURS[:4] + OURS[6:], (NEW_SA, NEW_POD, to("web", "new"))
    assert broken(first, *steps, deleting(pod("a")), to("new"), gone(pod("a"))) == []
    assert broken(first, *steps, to("new"), deleting(pod("a")), gone(pod("a"))) == [
        lost(104, "a", "get pods, list pods")
    ]


def test_a_role_made_anew_is_a_gap_of_one_state() -> None:
    found = verdict(OURS, gone(READER), ours(READER))
    assert told(found) == [lost(101, name, "get pods, list pods") for name in "ab"]
    assert [broken.states for broken in found.broken] == [1, 1]


def test_a_wider_role_loses_nothing_and_a_narrower_one_names_what_is_lost() -> None:
    assert broken(OURS, ours(cluster_role("reader", "*", "*"))) == []
    assert broken(OURS, ours(cluster_role("reader", "get"))) == [
        lost(101, name, "list pods") for name in "ab"
    ]


def test_many_lost_rights_are_counted_not_listed() -> None:
    role = ours(cluster_role("reader", "get list watch update", "pods secrets"))
    found = broken((*OURS[:4], role, OURS[7]), gone(READER))
    assert found == [lost(101, "a", "get pods, get secrets, list pods, list secrets, update pods and 3 more")]


def test_rights_that_come_through_a_group_count_as_well() -> None:
    group = {"kind": "Group", "name": "system:serviceaccounts:shop"}
    first = (*OURS[:4], OURS[6], ours(binding("all", "reader", group)))
    assert broken(first, ours(binding("all", "reader", account("web")))) == []
    assert len(broken(first, ours(binding("all", "reader")))) == 1


@pytest.mark.parametrize(
    "harmless",
    [
        pod("a", automountServiceAccountToken=False),
        {**pod("a"), "status": {"phase": "Succeeded"}},
        deleting(pod("a")),
    ],
)
def test_a_pod_without_token_or_at_its_end_needs_no_rights(harmless: Body) -> None:
    assert broken((*OURS[:3], harmless, *OURS[6:]), gone(READS)) == []


def test_pods_of_a_namespace_that_goes_are_at_their_end() -> None:
    going = ours(deleting(obj("v1", "Namespace", "shop")))
    terms = Terms(retired=frozenset({gone(going)}))
    assert broken((*OURS[:4], *OURS[6:]), going, gone(READS), gone(SA), terms=terms) == []


OLD_RBAC = by_id(READER, READS)
NARROW = cluster_role("reader", "get")


def test_what_the_new_release_gives_up_may_go_for_pods_of_both_releases() -> None:
    deployment = obj("apps/v1", "Deployment", "web", "shop", spec={"template": {"spec": {"x": 1}}})
    owner = {"uid": deployment["metadata"]["uid"], "controller": True}
    replicas = obj("apps/v1", "ReplicaSet", "web-1", "shop", meta={"uid": "rs-1", "ownerReferences": [owner]})
    first = (*OURS, ours(deployment), replicas)
    both = Terms.between(OLD_RBAC | by_id(deployment), by_id(NARROW, READS, deployment), ROUTES)
    assert broken(first, ours(NARROW), terms=both) == []
    # More than the release gives up, or a template that the new release replaces, is a loss.
    assert len(broken(first, ours(cluster_role("reader", "list")), terms=both)) == 2
    other = {**deployment, "spec": {"template": {"spec": {"x": 2}}}}
    moved = Terms.between(OLD_RBAC | by_id(deployment), by_id(NARROW, READS, other), ROUTES)
    assert broken(first, ours(NARROW), terms=moved) == [lost(101, name, "list pods") for name in "ab"]


def test_a_template_of_which_only_pods_that_go_are_left_is_a_new_one_when_it_comes_up_again() -> None:
    """A revert brings up the ReplicaSet again whose last pods still end."""
    terms = Terms.between(OLD_RBAC, by_id(NARROW, READS), ROUTES)
    first = (*OURS, deleting(pod("last", "rs-0")))
    ended = (deleting(pod("a")), deleting(pod("b")))
    steps = (pod("again", "rs-0"), *ended, ours(NARROW))
    assert broken(first, *steps, terms=terms) == []
    still = (*OURS, pod("last", "rs-0"))
    assert broken(still, *steps, terms=terms) == [lost(104, name, "list pods") for name in ("again", "last")]


def test_new_pods_are_held_to_what_the_new_release_gives_them() -> None:
    new = by_id(cluster_role("reader", "get"), binding("web-reads", "reader", account("new")))
    terms = Terms.between(OLD_RBAC, new, ROUTES)
    first = (*OURS[:2], OURS[6], to("web", "new"))
    steps = (NEW_SA, NEW_POD, to("new"), ours(NARROW))
    assert broken(first, *steps, terms=terms) == []
    assert broken(first, *steps, to("web"), terms=terms) == [
        lost(105, "n", "get pods", "system:serviceaccount:shop:new")
    ]


def test_without_an_announcement_new_pods_show_gaps_only() -> None:
    first, bound = (*OURS[:2], OURS[6]), to("new")
    steps = (NEW_SA, NEW_POD, bound, gone(bound))
    assert broken(first, *steps) == []
    assert broken(first, *steps, bound) == [
        (
            "105 rights of a running pod: Pod shop/n: "
            "system:serviceaccount:shop:new was without get pods, list pods for a while"
        )
    ]


def test_a_pod_of_the_old_template_that_starts_late_is_held_to_what_the_old_ones_had() -> None:
    first = (*OURS[:4], *OURS[6:])
    assert broken(first, deleting(pod("a")), gone(pod("a")), gone(READS), pod("late")) == [
        lost(104, "late", "get pods, list pods")
    ]


USER = {"kind": "User", "name": "system:kube-controller-manager"}


def test_users_and_groups_keep_what_both_releases_give_them() -> None:
    role, bound = cluster_role("tiers", "get"), binding("tiers", "tiers", USER)
    first = (ours(role), ours(bound))
    who = "rights of a caller: User system:kube-controller-manager"
    name = USER["name"]
    assert broken(first, gone(bound)) == []
    assert broken(first, gone(bound), ours(bound)) == [f"102 {who}: {name} was without get pods for a while"]
    both = by_id(role, bound)
    assert broken(first, gone(bound), terms=Terms.between(both, both, ROUTES)) == [
        f"101 {who}: {name} has lost get pods"
    ]
    assert broken(first, gone(bound), terms=Terms.between(both, by_id(role), ROUTES)) == []


def test_terms_are_the_same_after_a_way_through_json() -> None:
    old = by_id(*SERVING)
    between = Terms.between(old, by_id(NARROW, *SERVING[:2]), ROUTES, minimum=2)
    terms = replace(between, interrupted=frozenset({Path(gone(SERVING[2]), "port 80")}))
    again = from_json(to_json(terms))
    assert again == terms
    assert again.retired == {gone(body) for body in (*SERVING[2:6], READS)}
    assert to_json(Terms()) == to_json(from_json(to_json(Terms())))
    assert ObjectId("", "Service", "shop", "web") in again.retired
    assert walk(checker(OURS, again), ours(NARROW)).verdict().broken_states == 1


def test_a_revert_may_take_back_what_only_the_widening_gave() -> None:
    old, wide = by_id(*OURS), ours(cluster_role("reader", "get list watch"))
    forth, back = (
        Terms.between(old, by_id(*OURS[:-2], wide, OURS[-1]), ROUTES),
        Terms.between(old, old, ROUTES),
    )
    widened = walk(checker(OURS, forth), wide)
    assert told(walk(widened.under(back), READER, version=101).verdict()) == []
    assert told(walk(checker((*OURS[:-2], wide, OURS[-1]), back), READER).verdict()) != []
    narrow = ours(cluster_role("reader", "get"))
    assert told(walk(widened.under(back), narrow, version=101).verdict()) == [
        lost(102, name, "list pods") for name in "ab"
    ]


def test_a_right_that_the_terms_before_gave_up_is_promised_again_once_it_is_there() -> None:
    caller, other = obj("v1", "ServiceAccount", "caller", "shop"), cluster_role("other", "get", "secrets")
    bound, more = (ours(binding(f"calls-{role}", role, account("caller"))) for role in ("reader", "other"))
    first = (*OURS, caller, other, bound, more)
    old, new = by_id(*first), by_id(*OURS, caller, other)
    upgraded = walk(checker(first, Terms.between(old, new, ROUTES)), gone(bound), gone(more))
    back = upgraded.under(Terms.between(new, old, ROUTES))
    assert told(walk(back, more, bound, version=102).verdict()) == []
