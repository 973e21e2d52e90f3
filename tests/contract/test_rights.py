"""Who may do what: rules, bindings, wildcards, names, aggregation, and what nobody may hand on."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.model import Body
from agent.errors import Forbidden
from agent.shell.cluster import Cluster
from tests.contract.bench import MANAGER, RBAC, Bench, named, namespace
from tests.contract.looks import refusal

ACCOUNT = {"kind": "ServiceAccount", "name": "agent", "namespace": "shop"}
VERBS = {"get", "list", "watch", "create", "update", "patch", "delete"}


def rule(verbs: str, resources: str, groups: str = "", *resource_names: str) -> Body:
    """Comma lists; an empty group is the core group."""
    made: Body = {
        "apiGroups": groups.split(","),
        "resources": resources.split(","),
        "verbs": verbs.split(","),
    }
    return made | ({"resourceNames": list(resource_names)} if resource_names else {})


def role(name: str, *rules: Body) -> Body:
    return named(f"{RBAC}/v1", "Role", name, "shop", rules=list(rules))


def cluster_role(name: str, *rules: Body, **labels: str) -> Body:
    body = named(f"{RBAC}/v1", "ClusterRole", name, rules=list(rules))
    return body if not labels else {**body, "metadata": {**body["metadata"], "labels": labels}}


def bound(to: Body, *subjects: Body, kind: str = "RoleBinding", name: str = "agent") -> Body:
    ref = {"apiGroup": RBAC, "kind": to["kind"], "name": to["metadata"]["name"]}
    where = "shop" if kind == "RoleBinding" else ""
    return named(f"{RBAC}/v1", kind, name, where, subjects=list(subjects or (ACCOUNT,)), roleRef=ref)


def account(bench: Bench) -> Cluster:
    bench.apply(named("v1", "ServiceAccount", "agent", "shop"))
    return bench.acting_as("shop", "agent")


def granted(bench: Bench, *rules: Body) -> Cluster:
    """The account once a Role with these rules is bound to it, beside one right that tells that it counts."""
    who = account(bench)
    bench.apply(role("agent", *rules, rule("get", "endpoints")))
    bench.apply(bound(role("agent")))
    until_may(bench, who, "get", "", "Endpoints")
    return who


def may(bench: Bench, who: Cluster, verb: str, *kind: str, name: str = "", where: str = "shop") -> bool:
    return who.can(verb, bench.resource(*kind), where, name) == ""


def until_may(bench: Bench, who: Cluster, verb: str, *kind: str, where: str = "shop") -> None:
    bench.until(f"may {verb} {kind[1]}", lambda: may(bench, who, verb, *kind, where=where))


def until_may_not(bench: Bench, who: Cluster, verb: str, *kind: str, where: str = "shop") -> None:
    bench.until(f"may not {verb} {kind[1]}", lambda: not may(bench, who, verb, *kind, where=where))


SECRET, MAP, DEPLOYMENT = ("", "Secret"), ("", "ConfigMap"), ("apps", "Deployment")


def test_an_account_without_a_binding_may_nothing(bench: Bench) -> None:
    who = account(bench)
    assert not any(may(bench, who, verb, *MAP) for verb in VERBS)


@pytest.mark.parametrize(
    ("given", "allowed", "refused"),
    [
        (rule("get", "*"), [("get", *MAP), ("get", *SECRET)], [("list", *MAP), ("get", *DEPLOYMENT)]),
        (rule("*", "configmaps"), [(verb, *MAP) for verb in VERBS], [("get", *SECRET)]),
        (rule("get", "*", "*"), [("get", *MAP), ("get", *DEPLOYMENT)], [("delete", *DEPLOYMENT)]),
        (rule("get", "configmaps", "apps"), [], [("get", *MAP)]),
        (rule("get", "configmaps/status"), [], [("get", *MAP)]),
        (rule("GET", "configmaps"), [], [("get", *MAP)]),
        (rule("get", "configmap"), [], [("get", *MAP)]),
    ],
    ids=["any resource", "any verb", "any group", "other group", "subresource", "upper case", "singular"],
)
def test_a_rule_allows_what_it_matches(
    bench: Bench, given: Body, allowed: list[tuple[str, str, str]], refused: list[tuple[str, str, str]]
) -> None:
    who = granted(bench, given)
    assert [ask for ask in allowed if not may(bench, who, *ask)] == []
    assert [ask for ask in refused if may(bench, who, *ask)] == []


def test_a_rule_with_names_allows_these_names_alone(bench: Bench) -> None:
    who = granted(bench, rule("get,list,create", "configmaps", "", "mine"))
    assert may(bench, who, "get", *MAP, name="mine")
    assert not may(bench, who, "get", *MAP, name="other")
    assert not may(bench, who, "list", *MAP)
    assert not may(bench, who, "create", *MAP)


def test_a_role_counts_in_its_namespace_alone(bench: Bench) -> None:
    bench.apply(namespace("other"))
    who = granted(bench, rule("get", "configmaps"))
    assert may(bench, who, "get", *MAP)
    assert not may(bench, who, "get", *MAP, where="other")
    assert not may(bench, who, "get", *MAP, where="")


def test_a_role_binding_to_a_cluster_role_counts_in_its_namespace_alone(bench: Bench) -> None:
    bench.apply(namespace("other"))
    who = account(bench)
    bench.apply(cluster_role("maps", rule("get", "configmaps,namespaces")))
    bench.apply(bound(cluster_role("maps")))
    until_may(bench, who, "get", *MAP)
    assert not may(bench, who, "get", *MAP, where="other")
    assert not may(bench, who, "list", "", "Namespace", where="")


def test_a_cluster_role_binding_counts_everywhere(bench: Bench) -> None:
    bench.apply(namespace("other"))
    who = account(bench)
    bench.apply(cluster_role("maps", rule("get", "configmaps,namespaces")))
    bench.apply(bound(cluster_role("maps"), kind="ClusterRoleBinding"))
    until_may(bench, who, "get", *MAP)
    assert may(bench, who, "get", *MAP, where="other")
    assert may(bench, who, "get", "", "Namespace", where="")


@pytest.mark.parametrize(
    "subject",
    [
        {"kind": "Group", "apiGroup": RBAC, "name": "system:serviceaccounts"},
        {"kind": "Group", "apiGroup": RBAC, "name": "system:serviceaccounts:shop"},
        {"kind": "Group", "apiGroup": RBAC, "name": "system:authenticated"},
        {"kind": "User", "apiGroup": RBAC, "name": "system:serviceaccount:shop:agent"},
    ],
    ids=lambda subject: subject["name"],
)
def test_an_account_is_meant_by_its_groups_and_its_user_name(bench: Bench, subject: Body) -> None:
    who = account(bench)
    bench.apply(role("agent", rule("get", "configmaps")))
    bench.apply(bound(role("agent"), subject))
    until_may(bench, who, "get", *MAP)


def test_an_account_of_the_same_name_elsewhere_is_somebody_else(bench: Bench) -> None:
    who = account(bench)
    bench.apply(namespace("other"))
    bench.apply(role("agent", rule("get", "configmaps"), rule("get", "endpoints")))
    bench.apply(bound(role("agent"), ACCOUNT | {"namespace": "other"}))
    bench.advance(1)
    assert not may(bench, who, "get", *MAP)


def test_a_binding_may_come_before_its_role(bench: Bench) -> None:
    who = account(bench)
    bench.apply(bound(role("agent")))
    bench.advance(0.5)
    assert not may(bench, who, "get", *MAP)
    bench.apply(role("agent", rule("get", "configmaps")))
    until_may(bench, who, "get", *MAP)


def test_rights_end_with_the_rule_the_subject_the_role_or_the_binding(bench: Bench) -> None:
    who = granted(bench, rule("get", "configmaps"), rule("get", "secrets"))
    bench.apply(role("agent", rule("get", "secrets")))
    until_may_not(bench, who, "get", *MAP)
    assert may(bench, who, "get", *SECRET)
    bench.apply(bound(role("agent"), ACCOUNT | {"name": "somebody"}))
    until_may_not(bench, who, "get", *SECRET)
    bench.apply(bound(role("agent")))
    until_may(bench, who, "get", *SECRET)
    bench.delete(bench.must(role("agent")))
    until_may_not(bench, who, "get", *SECRET)
    bench.apply(role("agent", rule("get", "secrets")))
    until_may(bench, who, "get", *SECRET)
    bench.delete(bench.must(bound(role("agent"))))
    until_may_not(bench, who, "get", *SECRET)


def aggregating(name: str, label: str) -> Body:
    selectors = [{"matchLabels": {label: "true"}}]
    return named(f"{RBAC}/v1", "ClusterRole", name, aggregationRule={"clusterRoleSelectors": selectors})


def test_an_aggregated_role_gains_and_loses_with_the_labels(bench: Bench) -> None:
    who = account(bench)
    bench.apply(aggregating("sum", "to-sum"))
    bench.apply(bound(aggregating("sum", ""), kind="ClusterRoleBinding"))
    bench.apply(cluster_role("part", rule("get", "configmaps"), **{"to-sum": "true"}))
    until_may(bench, who, "get", *MAP)
    bench.apply(cluster_role("part", rule("get", "configmaps")))
    until_may_not(bench, who, "get", *MAP)


def test_an_aggregated_role_loses_what_a_deleted_part_gave(bench: Bench) -> None:
    who = account(bench)
    bench.apply(aggregating("sum", "to-sum"))
    bench.apply(bound(aggregating("sum", ""), kind="ClusterRoleBinding"))
    bench.apply(cluster_role("part", rule("get", "configmaps"), **{"to-sum": "true"}))
    until_may(bench, who, "get", *MAP)
    bench.delete(bench.must(cluster_role("part")))
    until_may_not(bench, who, "get", *MAP)


def test_roles_aggregate_in_several_floors(bench: Bench) -> None:
    who = account(bench)
    middle = aggregating("middle", "to-middle")
    middle["metadata"]["labels"] = {"to-sum": "true"}
    for body in (aggregating("sum", "to-sum"), middle):
        bench.apply(body)
    bench.apply(bound(aggregating("sum", ""), kind="ClusterRoleBinding"))
    bench.apply(cluster_role("part", rule("get", "configmaps"), **{"to-middle": "true"}))
    until_may(bench, who, "get", *MAP)


def test_rules_written_into_an_aggregated_role_give_way_to_its_parts(bench: Bench) -> None:
    body, part = aggregating("sum", "to-sum"), rule("get", "secrets")
    bench.apply(cluster_role("part", part, **{"to-sum": "true"}))
    bench.apply({**body, "rules": [rule("get", "configmaps")]})
    bench.until("they go", lambda: bench.must(body).get("rules") == [part])


def test_rules_written_into_a_role_that_aggregates_nothing_stay(bench: Bench) -> None:
    # The controller applies no rules at all then, and what others wrote is theirs (clusterroleaggregation).
    body, own = aggregating("sum", "to-sum"), rule("get", "configmaps")
    bench.apply({**body, "rules": [own]})
    bench.advance(1)
    assert bench.must(body)["rules"] == [own]


def grant(bench: Bench, who: Cluster, body: Body) -> Any:
    return refusal(lambda: who.apply(bench.of(body), body, manager=MANAGER))


def test_apply_that_creates_needs_create_too(bench: Bench) -> None:
    who = granted(bench, rule("get,patch", "configmaps"))
    body = named("v1", "ConfigMap", "new", "shop", data={"a": "1"})
    assert isinstance(grant(bench, who, body), Forbidden)
    bench.apply(body)
    assert grant(bench, who, {**body, "data": {"b": "2"}}) is None


@pytest.mark.parametrize(("url", "status"), [("/version", 200), ("/logs", 403), ("/healthz", 200)])
def test_urls_are_granted_by_cluster_roles_alone(bench: Bench, url: str, status: int) -> None:
    assert account(bench).read(url) == status


def test_a_url_ending_in_a_star_covers_what_lies_below(bench: Bench) -> None:
    who = account(bench)
    assert who.read("/metrics") == 403
    bench.apply(cluster_role("urls", {"nonResourceURLs": ["/met*"], "verbs": ["get"]}))
    bench.apply(bound(cluster_role("urls"), kind="ClusterRoleBinding"))
    bench.until("it counts", lambda: who.read("/metrics") == 200)


def test_a_role_of_a_namespace_may_not_name_urls(bench: Bench) -> None:
    body = role("urls", {"nonResourceURLs": ["/metrics"], "verbs": ["get"]})
    assert refusal(lambda: bench.apply(body)) is not None
