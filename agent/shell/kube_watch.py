"""A watch that goes on: it follows bookmarks, comes back after every end, and stops when told to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Final

import orjson
import urllib3
from urllib3.exceptions import HTTPError

from agent.core.model import Body
from agent.errors import Conflict, Unreachable
from agent.shell.cluster import WatchEvent
from agent.shell.kube_errors import Asked, error_of

SERVER_SECONDS: Final = 300
"""For how long the server shall keep one watch open."""

SILENCE_SECONDS: Final = SERVER_SECONDS + 30.0
"""A stream without a byte for longer than the server's own limit is dead."""

_PATIENCE: Final = 60.0
_PAUSE: Final = 1.0
_CHUNK: Final = 1 << 16
_LOOK: Final = 2.0

Open = Callable[[str], urllib3.BaseHTTPResponse]
"""Opens the stream after a resourceVersion; raises ``ClusterError``."""


def watch(open_stream: Open, asked: Asked, resource_version: str, stop: Event) -> Iterator[WatchEvent]:
    """Events after ``resource_version`` until ``stop``.

    Raises ``Conflict`` when that version is too old, ``Unreachable`` when no stream could be opened for a
    minute, and the ``ClusterError`` of any other refusal.
    """
    after = resource_version
    silent_since = time.monotonic()
    while not stop.is_set():
        try:
            response = open_stream(after)
        except Unreachable:
            if stop.is_set():
                return
            if time.monotonic() - silent_since > _PATIENCE:
                raise
            stop.wait(_PAUSE)
            continue
        silent_since = time.monotonic()
        with _closed_on(stop, response):
            for event in _events(response, stop):
                if event.type == "ERROR":
                    _raise_unless_passing(event.body, asked)
                    break
                after = str(event.body["metadata"]["resourceVersion"])
                if event.type != "BOOKMARK":
                    yield event
        # An end at once, again and again, must not become a storm of requests.
        if time.monotonic() - silent_since < _PAUSE:
            stop.wait(_PAUSE)


def _events(response: urllib3.BaseHTTPResponse, stop: Event) -> Iterator[WatchEvent]:
    """The stream's events until it ends, breaks or is stopped; all three mean: ask again from the last."""
    rest = b""
    # A broken stream says nothing of the objects; the next one starts after the last event seen.
    with suppress(HTTPError, OSError, ValueError):
        while not stop.is_set() and (part := response.read1(_CHUNK)):
            *lines, rest = (rest + part).split(b"\n")
            for line in filter(None, lines):
                event = orjson.loads(line)
                yield WatchEvent(str(event["type"]), event["object"])


def _raise_unless_passing(status: Body, asked: Asked) -> None:
    """An ERROR event ends a watch: 410 for the caller, what passes is tried again, the rest is raised."""
    error = error_of(int(status.get("code") or 500), orjson.dumps(status), asked)
    if isinstance(error, Conflict) or not isinstance(error, Unreachable):
        raise error


@contextmanager
def _closed_on(stop: Event, response: urllib3.BaseHTTPResponse) -> Iterator[None]:
    """Ends a blocked read as soon as ``stop`` is set: a quiet stream has nothing else that wakes it."""
    ended = Event()

    def guard() -> None:
        while not ended.is_set():
            if stop.wait(_LOOK):
                # The stream may have ended by itself in this very moment.
                with suppress(OSError, ValueError, RuntimeError):
                    response.shutdown()
                return

    Thread(target=guard, name="watch-stop", daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        response.close()
