"""The RBAC evaluator: each rule of Kubernetes' authorizer, and that moving on equals starting anew."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.model import Body, LiveObject, ObjectId
from agent.core.rbac import ANY, RBAC_GROUP, Ask, Right, Rights, Subject, lost, service_account

WEB = service_account("shop", "web")


def role(name: str, *rules: Body, namespace: str = "") -> LiveObject:
    kind = "Role" if namespace else "ClusterRole"
    return LiveObject(ObjectId(RBAC_GROUP, kind, namespace, name), {"rules": list(rules)})


def rule(verbs: str, resources: str, *names: str, group: str = "") -> Body:
    body: Body = {"verbs": verbs.split(), "resources": resources.split(), "apiGroups": [group]}
    return {**body, "resourceNames": list(names)} if names else body


def binding(name: str, ref: str, *subjects: Body, namespace: str = "") -> LiveObject:
    """``ref`` is ``ClusterRole/name`` or ``Role/name``."""
    kind = "RoleBinding" if namespace else "ClusterRoleBinding"
    body: Body = {"roleRef": dict(zip(("kind", "name"), ref.split("/"), strict=True))}
    return LiveObject(ObjectId(RBAC_GROUP, kind, namespace, name), {**body, "subjects": list(subjects)})


def sa(name: str, namespace: str | None = None) -> Body:
    return {"kind": "ServiceAccount", "name": name} | ({"namespace": namespace} if namespace else {})


def group(name: str) -> Body:
    return {"kind": "Group", "name": name}


def granted(*rules: Body, namespace: str = "") -> Rights:
    """The rights where shop/web is bound to one ClusterRole."""
    return Rights([role("r", *rules), binding("b", "ClusterRole/r", sa("web", "shop"), namespace=namespace)])


@pytest.mark.parametrize(
    ("allowed", "ask"),
    [
        (True, Ask("get", resource="pods", namespace="shop", name="a")),
        (True, Ask("get", resource="pods")),
        (False, Ask("list", resource="pods")),
        (False, Ask("get", group="apps", resource="pods")),
        (False, Ask("get", resource="pods", subresource="log", name="a")),
        (False, Ask("get", path="/pods")),
    ],
)
def test_a_plain_rule_matches_verb_group_and_resource_exactly(allowed: bool, ask: Ask) -> None:  # noqa: FBT001 - a table's column
    assert granted(rule("get", "pods")).allows(WEB, ask) is allowed


@pytest.mark.parametrize(
    ("resources", "subresource", "allowed"),
    [
        ("*", "", True),
        ("*", "scale", True),
        ("*/scale", "scale", True),
        ("*/scale", "", False),
        ("*/scale", "status", False),
        ("deployments/scale", "scale", True),
        ("deployments/*", "scale", False),
    ],
)
def test_wildcards_of_resources_and_subresources(resources: str, subresource: str, allowed: bool) -> None:  # noqa: FBT001 - a table's column
    rights = granted(rule("update", resources, group="apps"))
    ask = Ask("update", "apps", "deployments", subresource, "shop", "web")
    assert rights.allows(WEB, ask) is allowed


def test_resource_names_allow_only_requests_that_carry_one_of_them() -> None:
    rights = granted(rule("get list", "secrets", "tls", "ca"))
    assert rights.allows(WEB, Ask("get", resource="secrets", namespace="shop", name="ca"))
    assert not rights.allows(WEB, Ask("get", resource="secrets", namespace="shop", name="root"))
    assert not rights.allows(WEB, Ask("list", resource="secrets", namespace="shop"))


def test_a_role_binding_grants_a_cluster_role_in_its_namespace_only() -> None:
    urls: Body = {"verbs": ["get"], "nonResourceURLs": ["/metrics"]}
    rights = granted(rule("get", "pods"), urls, namespace="shop")
    assert rights.allows(WEB, Ask("get", resource="pods", namespace="shop", name="a"))
    assert not rights.allows(WEB, Ask("get", resource="pods", namespace="bank", name="a"))
    assert not rights.allows(WEB, Ask("list", resource="pods"))
    assert not rights.allows(WEB, Ask("get", path="/metrics"))


@pytest.mark.parametrize(
    ("url", "path", "allowed"),
    [
        ("/healthz", "/healthz", True),
        ("/healthz", "/healthz/etcd", False),
        ("/healthz/*", "/healthz/etcd", True),
        ("/healthz/*", "/healthz", False),
        ("/health*", "/healthz", True),
        ("*", "/anything", True),
    ],
)
def test_urls_match_exactly_or_by_what_stands_before_the_star(url: str, path: str, allowed: bool) -> None:  # noqa: FBT001 - a table's column
    assert granted({"verbs": ["get"], "nonResourceURLs": [url]}).allows(WEB, Ask("get", path=path)) is allowed


@pytest.mark.parametrize(
    ("subject", "namespace", "allowed"),
    [
        (sa("web", "shop"), "", True),
        (sa("web", "bank"), "", False),
        (sa("web"), "shop", True),
        (sa("web"), "bank", False),
        (sa("web"), "", False),
        ({"kind": "User", "name": "system:serviceaccount:shop:web"}, "", True),
        ({"kind": "User", "name": "web"}, "", False),
        (group("system:serviceaccounts"), "", True),
        (group("system:serviceaccounts:shop"), "", True),
        (group("system:serviceaccounts:bank"), "", False),
        (group("system:authenticated"), "", True),
        (group("system:unauthenticated"), "", False),
        ({"kind": "Robot", "name": "system:serviceaccount:shop:web"}, "", False),
    ],
)
def test_every_way_to_name_a_service_account(subject: Body, namespace: str, allowed: bool) -> None:  # noqa: FBT001 - a table's column
    rights = Rights(
        [role("r", rule("get", "pods")), binding("b", "ClusterRole/r", subject, namespace=namespace)]
    )
    where = namespace or "shop"
    assert rights.allows(WEB, Ask("get", resource="pods", namespace=where, name="a")) is allowed


def test_a_binding_without_its_role_grants_nothing_until_the_role_is_there() -> None:
    rights = Rights([binding("b", "Role/r", sa("web"), namespace="shop")])
    ask = Ask("get", resource="pods", namespace="shop", name="a")
    assert not rights.allows(WEB, ask)
    other = role("r", rule("get", "pods"), namespace="bank")
    assert rights.put(other.id, other.body) == frozenset()
    assert not rights.allows(WEB, ask)
    mine = role("r", rule("get", "pods"), namespace="shop")
    assert rights.put(mine.id, mine.body) == {("User", "system:serviceaccount:shop:web")}
    assert rights.allows(WEB, ask)


def test_masters_may_do_everything_and_nobody_else_may_without_a_binding() -> None:
    masters = Subject("admin", frozenset({"system:masters"}))
    for ask in (Ask("delete", resource="nodes", name="a"), Ask("get", path="/metrics")):
        assert Rights().allows(masters, ask)
        assert not Rights().allows(Subject("admin", frozenset({"system:authenticated"})), ask)
    assert len(Rights().rights_of(masters)) == 2


def test_a_right_is_lost_only_when_no_remaining_right_covers_it() -> None:
    before = granted(rule("get list", "pods secrets")).rights_of(WEB)
    wider = granted(rule("*", "*")).rights_of(WEB)
    assert lost(before, wider) == frozenset()
    by_name = granted(rule("get list", "pods"), rule("get", "secrets", "tls")).rights_of(WEB)
    assert {str(right) for right in lost(before, by_name)} == {"get secrets", "list secrets"}
    in_one = granted(rule("get list", "pods secrets"), namespace="shop").rights_of(WEB)
    assert len(lost(before, in_one)) == 4
    assert lost(in_one, before) == frozenset()


def test_a_star_of_urls_covers_no_resource_and_the_other_way_round() -> None:
    urls, resources = Right(ANY, "", "", None, "", ANY), Right(ANY, ANY, ANY, None, "")
    assert not urls.covers(resources)
    assert not resources.covers(urls)
    assert urls.covers(Right("get", "", "", None, "", "/healthz/*"))
    assert not Right("get", "", "", None, "", "/healthz/*").covers(urls)


def test_a_right_reads_like_a_request() -> None:
    assert str(Right("get", "apps", "deployments/scale", "web", "shop")) == (
        'get deployments.apps/scale "web" in shop'
    )
    assert str(Right("list", "", "pods", None, "")) == "list pods"
    assert str(Right("get", "", "", None, "", "/metrics")) == "get /metrics"


WORDS = st.sampled_from(["get", "list", ANY])
RULES = st.builds(
    lambda verbs, resources, groups, names, urls: (
        {"verbs": verbs, "nonResourceURLs": urls}
        if urls
        else {"verbs": verbs, "resources": resources, "apiGroups": groups, "resourceNames": names}
    ),
    st.lists(WORDS, min_size=1, max_size=2),
    st.lists(st.sampled_from(["pods", "pods/log", "*/log", ANY]), min_size=1, max_size=2),
    st.lists(st.sampled_from(["", "apps", ANY]), min_size=1, max_size=2),
    st.lists(st.sampled_from(["a", "b"]), max_size=1),
    st.lists(st.sampled_from(["/x", "/x/*", ANY]), max_size=1),
)
SUBJECTS = st.sampled_from(
    [sa("web", "shop"), sa("web"), group("system:authenticated"), {"kind": "User", "name": "jo"}]
)
OBJECTS = st.one_of(
    st.builds(
        lambda namespace, name, rules: role(name, *rules, namespace=namespace),
        st.sampled_from(["", "shop"]),
        st.sampled_from(["r", "q"]),
        st.lists(RULES, max_size=2),
    ),
    st.builds(
        lambda namespace, name, ref, subjects: binding(name, ref, *subjects, namespace=namespace),
        st.sampled_from(["", "shop"]),
        st.sampled_from(["b", "c"]),
        st.sampled_from(["ClusterRole/r", "ClusterRole/q", "Role/r", "Role/q"]),
        st.lists(SUBJECTS, max_size=2),
    ),
)
ASKERS = (WEB, Subject("jo"), service_account("bank", "web"))
ASKS = [
    Ask(verb, in_group, resource, sub, namespace, name)
    for verb in ("get", "list", "delete")
    for in_group in ("", "apps")
    for resource, sub in (("pods", ""), ("pods", "log"), ("nodes", "log"))
    for namespace in ("", "shop", "bank")
    for name in ("", "a")
] + [Ask("get", path="/x"), Ask("list", path="/x/y")]


def as_right(ask: Ask) -> Right:
    resource = f"{ask.resource}/{ask.subresource}" if ask.subresource else ask.resource
    return Right(ask.verb, ask.group, resource, ask.name, ask.namespace, ask.path)


@given(st.lists(OBJECTS, max_size=6))
def test_expanded_rights_cover_exactly_what_the_evaluator_allows(objects: list[Any]) -> None:
    rights = Rights(objects)
    for subject in ASKERS:
        expanded = rights.rights_of(subject)
        for ask in ASKS:
            covered = any(right.covers(as_right(ask)) for right in expanded)
            assert covered is rights.allows(subject, ask), (subject, ask)


@given(st.lists(st.tuples(st.booleans(), OBJECTS), max_size=12))
def test_moving_on_equals_starting_anew_and_names_everybody_whose_rights_changed(
    moves: list[tuple[bool, Any]],
) -> None:
    rights, standing = Rights(), dict[ObjectId, LiveObject]()
    for is_there, obj in moves:
        before = {subject: rights.rights_of(subject) for subject in ASKERS}
        kept = rights.copy()
        if is_there:
            standing[obj.id] = obj
            affected = rights.put(obj.id, obj.body)
        else:
            standing.pop(obj.id, None)
            affected = rights.drop(obj.id)
        anew = Rights(standing.values())
        assert rights.keys() == anew.keys()
        for subject in ASKERS:
            assert rights.rights_of(subject) == anew.rights_of(subject)
            assert kept.rights_of(subject) == before[subject]
            assert subject.keys & affected or rights.rights_of(subject) == before[subject]
