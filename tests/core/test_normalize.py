"""Quantities, paths, fields and what is sent."""

from __future__ import annotations

import hashlib
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.fields import find, get, item_parts, put
from agent.core.model import Body, FieldPath, GroupKind, path_text
from agent.core.normalize import applicable, comparable, duplicates, freeze, thaw
from agent.core.paths import contains, covers, instance, parse_pattern, pattern_text
from agent.core.policy import Policy
from agent.core.quantity import amount, canonical
from agent.core.rules import MISSING, Rule
from tests.core.casefiles import shipped


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1000m", "1"),
        ("0.5", "500m"),
        ("1Gi", "1024Mi"),
        ("1k", 1000),
        (1, "1.0"),
        ("1e3", "1E3"),
        ("1E", "1000P"),
        ("+1", "1"),
        (".5", "0.5"),
        ("1.", "1"),
        (0.5, "500m"),
        ("0", "0Gi"),
        ("1500000u", "1.5"),
        ("123456789012345678901234567890", "123456789012345678901234567890.0"),
    ],
)
def test_same_amount(one: Any, other: Any) -> None:
    assert canonical(one) == canonical(other)
    assert canonical(one) is not None


@pytest.mark.parametrize(("one", "other"), [("1G", "1Gi"), ("1", "1001m"), ("1m", "1M"), ("1E", "1e1")])
def test_other_amount(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize("text", ["", "a", "1 Gi", "1KB", "--1", "1e", "Gi", True, None, [1], "1e9999999"])
def test_no_quantity(text: Any) -> None:
    assert canonical(text) is None


@given(st.integers(-(10**15), 10**15), st.sampled_from(["n", "u", "m", "", "k", "M", "G", "Ki", "Mi", "Gi"]))
def test_canonical_text_says_the_same_amount(number: int, suffix: str) -> None:
    exact = amount(f"{number}{suffix}")
    assert exact is not None
    assert Decimal(str(canonical(f"{number}{suffix}"))) == exact


@pytest.mark.parametrize(
    "text",
    ["", "spec", "spec.ports[].name", "data.*", "metadata.annotations['a.b/c']", "spec.rules[].http.paths[]"],
)
def test_patterns_are_written_as_read(text: str) -> None:
    assert pattern_text(parse_pattern(text)) == text


@pytest.mark.parametrize("text", [".a", "a..b", "a.", "a[", "a[]b", "a['", "a[0]"])
def test_what_is_no_pattern_is_quoted(text: str) -> None:
    with pytest.raises(ValueError, match="is no path"):
        parse_pattern(text)


def test_patterns_and_paths() -> None:
    pattern = parse_pattern("webhooks[].clientConfig")
    path: FieldPath = ("webhooks", (("name", "a"),), "clientConfig", "service")
    assert covers(pattern, path)
    assert covers(pattern, path[:3])
    assert not covers(pattern, path[:2])
    assert contains(path[:2], pattern)
    assert not contains(path[:3], pattern)
    assert not covers(parse_pattern("webhooks.*"), path), "an item is no key"
    assert instance(parse_pattern("webhooks[].caBundle"), path) == ("webhooks", (("name", "a"),), "caBundle")


SERVICE: Body = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "a", "namespace": "n"},
    "spec": {"ports": [{"port": 53}, {"port": 53, "protocol": "UDP"}, {"port": 53}]},
}


def test_items_are_named_by_their_keys_defaults_filled_in() -> None:
    rule = shipped().of(GroupKind("", "Service")).rules
    paths = [path_text(path) for path, _ in find(SERVICE, parse_pattern("spec.ports[]"), rule)]
    assert paths == ["spec.ports[53,TCP]", "spec.ports[53,UDP]", "spec.ports[53,TCP,2]"]
    for path, value in find(SERVICE, parse_pattern("spec.ports[]"), rule):
        assert get(SERVICE, path, rule) is value
    assert item_parts([{"port": 1}, "broken"], rule.child("spec").child("ports")) == [0, 1]


def test_put_shares_what_it_does_not_touch() -> None:
    rule = shipped().of(GroupKind("", "Service")).rules
    path: FieldPath = ("spec", "ports", (("port", 53), ("protocol", "UDP")), "name")
    named = put(SERVICE, path, "dns", rule)
    assert get(named, path, rule) == "dns"
    assert get(SERVICE, path, rule) is MISSING
    assert named["metadata"] is SERVICE["metadata"]
    assert put(named, path, MISSING, rule) == SERVICE
    assert put({}, ("a", "b"), 1, Rule()) == {"a": {"b": 1}}
    assert put({"a": {"b": 1}, "c": 2}, ("a", "b"), MISSING, Rule()) == {"c": 2}
    assert put({"a": [1]}, ("a", 5), MISSING, Rule()) == {"a": [1]}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_frozen_values_thaw(value: Any) -> None:
    assert thaw(freeze(value)) == value


@given(st.dictionaries(st.text(min_size=1, max_size=4), JSON, max_size=4))
def test_custom_resources_compare_as_they_stand(spec: dict[str, Any]) -> None:
    tree = comparable({"apiVersion": "example.test/v1", "kind": "Thing", "spec": spec}, shipped())
    assert thaw(tree).get("spec", {}) == without_nulls(spec)


def without_nulls(value: Any) -> Any:
    """Nulls say nothing in a map; inside a list the server keeps them."""
    if isinstance(value, dict):
        return {key: without_nulls(below) for key, below in value.items() if below is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def test_what_is_sent() -> None:
    role: Body = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "a", "creationTimestamp": None, "uid": "u", "labels": {"x": "y"}},
        "aggregationRule": {"clusterRoleSelectors": []},
        "rules": [],
        "status": {"x": 1},
    }
    sent = applicable(role, shipped())
    assert sent == {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "a", "labels": {"x": "y"}},
        "aggregationRule": {"clusterRoleSelectors": []},
    }
    hook: Body = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "a"},
        "webhooks": [{"name": "w", "clientConfig": {"caBundle": "Cg==", "service": {"name": "s"}}}],
    }
    assert applicable(hook, shipped())["webhooks"] == [
        {"name": "w", "clientConfig": {"service": {"name": "s"}}}
    ]


def test_a_placeholder_may_be_named_by_its_digest_and_is_neither_sent_nor_compared() -> None:
    digest = hashlib.sha256(b"Rk9SIE5PVw==").hexdigest()
    row = {"kind": "Lamp.example.org", "path": "spec.bundle", "placeholders": [f"sha256:{digest}"]}
    policy = Policy.parse([("own.yaml", {"injected": [row]})])

    def lamp(bundle: str) -> Body:
        metadata = {"name": "a"}
        return {
            "apiVersion": "example.org/v1",
            "kind": "Lamp",
            "metadata": metadata,
            "spec": {"bundle": bundle, "on": 1},
        }

    assert applicable(lamp("Rk9SIE5PVw=="), policy)["spec"] == {"on": 1}
    assert comparable(lamp("Rk9SIE5PVw=="), policy) == comparable(lamp(""), policy)
    assert applicable(lamp("UkVBTA=="), policy)["spec"] == {"bundle": "UkVBTA==", "on": 1}


def test_duplicate_keys_are_named() -> None:
    assert [path_text(path) for path in duplicates(SERVICE, shipped())] == ["spec.ports[53,TCP]"]
    pod: Body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "c", "env": [{"name": "A"}, {"name": "B"}, {"name": "A"}]}]},
    }
    assert [path_text(path) for path in duplicates(pod, shipped())] == ["spec.containers[c].env[A]"]
