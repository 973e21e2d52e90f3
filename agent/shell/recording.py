"""The file of a recording: what was seen of a cluster, one JSON value a line, gzipped where it ends in .gz.

======================================  ==============================================================
``{"recording": 1, "started": T}``      the first line; the number is the format's
``{"listed": K, "version": V,``         all objects of kind K (``Kind.group``) as they stood at
``"items": [..]}``                      resourceVersion V, before anything else is said of K
``{"event": E, "version": V,``          ADDED, MODIFIED or DELETED at V, seen at T; the body is the object
``"time": T, "body": {..}}``            after it (before it, for DELETED)
``{"unseen": S}``                       something was missed; S says what
``{"terms": {..}}``                     what the upgrade announced (agent/core/terms.py); the last one counts
``{"end": V, "time": T}``               everything up to V was seen; what comes later is not whole
======================================  ==============================================================

Events stand in the order of their arrival, which over several kinds is not that of the states: ``read``
sorts them by version. Values of Secrets are digests under a key that nobody keeps.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, TypeAlias, cast

import orjson

from agent.core.model import Body, ObjectId
from agent.core.policy import id_of
from agent.core.promise import Checker, Verdict
from agent.core.redact import masked_body
from agent.core.serving import CRD, Routes
from agent.core.states import Event
from agent.core.stored_shapes import checked_object
from agent.core.terms import Terms, from_json
from agent.errors import SourceError

FORMAT: Final = 1
DELETED: Final = "DELETED"

Line: TypeAlias = Mapping[str, Any]

_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_MANAGER_KEYS: Final = ("manager", "operation", "subresource")


@dataclass(frozen=True)
class Recording:
    """A history whole: the first state, at ``version``, and the events after it in their true order.

    ``unseen`` says what was missed; nothing is known of that.
    """

    version: int
    first: Mapping[ObjectId, Body]
    events: tuple[Event, ...]
    unseen: tuple[str, ...]
    terms: Terms


def open_for_writing(path: Path) -> IO[bytes]:
    """A file to put lines into; it must not be there yet. Raises SourceError."""
    try:
        return cast("IO[bytes]", gzip.open(path, "xb")) if path.suffix == ".gz" else path.open("xb")
    except OSError as error:
        raise SourceError(f"recording {path} cannot be written: {error}") from error


def encoded(line: Line) -> bytes:
    """One line as it stands in the file."""
    return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)


def read(path: Path) -> Recording:
    """The recording in a file.

    Raises SourceError that names the file and the line where it is no recording, or a newer format.
    """
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            return assemble(_parsed(path, cast("IO[bytes]", file)))
    except (OSError, EOFError, zlib.error) as error:
        raise SourceError(f"recording {path} cannot be read: {error}") from error


def verify(path: Path, routes: Routes, terms: Terms | None = None) -> Verdict:
    """How the promise was kept in a recorded history; ``terms`` take the place of the recorded ones.

    Raises SourceError as ``read`` does.
    """
    return judge(read(path), routes, terms)


def judge(recording: Recording, routes: Routes, terms: Terms | None = None) -> Verdict:
    """How the promise was kept in this history."""
    checker = Checker(recording.first.items(), routes, terms or recording.terms, version=recording.version)
    for event in recording.events:
        checker.step(event)
    return checker.verdict(recording.unseen)


def assemble(lines: Iterable[Line]) -> Recording:
    """The history that lines tell. Raises SourceError where one is no line of a recording."""
    parts = _Parts()
    for number, line in enumerate(lines, 1):
        try:
            parts.take(line)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise SourceError(f"line {number} of the recording is damaged: {error}") from error
    return parts.whole()


@dataclass
class _Parts:
    start: int = 0
    end: int | None = None
    first: dict[ObjectId, Body] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    terms: Terms = field(default_factory=Terms)

    def take(self, line: Line) -> None:
        match line:
            case {"listed": _, "version": int(version), "items": items}:
                # The kinds are listed one after another: the first whole state is that of the last list.
                self.start = max(self.start, version)
                self.first.update({id_of(body): body for body in map(checked_object, items)})
            case {"event": str(kind), "version": int(version), "time": str(time), "body": body}:
                whole = checked_object(body)
                self.events.append(Event(version, time, id_of(whole), None if kind == DELETED else whole))
            case {"unseen": str(what)}:
                self.unseen.append(what)
            case {"terms": said}:
                self.terms = from_json(said)
            case {"end": int(version)}:
                self.end = version
            case {"recording": _}:
                return
            case _:
                raise SourceError(f"no line of a recording: {sorted(line)}")

    def whole(self) -> Recording:
        if self.end is None:
            self.unseen.append("the recording was not ended: what came last is not whole")
        events = sorted(self.events, key=lambda event: event.version)
        for event in events:
            if event.version <= self.start:
                _apply(self.first, event)
        after = (e for e in events if e.version > self.start and (self.end is None or e.version <= self.end))
        return Recording(self.start, self.first, tuple(after), tuple(self.unseen), self.terms)


def kept(body: Body, key: bytes) -> Body:
    """What a recording keeps of an object: no secret values, no bulk that the promise never asks for."""
    body = masked_body(body, key)
    metadata = dict(body.get("metadata") or {})
    if "managedFields" in metadata:
        metadata["managedFields"] = [
            {name: entry[name] for name in _MANAGER_KEYS if name in entry}
            for entry in metadata["managedFields"]
        ]
    if _LAST_APPLIED in (metadata.get("annotations") or {}):
        metadata["annotations"] = {k: v for k, v in metadata["annotations"].items() if k != _LAST_APPLIED}
    slim = {**body, "metadata": metadata}
    if id_of(body).group_kind == CRD:
        versions = (body.get("spec") or {}).get("versions") or ()
        slim["spec"] = {**body["spec"], "versions": [_without_schema(version) for version in versions]}
    return slim


def _without_schema(version: Body) -> Body:
    return {name: value for name, value in version.items() if name != "schema"}


def _apply(state: dict[ObjectId, Body], event: Event) -> None:
    if event.body is None:
        state.pop(event.id, None)
        return
    there = state.get(event.id)
    if there is None or int(there["metadata"]["resourceVersion"]) < event.version:
        state[event.id] = event.body


def _parsed(path: Path, file: IO[bytes]) -> Iterator[Line]:
    for number, text in enumerate(file, 1):
        try:
            line = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise SourceError(f"recording {path}, line {number}: {error}") from error
        if not isinstance(line, dict) or (number == 1 and line.get("recording") != FORMAT):
            raise SourceError(f"{path}, line {number}: no recording of format {FORMAT}: {text[:60]!r}")
        yield line
    if not path.stat().st_size:
        raise SourceError(f"{path}, line 1: no recording of format {FORMAT}: the file is empty")
