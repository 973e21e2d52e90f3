"""Deletes: exactly the object that was seen, and success when it is gone already."""

from __future__ import annotations

import pytest

from agent.core.model import Body
from agent.errors import Conflict, NotServed
from agent.shell.cluster import Resource
from tests.contract.bench import MANAGER, Bench, config_map, id_of


def delete(bench: Bench, live: Body, *, uid: str = "", version: str = "") -> None:
    metadata = live["metadata"]
    uid, version = uid or metadata["uid"], version or metadata["resourceVersion"]
    bench.cluster.delete(bench.of(live), id_of(live), uid=uid, resource_version=version)


def test_the_object_in_the_version_that_was_seen_goes(bench: Bench) -> None:
    delete(bench, bench.apply(config_map(a="1")))
    assert bench.live(config_map()) is None


def test_deleting_what_is_gone_is_success(bench: Bench) -> None:
    made = bench.apply(config_map(a="1"))
    delete(bench, made)
    delete(bench, made)
    assert bench.live(config_map()) is None


def test_another_uid_is_another_object_and_stays(bench: Bench) -> None:
    first = bench.apply(config_map(a="1"))
    delete(bench, first)
    second = bench.apply(config_map(a="1"))
    with pytest.raises(Conflict):
        delete(bench, second, uid=first["metadata"]["uid"])
    assert bench.must(config_map())["metadata"]["uid"] == second["metadata"]["uid"]


def test_an_object_that_moved_since_stays(bench: Bench) -> None:
    first = bench.apply(config_map(a="1"))
    second = bench.apply(config_map(a="2"))
    with pytest.raises(Conflict):
        delete(bench, second, version=first["metadata"]["resourceVersion"])
    assert bench.must(config_map()) == second


def test_a_finalizer_holds_the_object_until_it_is_taken_away(bench: Bench) -> None:
    body = config_map(a="1")
    body["metadata"]["finalizers"] = ["example.dev/hold"]
    delete(bench, bench.apply(body))
    going = bench.must(body)
    assert going["metadata"]["deletionTimestamp"]
    delete(bench, going)
    assert bench.must(body)["metadata"]["uid"] == going["metadata"]["uid"]
    bench.apply(config_map(a="1"))
    assert bench.live(body) is None


def test_a_kind_that_is_not_served_is_no_evidence_of_absence(bench: Bench) -> None:
    maps = bench.resource("", "ConfigMap")
    unserved = Resource(maps.kind._replace(group="nobody.dev"), ("v1",), "things", True, maps.verbs)  # noqa: FBT003 - the tuple's third word
    made = bench.apply(config_map(a="1"))
    with pytest.raises(NotServed):
        bench.cluster.delete(
            unserved, id_of(made)._replace(group="nobody.dev"), uid="u", resource_version="1"
        )
    assert bench.must(config_map())["metadata"]["managedFields"][0]["manager"] == MANAGER
