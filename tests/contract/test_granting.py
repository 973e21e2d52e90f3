"""Nobody hands on what they have not: writing roles and bindings with less than all rights."""

from __future__ import annotations

from agent.errors import Forbidden
from tests.contract.bench import RBAC, Bench, named
from tests.contract.looks import refusal
from tests.contract.test_rights import (
    SECRET,
    account,
    bound,
    cluster_role,
    grant,
    granted,
    role,
    rule,
    until_may,
)

GRANTER = (rule("get,create,patch,delete", "roles,rolebindings", RBAC),)
MORE = role("more", rule("get", "secrets"))


def test_nobody_writes_a_role_with_more_than_they_have(bench: Bench) -> None:
    who = granted(bench, *GRANTER)
    assert isinstance(grant(bench, who, MORE), Forbidden)
    assert bench.live(MORE) is None


def test_whoever_has_a_right_may_write_it_into_a_role(bench: Bench) -> None:
    who = granted(bench, *GRANTER, rule("get,list", "secrets"))
    assert grant(bench, who, MORE) is None
    assert isinstance(grant(bench, who, role("more", rule("watch", "secrets"))), Forbidden)


def test_whoever_may_escalate_writes_any_role(bench: Bench) -> None:
    who = granted(bench, *GRANTER, rule("escalate", "roles", RBAC))
    assert grant(bench, who, MORE) is None


def test_escalate_on_one_name_is_for_that_role_alone(bench: Bench) -> None:
    who = granted(bench, *GRANTER, rule("escalate", "roles", RBAC, "more"))
    assert grant(bench, who, MORE) is None
    assert isinstance(grant(bench, who, role("other", rule("get", "secrets"))), Forbidden)


def test_a_role_that_only_loses_rules_is_no_escalation(bench: Bench) -> None:
    who = granted(bench, *GRANTER)
    bench.apply(role("more", rule("get", "secrets"), rule("get", "endpoints")))
    live = bench.must(MORE)
    replaced = {**live, "rules": [rule("get", "endpoints")]}
    bench.apply(role("agent", *GRANTER, rule("update", "roles", RBAC), rule("get", "endpoints")))
    until_may(bench, who, "update", RBAC, "Role")
    assert refusal(lambda: who.replace(bench.of(live), replaced)) is None


def test_even_a_change_of_labels_needs_the_rights_in_the_rules(bench: Bench) -> None:
    who = granted(bench, *GRANTER)
    bench.apply(MORE)
    labelled = named(f"{RBAC}/v1", "Role", "more", "shop")
    labelled["metadata"]["labels"] = {"a": "b"}
    error = refusal(lambda: who.apply(bench.of(MORE), labelled, manager="other"))
    assert isinstance(error, Forbidden)


def test_nobody_binds_a_role_with_more_than_they_have(bench: Bench) -> None:
    who = granted(bench, *GRANTER)
    bench.apply(MORE)
    assert isinstance(grant(bench, who, bound(MORE, name="more")), Forbidden)


def test_whoever_may_bind_a_role_binds_it(bench: Bench) -> None:
    who = granted(bench, *GRANTER, rule("bind", "roles", RBAC, "more"))
    bench.apply(MORE)
    bench.apply(role("other", rule("get", "secrets")))
    somebody = {"kind": "User", "apiGroup": RBAC, "name": "ann"}
    assert grant(bench, who, bound(MORE, somebody, name="more")) is None
    assert isinstance(grant(bench, who, bound(role("other"), somebody, name="other")), Forbidden)


def test_whoever_has_all_of_a_role_binds_it(bench: Bench) -> None:
    who = granted(bench, *GRANTER, rule("get", "*"))
    bench.apply(MORE)
    assert grant(bench, who, bound(MORE, name="more")) is None


def test_a_role_that_is_not_there_cannot_be_bound_by_who_may_not_bind(bench: Bench) -> None:
    who = granted(bench, *GRANTER)
    assert grant(bench, who, bound(role("nowhere"), name="more")) is not None
    bench.apply(bound(role("nowhere"), name="by-admin"))


def test_rights_of_one_namespace_do_not_bind_a_cluster_role_everywhere(bench: Bench) -> None:
    who = account(bench)
    bench.apply(cluster_role("granter", rule("get,create,patch", "clusterrolebindings", RBAC)))
    bench.apply(bound(cluster_role("granter"), kind="ClusterRoleBinding", name="granter"))
    bench.apply(role("agent", rule("get", "secrets")))
    bench.apply(bound(role("agent")))
    until_may(bench, who, "get", *SECRET)
    until_may(bench, who, "patch", RBAC, "ClusterRoleBinding", where="")
    bench.apply(cluster_role("secrets", rule("get", "secrets")))
    everywhere = bound(cluster_role("secrets"), kind="ClusterRoleBinding", name="more")
    assert isinstance(grant(bench, who, everywhere), Forbidden)
