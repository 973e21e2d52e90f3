"""Field sets and merging, as structured-merge-diff does them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.model import Body
from agent.core.simulation.fields import Schema, changed, field_set, from_fields_v1, merge, to_fields_v1
from agent.core.simulation.ownership import apply, owners_of, update

SCHEMA: Schema = {
    ("spec", "ports"): ("port", "protocol"),
    ("spec", "selector"): "atomic",
    ("metadata", "finalizers"): "set",
}
PARTS = st.sampled_from(["f:a", "f:b.c", 'k:{"name":"x"}', 'v:"y"'])
PATHS = st.frozensets(st.lists(PARTS, min_size=1, max_size=4).map(tuple), max_size=12)


def body(**spec: Any) -> Body:
    return {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": spec}


def ports(*numbers: int, **rest: Any) -> list[Body]:
    return [{"port": number, "protocol": "TCP", **rest} for number in numbers]


@given(PATHS)
def test_a_field_set_survives_its_json_form(paths: frozenset[tuple[str, ...]]) -> None:
    assert frozenset(from_fields_v1(to_fields_v1(paths))) == paths


# https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
def test_the_json_form_is_the_api_servers() -> None:
    config = body(ports=ports(80, name="web"), selector={"app": "web", "tier": "front"}, replicas=1)
    config["metadata"] |= {"labels": {"a.b/c": "d"}, "finalizers": ["example.dev/wait"]}
    assert to_fields_v1(field_set(config, SCHEMA)) == {
        "f:metadata": {"f:labels": {"f:a.b/c": {}}, "f:finalizers": {'v:"example.dev/wait"': {}}},
        "f:spec": {
            "f:ports": {
                'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:name": {}, "f:port": {}, "f:protocol": {}}
            },
            "f:replicas": {},
            "f:selector": {},
        },
    }


# structured-merge-diff issue 130: an entry without protocol is the TCP entry.
def test_a_missing_protocol_means_tcp() -> None:
    live, config = body(ports=ports(80, name="old")), body(ports=[{"port": 80, "name": "new"}])
    assert merge(live, config, SCHEMA)["spec"]["ports"] == [{"port": 80, "protocol": "TCP", "name": "new"}]


@pytest.mark.parametrize(
    ("live", "config", "merged"),
    [
        ((1, 2, 3), (2,), [1, 2, 3]),
        ((1, 2), (2, 1), [2, 1]),
        ((1, 2), (3,), [1, 2, 3]),
        ((1, 9, 2), (2, 1), [9, 2, 1]),
        ((), (2, 1), [2, 1]),
    ],
)
def test_a_keyed_list_keeps_others_items_beside_their_neighbours(
    live: tuple[int, ...], config: tuple[int, ...], merged: list[int]
) -> None:
    result = merge(body(ports=ports(*live)), body(ports=ports(*config)), SCHEMA)
    assert sorted(row["port"] for row in result["spec"]["ports"]) == sorted(merged)
    order = [row["port"] for row in result["spec"]["ports"] if row["port"] in config]
    assert order == list(config)


def test_what_changed_is_told_by_path() -> None:
    before, after = body(a=1, b={"c": 2}, ports=ports(80)), body(a=2, ports=ports(80, 81))
    moved, gone = changed(before, after, SCHEMA)
    assert ("f:spec", "f:a") in moved
    assert ("f:spec", "f:ports", 'k:{"port":81,"protocol":"TCP"}') in moved
    assert ("f:spec", "f:ports", 'k:{"port":80,"protocol":"TCP"}') not in moved
    assert gone == {("f:spec", "f:b", "f:c")}


# https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts
def test_a_conflict_speaks_the_api_servers_words() -> None:
    live = apply(None, body(a=1, ports=ports(80, name="x")), "one", SCHEMA, at="", force=False).body
    result = apply(live, body(a=2, ports=ports(80, name="y")), "two", SCHEMA, at="", force=False)
    assert [str(clash) for clash in result.clashes] == [
        'conflict with "one" using v1: .spec.a',
        'conflict with "one" using v1: .spec.ports[port=80,protocol="TCP"].name',
    ]


def test_an_update_takes_what_it_changes_from_those_who_applied_it() -> None:
    live = apply(None, body(a=1, b=1), "one", SCHEMA, at="", force=False).body
    after = update(live, {**live, "spec": {"a": 2, "b": 1}}, "kubectl", SCHEMA, at="")
    owned = {manager.name: sorted(fields) for manager, (fields, _, _) in owners_of(after).items()}
    assert owned == {"one": [("f:spec", "f:b")], "kubectl": [("f:spec", "f:a")]}
