"""The YAML that generators and people write, read a line at a time; what is not plainly that is left alone.

Most lines of manifests stand in thousands of places (``type: string``), so a line is looked at once and its
meaning kept. Syntax that needs more than lines and columns (anchors, tags, merges, tabs, flow collections
over several lines, keys that stand twice) and all that is wrong makes a document ``Unsure``; libyaml reads
that one from the start (``yamltree``). A value is given here only where libyaml would give the same.

1. A line is ``key: value``, ``key:``, ``- `` before either, or ``- value``; its column says where it belongs.
2. Text of a plain or quoted scalar may go on in deeper lines; a line break in it is a space, an empty line a
   line break (https://yaml.org/spec/1.1/#id929764).
3. After ``|`` and ``>`` the deeper lines are text (https://yaml.org/spec/1.1/#id926597); the first tells how
   deep.
"""

from __future__ import annotations

from typing import Any, Final

import orjson

from agent.core.yamlline import Kind, Line, Unsure, classify, value_of
from agent.core.yamltext import block_text, flow_value, plain_text, quoted_text
from agent.core.yamltree import Tree

_DEEPEST: Final = 200
"""A level (``yamlline.Line``); each collection has a deeper one than that around it, none nests too deep."""

_KNOWN_LIMIT: Final = 1 << 16
"""Lines whose meaning is kept, some 20 MB."""

_VALUE: Final = Kind.VALUE
_NOTHING: Final = Kind.NOTHING
_OTHER: Final = Kind.OTHER

_known: dict[str, Line] = {}


def read_lines(text: str) -> Tree | None:
    """The document of ``text``, which ends with a line break; None where it holds nothing but comments.

    Raises:
        Unsure: it has more to it than lines and columns tell.
    """
    lines = text.split("\n")
    lines.pop()
    reader = _Reader(lines)
    reader.read(_after_marker(lines[0]) if text.startswith("---") else 0)
    return reader.tree()


def forget() -> None:
    """Forget the lines that were seen, as in a new process."""
    _known.clear()


def _after_marker(line: str) -> int:
    rest = line[3:].strip(" ")
    if rest and not (rest.startswith("#") and line[3] == " " and rest.isprintable()):
        raise Unsure
    return 1


def _learn(line: str) -> Line:
    meaning = classify(line)
    if meaning.kind is not _OTHER:
        if len(_known) >= _KNOWN_LIMIT:
            _known.clear()
        _known[line] = meaning
    return meaning


class _Reader:
    """Reads lines into collections; lines before ``_sealed`` have been read to the end of their text."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._root: list[Any] = [None]
        self._first = 0
        self._sealed = 0
        self._entries: list[int] = []

    def tree(self) -> Tree | None:
        """What has been read."""
        return Tree(self._root[0], self._first, tuple(self._entries), ()) if self._first else None

    def read(self, at: int) -> None:  # noqa: C901, PLR0912, PLR0915 - calls for each line would double the time
        """Read all lines from number ``at``. Raises Unsure.

        ``here`` is the collection to which lines of ``level`` belong, ``frames`` those around it. ``slot`` is
        the key or index of the last value in it; ``is_open``: that one has not been written so far.
        """
        lines, known, total = self._lines, _known, len(self._lines)
        frames: list[tuple[int, Any]] = []
        here: Any = self._root
        listed: Any = None
        slot: Any = 0
        level, is_open = -1, True
        while at < total:
            line = lines[at]
            at += 1
            start, kind, key, value, inner, _ = known[line] if line in known else _learn(line)
            if is_open or start != level:
                if start < 0:
                    continue
                if start > level and (kind is _OTHER or not is_open):
                    here[slot], at = self._more(at, level, is_value=is_open and here is not listed)
                    is_open = False
                    continue
                if start > level:
                    new: Any = [] if inner else {}
                    if level < 0:
                        self._first = at
                    elif here is listed or level > _DEEPEST:
                        raise Unsure
                    elif slot == "items" and here is self._root[0]:
                        listed = new
                    here[slot] = new
                    frames.append((level, here))
                    here, level = new, start
                while start < level:
                    level, here = frames.pop()
                if start != level:
                    raise Unsure
                is_open = False
            if inner:
                if here is listed:
                    self._entries.append(at)
                here.append({} if key is not None else None)
                slot = -1
                if key is not None:
                    frames.append((level, here))
                    here, level = here[-1], inner
            if key is not None:
                if key in here:
                    raise Unsure
                slot = key
            if kind is _VALUE:
                here[slot] = value
            elif kind is _NOTHING:
                here[slot] = None
                is_open = True
            else:
                here[slot], at = self._value(kind, value, at, level >> 1)

    def _value(self, kind: Kind, value: Any, at: int, column: int) -> tuple[Any, int]:
        """The value of any other kind, and the number of the line behind it."""
        if kind is Kind.COPY:
            return orjson.loads(value), at
        if kind is Kind.BLOCK:
            value, self._sealed = block_text(value, self._lines, at, column)
        elif kind is Kind.QUOTE:
            value, self._sealed = quoted_text(value, self._lines, at, column)
        elif kind is Kind.FLOW:
            value, self._sealed = flow_value(value, self._lines, at, column)
        elif kind is not _VALUE:
            raise Unsure
        return value, self._sealed

    def _more(self, at: int, level: int, *, is_value: bool) -> tuple[Any, int]:
        """What a deeper line without a key gives: a value that is missing, or more of the text before it."""
        column = level >> 1
        if is_value and level >= 0:
            kind, value, text = value_of(self._lines[at - 1].strip(" "))
            if kind is Kind.BLOCK:
                raise Unsure
            self._sealed = at
            if text is None:
                return self._value(kind, value, at, column)
            whole, self._sealed = plain_text(text, self._lines, at, column)
            return (whole if self._sealed > at else value), self._sealed
        last = at - 2
        while last > self._sealed and not self._lines[last].strip(" "):
            last -= 1
        before = _known.get(self._lines[last]) if last >= self._sealed else None
        if before is None or before.text is None:
            raise Unsure
        value, self._sealed = plain_text(before.text, self._lines, last + 1, column)
        if self._sealed < at:
            raise Unsure
        return value, self._sealed
