"""What holds of the forms of any binding, role and pointer (hypothesis)."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent.core.classify import Facet, facets, pointers_of
from agent.core.diff import three_way, two_way
from agent.core.forms import final, widened
from agent.core.model import Body
from agent.core.rbac import Right, lost
from tests.core.casefiles import live_object, manifest, shipped

NAMES = st.sampled_from(["a", "b", "c", "d"])
SUBJECTS = st.lists(
    st.builds(lambda n, ns: {"kind": "ServiceAccount", "name": n, "namespace": ns}, NAMES, NAMES),
    max_size=4,
    unique_by=lambda subject: (subject["name"], subject["namespace"]),
)
SOME = st.lists(st.sampled_from(["get", "list", "watch"]), min_size=1, max_size=3, unique=True)
RULES = st.lists(
    st.builds(
        lambda groups, resources, verbs: {"apiGroups": groups, "resources": resources, "verbs": verbs},
        st.lists(st.sampled_from(["", "apps", "*"]), min_size=1, max_size=2, unique=True),
        st.lists(st.sampled_from(["pods", "pods/log", "services", "*"]), min_size=1, max_size=2, unique=True),
        SOME,
    ),
    max_size=4,
)


def binding(subjects: list[Body]) -> Body:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "x"},
        "roleRef": {"kind": "ClusterRole", "name": "x"},
        "subjects": subjects,
    }


def role(rules: list[Body]) -> Body:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "x"},
        "rules": rules,
    }


def service(selector: dict[str, str], ports: list[int]) -> Body:
    spec = {"selector": selector, "ports": [{"port": port} for port in ports]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x", "namespace": "n"}, "spec": spec}


def parts_of(desired: Body, live: Body, applied: list[Body]) -> tuple[Facet, ...]:
    fields = three_way(manifest(desired), live_object(live), applied, shipped(), "trapeze/none")
    return facets(fields, desired, live, applied, shipped())


def rights(rules: list[Any]) -> frozenset[Right]:
    return frozenset(
        Right(verb, group, resource, None, "")
        for rule in rules
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    )


@given(SUBJECTS, SUBJECTS, SUBJECTS)
def test_widened_binding_holds_the_subjects_of_both(
    old: list[Body], new: list[Body], hand: list[Body]
) -> None:
    live = [*old, *(one for one in hand if one not in old)]
    parts = parts_of(binding(new), binding(live), [binding(old)])
    between = widened(binding(new), binding(live), parts, shipped(), moved=False)["subjects"]
    assert all(one in between for one in [*live, *new])
    assert all(one in live or one in new for one in between)
    assert len(between) == len({tuple(one.values()) for one in between})
    ours = widened(binding(new), binding(live), parts, shipped(), moved=False, keep_foreign=False)["subjects"]
    assert all(one in old or one in new for one in ours)


@given(SUBJECTS, SUBJECTS)
def test_widening_again_changes_nothing(old: list[Body], new: list[Body]) -> None:
    parts = parts_of(binding(new), binding(old), [binding(old)])
    between = widened(binding(new), binding(old), parts, shipped(), moved=False)
    again = parts_of(binding(new), between, [binding(old), binding(new)])
    assert two_way(between, widened(binding(new), between, again, shipped(), moved=False), shipped()) == ()
    assert not any(part.added or part.foreign for part in again)


@given(RULES, RULES)
def test_widened_role_grants_what_both_grant_and_no_more(old: list[Body], new: list[Body]) -> None:
    parts = parts_of(role(new), role(old), [role(old)])
    between = rights(widened(role(new), role(old), parts, shipped(), moved=False)["rules"])
    assert not lost(rights(old) | rights(new), between)
    assert not lost(between, rights(old) | rights(new))


@given(RULES, RULES)
def test_narrowing_is_seen_exactly_where_a_right_is_lost(old: list[Body], new: list[Body]) -> None:
    parts = parts_of(role(new), role(old), [role(old)])
    assert any(part.removed for part in parts) == bool(lost(rights(old), rights(new)))
    assert not any(part.foreign for part in parts)


@given(SUBJECTS, SUBJECTS, RULES, RULES)
def test_final_is_desired_where_nothing_is_foreign(
    old: list[Body], new: list[Body], old_rules: list[Body], new_rules: list[Body]
) -> None:
    for desired, live in ((binding(new), binding(old)), (role(new_rules), role(old_rules))):
        parts = parts_of(desired, live, [live])
        assert final(desired, parts, shipped(), keep_foreign=True) == desired


LABELS = st.dictionaries(NAMES, NAMES, min_size=1, max_size=3)
PORTS = st.lists(st.integers(1, 9), min_size=1, max_size=4, unique=True)


@given(LABELS, LABELS, PORTS, PORTS)
def test_widened_service_points_where_live_points_and_keeps_every_port(
    old: dict[str, str], new: dict[str, str], old_ports: list[int], new_ports: list[int]
) -> None:
    live, desired = service(old, old_ports), service(new, new_ports)
    parts = parts_of(desired, live, [live])
    between = widened(desired, live, parts, shipped(), moved=False)
    assert pointers_of(between, shipped()) == pointers_of(live, shipped())
    assert {port["port"] for port in between["spec"]["ports"]} == {*old_ports, *new_ports}
    moved = widened(desired, live, parts, shipped(), moved=True)
    assert pointers_of(moved, shipped()) == pointers_of(desired, shipped())
    assert {port["port"] for port in moved["spec"]["ports"]} == {*old_ports, *new_ports}
