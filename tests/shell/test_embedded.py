"""The embedded cluster as its users meet it: threads, identities, requests through pointers."""

from __future__ import annotations

from threading import Event, Thread

import pytest

from agent.core.model import GroupKind, ObjectId
from agent.errors import Forbidden
from agent.shell.cluster import Cluster, Resource, WatchEvent
from agent.shell.embedded import EmbeddedCluster

MAPS = Resource(GroupKind("", "ConfigMap"), ("v1",), "configmaps", is_namespaced=True, verbs=frozenset())
WEB = ObjectId("", "ConfigMap", "default", "web")


def config_map(value: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "web", "namespace": "default"},
        "data": {"a": value},
    }


def test_it_is_a_cluster() -> None:
    cluster: Cluster = EmbeddedCluster()
    assert GroupKind("apps", "Deployment") in cluster.discover().resources


def test_its_time_moves_only_when_told() -> None:
    cluster = EmbeddedCluster(start=1000)
    assert cluster.now() == 1000
    cluster.advance(2.5)
    assert cluster.now() == 1002.5
    made = cluster.apply(MAPS, config_map("1"), manager="m")
    assert made["metadata"]["creationTimestamp"] == "1970-01-01T00:16:42Z"


def test_a_watch_in_another_thread_sees_every_write_and_ends_when_told() -> None:
    cluster, stop, seen = EmbeddedCluster(), Event(), list[WatchEvent]()
    version = cluster.list(MAPS).resource_version

    def follow() -> None:
        for event in cluster.watch(MAPS, version, stop):
            seen.append(event)
            if event.type == "DELETED":
                stop.set()

    thread = Thread(target=follow)
    thread.start()
    for number in range(20):
        cluster.apply(MAPS, config_map(str(number)), manager="m")
    cluster.delete(MAPS, WEB, uid="", resource_version="")
    thread.join(10)
    assert not thread.is_alive()
    assert [event.type for event in seen] == ["ADDED", *["MODIFIED"] * 19, "DELETED"]
    assert [event.body["data"]["a"] for event in seen[:20]] == [str(number) for number in range(20)]


def test_writes_of_many_threads_all_count() -> None:
    cluster = EmbeddedCluster()

    def write(manager: str) -> None:
        for number in range(20):
            body = {**config_map(""), "data": {f"{manager}-{number}": "x"}}
            cluster.apply(MAPS, body, manager=f"{manager}-{number}")

    threads = [Thread(target=write, args=(name,)) for name in ("a", "b", "c", "d")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    live = cluster.get(MAPS, WEB)
    assert live is not None
    assert len(live["data"]) == 80


def test_an_account_sees_the_same_cluster_with_its_own_rights() -> None:
    cluster = EmbeddedCluster()
    account = cluster.acting_as("default", "default")
    cluster.apply(MAPS, config_map("1"), manager="m")
    with pytest.raises(Forbidden, match="default:default may not get ConfigMap"):
        account.get(MAPS, WEB)
    assert account.now() == cluster.now()
    assert cluster.can("get", MAPS) == ""


def test_writing_into_an_answer_spoils_no_state() -> None:
    cluster = EmbeddedCluster()
    cluster.apply(MAPS, config_map("1"), manager="m")
    live = cluster.get(MAPS, WEB)
    assert live is not None
    live["metadata"].clear()
    assert cluster.list(MAPS, "default", "").items[-1]["metadata"]["name"] == "web"


def test_a_request_through_what_points_nowhere_gets_no_right_answer() -> None:
    cluster = EmbeddedCluster()
    assert cluster.request(ObjectId("", "Service", "default", "nothing")).status == 404
    assert cluster.request(ObjectId("", "Service", "default", "kubernetes")).status == 200
    assert cluster.read("/apis/apps/v1") == 200
    assert cluster.read("/apis/apps/v9") == 404
