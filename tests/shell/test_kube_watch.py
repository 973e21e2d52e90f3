"""Watches at the wire: they go on after every end, follow bookmarks, and stop when told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from itertools import islice
from threading import Event
from typing import Any

import pytest

from agent.errors import ClusterError, Conflict, Unauthorized
from agent.shell.kube import KubeCluster
from tests.shell.kinds import MAPS, SECRETS
from tests.shell.wire import Answer, Wire, status

PATH = "GET /api/v1/configmaps"
Write = Callable[[bytes], None]


def event(kind: str, version: int, name: str = "web") -> bytes:
    body = {"kind": "ConfigMap", "metadata": {"name": name, "resourceVersion": str(version)}}
    return json.dumps({"type": kind, "object": body}).encode() + b"\n"


def error(code: int, reason: str, message: str = "told so") -> bytes:
    body = {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message}
    return json.dumps({"type": "ERROR", "object": body}).encode() + b"\n"


def stream(*parts: bytes) -> Answer:
    """A stream of these parts that then ends."""

    def run(write: Write) -> None:
        for part in parts:
            write(part)

    return Answer(stream=run)


def versions(wire: Wire) -> list[str]:
    return [seen.query["resourceVersion"] for seen in wire.requests(PATH)]


def first(kube: KubeCluster, count: int) -> list[tuple[str, str]]:
    events = kube.watch(MAPS, "5", Event())
    found = [(one.type, one.body["metadata"]["resourceVersion"]) for one in islice(events, count)]
    events.close()  # type: ignore[attr-defined]  # the port promises an iterator; ours is a generator
    return found


def test_a_watch_asks_for_bookmarks_and_goes_on_after_the_last_event(wire: Wire, kube: KubeCluster) -> None:
    wire.answer(PATH, stream(event("ADDED", 6), event("BOOKMARK", 9)), stream(event("DELETED", 10)))
    assert first(kube, 2) == [("ADDED", "6"), ("DELETED", "10")]
    assert versions(wire) == ["5", "9"]
    query = wire.seen[0].query
    assert (query["watch"], query["allowWatchBookmarks"], query["timeoutSeconds"]) == ("1", "true", "300")


def test_events_that_arrive_in_pieces_or_together_are_put_together(wire: Wire, kube: KubeCluster) -> None:
    both = event("ADDED", 6) + event("MODIFIED", 7)
    wire.answer(PATH, stream(both[:20], both[20:]))
    assert first(kube, 2) == [("ADDED", "6"), ("MODIFIED", "7")]


def test_a_broken_stream_is_resumed_after_the_last_whole_event(wire: Wire, kube: KubeCluster) -> None:
    half = stream(event("ADDED", 6), event("MODIFIED", 7)[:30])
    wire.answer(PATH, half, stream(event("MODIFIED", 7)))
    assert first(kube, 2) == [("ADDED", "6"), ("MODIFIED", "7")]
    assert versions(wire) == ["5", "6"]


@pytest.mark.parametrize(
    "answer", [stream(error(410, "Expired")), status(410, "Expired", "too old resource version")]
)
def test_a_version_that_is_too_old_is_a_conflict(wire: Wire, kube: KubeCluster, answer: Answer) -> None:
    wire.answer(PATH, answer)
    with pytest.raises(Conflict, match="cannot watch ConfigMap: "):
        first(kube, 1)


def test_a_passing_error_is_tried_again_and_a_refusal_is_raised(wire: Wire, kube: KubeCluster) -> None:
    # A CRD that changes rebuilds its storage: its watches end, requests get 429 for a while.
    busy = Answer(429, b"storage is (re)initializing", {"retry-after": "0"})
    wire.answer(PATH, stream(error(504, "Timeout")), busy, stream(event("ADDED", 6)))
    assert first(kube, 1) == [("ADDED", "6")]
    wire.answer(PATH, stream(error(500, "InternalError", "conversion webhook failed")))
    with pytest.raises(ClusterError, match="conversion webhook failed"):
        first(kube, 1)
    wire.answer(PATH, status(401, "Unauthorized", "Unauthorized"))
    with pytest.raises(Unauthorized):
        first(kube, 1)


def test_an_error_in_a_watch_of_secrets_shows_no_content(wire: Wire, kube: KubeCluster) -> None:
    wire.answer("GET /api/v1/secrets", stream(error(500, "InternalError", "cannot convert MARKER-7f3a")))
    with pytest.raises(ClusterError, match="cannot watch Secret: InternalError") as caught:
        next(iter(kube.watch(SECRETS, "5", Event())))
    assert "MARKER" not in str(caught.value)


def test_a_silent_watch_ends_as_soon_as_it_is_told(wire: Wire, kube: KubeCluster) -> None:
    opened, over, stop = Event(), Event(), Event()

    def silence(write: Write) -> None:
        write(event("ADDED", 6))
        opened.set()
        over.wait(30)

    wire.answer(PATH, Answer(stream=silence))
    seen: list[Any] = []
    thread = threading.Thread(target=lambda: seen.extend(kube.watch(MAPS, "5", stop)))
    thread.start()
    assert opened.wait(10)
    stop.set()
    thread.join(10)
    is_over = not thread.is_alive()
    over.set()
    assert is_over
    assert len(wire.requests(PATH)) == 1


def test_watches_take_no_connection_from_requests(wire: Wire, kube: KubeCluster) -> None:
    over, stop = Event(), Event()

    def silence(write: Write) -> None:
        write(event("ADDED", 6))
        over.wait(30)

    wire.answer(PATH, Answer(stream=silence))
    wire.answer("GET /apis/g/v1", Answer(body={}))
    watches = [kube.watch(MAPS, "5", stop) for _ in range(4)]
    assert [next(iter(one)).type for one in watches] == ["ADDED"] * 4
    assert kube.read("/apis/g/v1") == 200
    stop.set()
    over.set()
    assert [list(one) for one in watches] == [[]] * 4


def test_a_watch_that_is_told_to_wait_stops_at_once(wire: Wire, kube: KubeCluster) -> None:
    stop = Event()
    busy = Answer(429, b"storage is (re)initializing", {"retry-after": "20"})
    wire.answer(PATH, busy)
    seen: list[Any] = []
    thread = threading.Thread(target=lambda: seen.extend(kube.watch(MAPS, "5", stop)))
    thread.start()
    while not wire.requests(PATH):
        thread.join(0.01)
    stop.set()
    thread.join(10)
    assert not thread.is_alive()
    assert seen == []
    assert len(wire.requests(PATH)) <= 2
