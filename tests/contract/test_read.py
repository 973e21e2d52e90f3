"""Lists, metadata lists, watches, discovery and plain reads."""

from __future__ import annotations

import base64
import threading
from threading import Event

from agent.core.model import Body, GroupKind
from agent.shell.cluster import Listing, WatchEvent
from tests.contract.bench import Bench, config_map, deployment, id_of, named, namespace, service


def names(listing: Listing) -> set[str]:
    return {item["metadata"]["name"] for item in listing.items}


def labelled(name: str, tier: str) -> Body:
    body = config_map(name)
    body["metadata"]["labels"] = {"tier": tier, "app": "shop"}
    return body


def test_a_list_has_whole_objects_with_their_type(bench: Bench) -> None:
    made = bench.apply(config_map(a="1"))
    listing = bench.cluster.list(bench.of(made), "shop")
    assert [item for item in listing.items if id_of(item) == id_of(made)] == [made]
    assert listing.resource_version


def test_a_list_is_of_one_namespace_or_of_all(bench: Bench) -> None:
    bench.apply(namespace("bar"))
    bench.apply(config_map("here"))
    bench.apply(named("v1", "ConfigMap", "there", "bar"))
    maps = bench.resource("", "ConfigMap")
    assert "there" not in names(bench.cluster.list(maps, "shop"))
    assert {"here", "there"} <= names(bench.cluster.list(maps))
    assert names(bench.cluster.list(maps, "nowhere")) == set()


def test_a_selector_chooses_by_label(bench: Bench) -> None:
    bench.apply(labelled("front", "web"))
    bench.apply(labelled("back", "db"))
    bench.apply(config_map("bare"))
    maps = bench.resource("", "ConfigMap")
    for listed in (bench.cluster.list, bench.cluster.list_metadata):
        assert names(listed(maps, "shop", "app=shop,tier=db")) == {"back"}
        assert names(listed(maps, "shop", "tier")) == {"front", "back"}


def test_a_metadata_list_holds_metadata_and_nothing_else(bench: Bench) -> None:
    made = bench.apply(deployment())
    (item,) = bench.cluster.list_metadata(bench.of(made), "shop").items
    assert item.keys() == {"apiVersion", "kind", "metadata"}
    assert (item["apiVersion"], item["kind"]) == ("apps/v1", "Deployment")
    assert item["metadata"]["uid"] == made["metadata"]["uid"]
    assert item["metadata"]["generation"] == made["metadata"]["generation"]


def test_discovery_tells_scope_plural_and_verbs(bench: Bench) -> None:
    served = bench.cluster.discover()
    assert not served.failed
    maps, nodes = served.resources[GroupKind("", "ConfigMap")], served.resources[GroupKind("", "Namespace")]
    assert (maps.versions[0], maps.plural, maps.is_namespaced) == ("v1", "configmaps", True)
    assert not nodes.is_namespaced
    assert {"get", "list", "watch", "patch", "delete"} <= maps.verbs
    assert served.resources[GroupKind("apps", "Deployment")].versions == ("v1",)


def test_a_secret_is_stored_as_data(bench: Bench) -> None:
    body = named("v1", "Secret", "key", "shop", stringData={"password": "hunter2"})
    made = bench.apply(body)
    assert base64.b64decode(made["data"]["password"]) == b"hunter2"
    assert "stringData" not in made


def test_read_tells_the_status_of_a_path(bench: Bench) -> None:
    assert bench.cluster.read("/apis/apps/v1") == 200
    assert bench.cluster.read("/apis/nobody.dev/v1") == 404


def collect(bench: Bench, start: str, *, count: int, kind: str = "ConfigMap") -> list[WatchEvent]:
    """The events of ``shop`` once there are ``count``; the watch runs in a thread and is then stopped."""
    seen: list[WatchEvent] = []
    stop = Event()

    def run() -> None:
        events = bench.cluster.watch(bench.resource("", kind), start, stop)
        seen.extend(event for event in events if event.body["metadata"].get("namespace") == "shop")

    thread = threading.Thread(target=run)
    thread.start()
    try:
        bench.until(f"{count} events", lambda: len(seen) >= count)
    finally:
        stop.set()
        thread.join(10)
    assert not thread.is_alive(), "the watch did not stop"
    return seen


def test_a_watch_tells_everything_after_its_version_in_order(bench: Bench) -> None:
    bench.apply(config_map("before"))
    start = bench.cluster.list(bench.resource("", "ConfigMap")).resource_version
    made = bench.apply(config_map(a="1"))
    changed = bench.apply(config_map(a="2"))
    bench.delete(changed)
    seen = collect(bench, start, count=3)
    assert [event.type for event in seen] == ["ADDED", "MODIFIED", "DELETED"]
    assert [event.body["data"]["a"] for event in seen] == ["1", "2", "2"]
    assert seen[0].body == made
    versions = [int(event.body["metadata"]["resourceVersion"]) for event in seen]
    assert versions == sorted(set(versions))


def test_a_watch_that_sees_nothing_stops_when_told(bench: Bench) -> None:
    start = bench.cluster.list(bench.resource("", "Service")).resource_version
    assert collect(bench, start, count=0, kind="Service") == []
    bench.apply(service())
    assert [event.type for event in collect(bench, start, count=1, kind="Service")] == ["ADDED"]
