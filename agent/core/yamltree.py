"""One YAML document as JSON values, as kubectl reads it: anchors, merges, duplicate keys, text keys.

libyaml gives the events (kubectl's scanner is a port of it), so syntax is kubectl's; what the events mean
is decided here. Rules, in the order of decode.go of go.yaml.in/yaml/v2:

1. A document may hold one root; what follows ``...`` is not looked at.
2. ``<<`` puts the keys of a map, or of a list of maps (the first one counts), in place: a key written
   before it loses, one after it wins.
3. Of a key that stands twice the last one counts; kubectl says nothing, here it is a finding.
4. An alias stands for the value last anchored; too many are refused (decode.go, ``allowedAliasRatio``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from yaml import MarkedYAMLError, YAMLError
from yaml.cyaml import CParser
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from agent.core.model import FieldPath, path_text
from agent.core.yamlscalars import UnreadableScalar, json_value, key_text, resolve
from agent.core.yamlsource import OddText, Rewritten, Source

MAX_DEPTH: Final = 240
"""Levels of nesting: what JSON writers downstream take (254), less what they wrap around a document."""

_SLASH_ESCAPE: Final = re.compile(r"(?<!\\)(?:\\\\)*\\/")
_REWRITES: Final = 100
_ITEMS_DEPTH: Final = 2
_MERGE_TAG: Final = "tag:yaml.org,2002:merge"
_MERGE_PROBLEM: Final = "map merge requires map or sequence of maps as the value"


class Unreadable(ValueError):
    """A document that kubectl refuses; ``line`` counts from 1 within the text that was read."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


class Repeat(NamedTuple):
    """A key that stands twice, or one that a later merge replaces (``is_merge``); lines count from 1."""

    path: str
    first: int
    last: int
    is_merge: bool = False


class Tree(NamedTuple):
    """What one document holds. ``items`` are the lines of the entries of a root key ``items``."""

    value: Any
    line: int
    items: tuple[int, ...]
    repeats: tuple[Repeat, ...]


class _Anchored(NamedTuple):
    """What an alias may stand for; ``size`` counts decoded nodes, ``is_open`` while it is being read."""

    value: Any
    size: int
    is_open: bool = False


@dataclass(slots=True)
class _Frame:
    """A map or list being read. ``lines`` are those of its own keys; ``key`` waits for its value.

    ``merge`` is the line of a ``<<`` that waits for its value, else 0.
    """

    value: dict[str, Any] | list[Any]
    anchor: str | None
    line: int
    is_flow: bool
    size: int = 1
    key: str | None = None
    merge: int = 0
    lines: dict[str, int] = field(default_factory=dict)


def read_tree(text: str) -> Tree | None:
    """The first document of ``text``, or None where it holds nothing but comments.

    Raises:
        Unreadable: kubectl would refuse it, or it is nested deeper than ``MAX_DEPTH``.
    """
    try:
        source = Source.of(text)
        for _ in range(_REWRITES):
            try:
                return _Reader(source).read()
            except Rewritten as again:
                source = again.source
    except OddText as error:
        raise Unreadable(str(error), 1) from None
    raise Unreadable(f"more than {_REWRITES} tags, colons and quotes that are read otherwise", 1)


class _Reader:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._text = source.text
        self._has_slash = "\\/" in source.text
        self._frames: list[_Frame] = []
        self._anchors: dict[str, _Anchored] = {}
        self._decoded = 1  # the document counts too
        self._aliased = 0
        self._items: list[int] = []
        self._repeats: list[Repeat] = []
        self._root: tuple[Any, int] | None = None

    def read(self) -> Tree | None:
        try:
            self._consume(CParser(self._text))
        except MarkedYAMLError as error:
            self._source.mend(error)
            mark = error.problem_mark or error.context_mark
            raise Unreadable(str(error.problem or error.context), mark.line + 1 if mark else 1) from None
        except YAMLError as error:
            raise Unreadable(str(error).partition("\n")[0], 1) from None
        if self._root is None:
            return None
        return Tree(*self._root, tuple(self._items), tuple(self._repeats))

    def _consume(self, parser: Any) -> None:
        takers = {
            DocumentStartEvent: self._version,
            ScalarEvent: self._scalar,
            AliasEvent: self._alias,
            MappingStartEvent: self._open,
            SequenceStartEvent: self._open,
            MappingEndEvent: self._close,
            SequenceEndEvent: self._close,
        }
        while self._root is None and (event := parser.get_event()) is not None:
            taker = takers.get(type(event))
            if self._source.odd_tags and getattr(event, "tag", None):
                self._source.mend_tag(event.start_mark.index)
            if taker is not None:
                taker(event, event.start_mark.line + 1)
        if self._root is not None:
            parser.get_event()  # the document's end: a stray bracket shows only there

    def _version(self, event: Any, line: int) -> None:
        if event.version not in {None, (1, 1)}:
            raise Unreadable("%YAML names another version than 1.1", line)

    def _scalar(self, event: Any, line: int) -> None:
        if self._has_slash and event.style == '"':
            self._refuse_slash(event, line)
        text = self._source.written(event.value)
        is_plain = bool(event.implicit[0])
        frame = self._frames[-1] if self._frames else None
        is_key = frame is not None and frame.key is None and isinstance(frame.value, dict)
        if frame is not None and is_key and text == "<<" and (is_plain or event.tag == _MERGE_TAG):
            frame.key, frame.merge = "<<", line
            if event.anchor:
                self._anchors[event.anchor] = _Anchored("<<", 1)
            return
        if "?" in text and frame is not None and frame.is_flow and not event.style:
            raise Unreadable("a question mark ends text between brackets; put it in quotes", line)
        try:
            value = resolve(text, event.tag, is_plain=is_plain)
            value = value if is_key else json_value(value)
        except UnreadableScalar as error:
            raise Unreadable(str(error), line) from None
        self._decoded += 1
        if event.anchor:
            self._anchors[event.anchor] = _Anchored(value, 1)
        self._put(value, 1, line)

    def _refuse_slash(self, event: Any, line: int) -> None:
        raw = self._text[event.start_mark.index : event.end_mark.index]
        if _SLASH_ESCAPE.search(raw):
            raise Unreadable("found unknown escape character \\/ in double quotes", line)

    def _alias(self, event: Any, line: int) -> None:
        target = self._anchors.get(event.anchor)
        if target is None:
            raise Unreadable(
                "an alias names no anchor before it; put quotes around text that starts with *", line
            )
        if target.is_open:
            raise Unreadable("an anchor's value contains itself", line)
        self._aliased += target.size
        self._decoded += target.size + 1
        if self._is_bomb():
            raise Unreadable("document contains excessive aliasing", line)
        if self._frames and self._frames[-1].merge and isinstance(target.value, list):
            raise Unreadable(_MERGE_PROBLEM, line)
        self._put(target.value, target.size + 1, line)

    def _is_bomb(self) -> bool:
        few_aliased, few_decoded, low, high = 100, 1000, 400_000, 4_000_000
        share = 0.99 - 0.89 * min(max(self._decoded - low, 0) / (high - low), 1)
        return (
            self._aliased > few_aliased
            and self._decoded > few_decoded
            and self._aliased > share * self._decoded
        )

    def _open(self, event: Any, line: int) -> None:
        if len(self._frames) >= MAX_DEPTH:
            raise Unreadable(f"nested deeper than {MAX_DEPTH} levels", line)
        frame = _Frame(
            {} if isinstance(event, MappingStartEvent) else [], event.anchor, line, event.flow_style
        )
        if frame.anchor:
            self._anchors[frame.anchor] = _Anchored(frame.value, 0, is_open=True)
        self._decoded += 1
        self._frames.append(frame)

    def _close(self, _event: Any, _line: int) -> None:
        frame = self._frames.pop()
        # an anchor of the same name within has taken the name over
        if frame.anchor and self._anchors[frame.anchor].value is frame.value:
            self._anchors[frame.anchor] = _Anchored(frame.value, frame.size)
        self._put(frame.value, frame.size, frame.line)

    def _put(self, value: Any, size: int, line: int) -> None:
        """The value goes where it belongs: the root, a list, a key that waits, or it is a key itself."""
        if not self._frames:
            self._root = (value, line)
            return
        frame = self._frames[-1]
        frame.size += size
        if isinstance(frame.value, list):
            frame.value.append(value)
            if len(self._frames) == _ITEMS_DEPTH and self._frames[0].key == "items":
                self._items.append(line)
        elif frame.key is None:
            self._begin_key(frame, value, line)
        elif frame.merge:
            self._merge(frame, frame.value, value)
        else:
            frame.value[frame.key] = value
            frame.key = None

    def _begin_key(self, frame: _Frame, value: Any, line: int) -> None:
        if isinstance(value, dict | list):
            raise Unreadable("a list or a map cannot be a key", line)
        try:
            key = key_text(value)
        except UnreadableScalar as error:
            raise Unreadable(str(error), line) from None
        if key in frame.lines:
            self._repeats.append(Repeat(self._path(key), frame.lines[key], line))
        frame.lines[key] = line
        frame.key = key

    def _merge(self, frame: _Frame, into: dict[str, Any], value: Any) -> None:
        merged = value if isinstance(value, list) else [value]
        if not all(isinstance(part, dict) for part in merged):
            raise Unreadable(_MERGE_PROBLEM, frame.merge)
        for part in reversed(merged):
            for key in part.keys() & frame.lines.keys():
                self._repeats.append(Repeat(self._path(key), frame.lines[key], frame.merge, is_merge=True))
            into.update(part)
        frame.key, frame.merge = None, 0

    def _path(self, key: str) -> str:
        parts: FieldPath = tuple(
            len(frame.value) if isinstance(frame.value, list) else str(frame.key)
            for frame in self._frames[:-1]
        )
        return path_text((*parts, key))
