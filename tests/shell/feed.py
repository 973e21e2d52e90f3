"""A store behind the scripted server: lists and watches of core kinds, and the ways in which they fail."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Condition
from typing import Any

from agent.core.model import Body, GroupKind
from agent.shell.cluster import Resource
from tests.shell.wire import Answer, Seen, status

VERBS = frozenset({"list", "watch"})
CONFIG_MAPS = Resource(GroupKind("", "ConfigMap"), ("v1",), "configmaps", is_namespaced=True, verbs=VERBS)
SECRETS = Resource(GroupKind("", "Secret"), ("v1",), "secrets", is_namespaced=True, verbs=VERBS)

WIDGETS = Resource(GroupKind("example.org", "Widget"), ("v1",), "widgets", is_namespaced=True, verbs=VERBS)

_TYPES = {
    "configmaps": {"apiVersion": "v1", "kind": "ConfigMap"},
    "secrets": {"apiVersion": "v1", "kind": "Secret"},
    "widgets": {"apiVersion": "example.org/v1", "kind": "Widget"},
}

Key = tuple[str, str]
"""Plural and name; all stand in one namespace."""


@dataclass
class Feed:
    """``Wire.otherwise`` of a server with one counter of versions; ``forget`` makes watches answer 410.

    Kinds whose plural stands in ``unserved`` answer 404.
    """

    version: int = 100
    objects: dict[Key, Body] = field(default_factory=dict)
    events: list[tuple[int, str, str, Body]] = field(default_factory=list)
    oldest: int = 0
    unserved: set[str] = field(default_factory=set)
    held: bool = False
    lists: int = 0
    changed: Condition = field(default_factory=Condition)

    def put(self, plural: str, name: str, **rest: Any) -> Body:
        """Write an object at the next version."""
        with self.changed:
            self.version += 1
            metadata = {"namespace": "shop", "name": name, "uid": name, "resourceVersion": str(self.version)}
            body = {"metadata": {**metadata, **rest.pop("meta", {})}, **rest}
            kind = "MODIFIED" if (plural, name) in self.objects else "ADDED"
            self.objects[plural, name] = body
            self._tell(plural, kind, body)
            return body

    def drop(self, plural: str, name: str) -> None:
        """Delete an object at the next version."""
        with self.changed:
            self.version += 1
            body = self.objects.pop((plural, name))
            metadata = {**body["metadata"], "resourceVersion": str(self.version)}
            self._tell(plural, "DELETED", {**body, "metadata": metadata})

    def hold(self, *, held: bool) -> None:
        """Keep events back from watches, or let them go."""
        with self.changed:
            self.held = held
            self.changed.notify_all()

    def forget(self) -> None:
        """Every watch ends, and no version up to now can be watched from."""
        with self.changed:
            self.oldest = self.version
            self.changed.notify_all()

    def answer(self, seen: Seen) -> Answer:
        """The server's answer to a list or a watch."""
        plural = seen.path.rpartition("/")[2]
        if plural in self.unserved:
            return Answer(404, b"404 page not found")
        if "watch" not in seen.query:
            with self.changed:
                self.lists += 1
                items = [body for key, body in self.objects.items() if key[0] == plural]
                return Answer(body={"metadata": {"resourceVersion": str(self.version)}, "items": items})
        after = int(seen.query["resourceVersion"])
        if after < self.oldest:
            return status(410, "Expired", "too old resource version")
        return Answer(stream=lambda send: self._stream(send, plural, after))

    def _tell(self, plural: str, kind: str, body: Body) -> None:
        typed = {**_TYPES[plural], **body}
        self.events.append((self.version, plural, kind, typed))
        self.changed.notify_all()

    def _stream(self, send: Callable[[bytes], None], plural: str, after: int) -> None:
        while True:
            with self.changed:
                if after < self.oldest:
                    return
                new = [] if self.held else [e for e in self.events if e[0] > after and e[1] == plural]
                if not new:
                    self.changed.wait(0.2)
            for version, _, kind, body in new:
                send(json.dumps({"type": kind, "object": body}).encode() + b"\n")
                after = version
            if not new:
                # A write to a client that has gone is what ends this thread.
                bookmark = {"kind": "ConfigMap", "metadata": {"resourceVersion": str(after)}}
                send(json.dumps({"type": "BOOKMARK", "object": bookmark}).encode() + b"\n")
