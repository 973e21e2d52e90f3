"""One line of YAML on its own: what it says wherever it stands, or that this cannot be told from the line."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Any, Final, NamedTuple

import orjson

from agent.core.yamlscalars import UnreadableScalar, json_value, key_text, resolve
from agent.core.yamltree import Unreadable, read_tree


class Unsure(Exception):
    """There is more to the document than its lines and their columns tell."""


class Kind(IntEnum):
    """What comes after a line's dash and key."""

    VALUE = 0
    NOTHING = 1
    COPY = 2
    """``value`` is JSON: each place gets a map or list of its own."""
    BLOCK = 3
    """``value`` is the header of a block scalar, such as ``|-``."""
    QUOTE = 4
    """``value`` begins a quoted scalar that does not end in this line."""
    FLOW = 5
    """``value`` begins a flow collection that does not end in this line."""
    BLANK = 6
    OTHER = 7
    """No line of the plain sort; it may be more text of the scalar before it."""


class Line(NamedTuple):
    """``level`` is twice the column at which the line starts, and one more where that is a dash; -1 if blank.

    So a list whose dashes stand right below the key that it belongs to is deeper than the key's map.
    ``inner`` is twice the column of what stands behind the dash, 0 where there is no dash. ``key`` is None
    where there is none. ``text`` is a plain scalar as written, which may go on in the next line; None where
    nothing may follow.
    """

    level: int
    kind: Kind
    key: str | None = None
    value: Any = None
    inner: int = 0
    text: str | None = None


_KEY: Final = re.compile(
    r"""(?:([A-Za-z0-9_/$](?:[A-Za-z0-9_.$/~@%+=()-]|:(?=[^ ])){0,200}|\.[a-z][A-Za-z0-9_.-]{0,200})
    |"([^"\\]{0,200})"|'([^']{0,200})'):(?:[ ]+(.*))?""",
    re.VERBOSE,
)
_DASH: Final = re.compile(r"-(?: +(.*))?")
QUOTED: Final = {"'": re.compile(r"(?:[^']|'')*"), '"': re.compile(r'(?:[^"\\]|\\.)*')}
"""What may stand in a line of a quoted scalar before the quote that ends it."""

_AFTER_QUOTE: Final = re.compile(r" +(?:#.*)?")
_NO_PLAIN_START: Final = frozenset(",[]{}#&*!|>'\"%@`")
_BLOCK_HEADERS: Final = frozenset({"|", "|-", "|+", ">", ">-", ">+"})
_DEEPEST_FLOW: Final = 30


def classify(line: str) -> Line:
    """What a line says. Raises Unsure for what no line of a document may hold that is read by lines."""
    content = line.strip(" ")
    column = len(line) - len(line.lstrip(" "))
    if not content or content.startswith("#"):
        if not content.replace("\t", "").isprintable():
            raise Unsure
        return Line(-1, Kind.BLANK)
    if not content.isprintable() or (content.endswith("\\") and line.endswith(" ")):
        raise Unsure  # a blank that is escaped counts
    dashed = _DASH.fullmatch(content)
    if dashed is None:
        return _content(content, 2 * column, 0)
    rest = dashed[1]
    if not rest or rest.startswith("#"):
        return Line(2 * column + 1, Kind.NOTHING, inner=2 * column + 2)
    return _content(rest, 2 * column + 1, 2 * (column + len(content) - len(rest)))


def _content(content: str, level: int, inner: int) -> Line:
    """What stands behind the dash, or the whole line; it is printable and has no blanks around it."""
    found = _KEY.fullmatch(content)
    if found is None:
        if not inner:
            return Line(level, Kind.OTHER)
        kind, value, text = value_of(content)
        return Line(level, kind, None, value, inner, text)
    plain, double, single, rest = found.groups()
    try:
        key = key_text(resolve(plain, None, is_plain=True)) if plain else double or single or ""
    except UnreadableScalar:
        raise Unsure from None
    if not rest or rest.startswith("#"):
        return Line(level, Kind.NOTHING, key, None, inner)
    kind, value, text = value_of(rest)
    return Line(level, kind, key, value, inner, text)


def value_of(text: str) -> tuple[Kind, Any, str | None]:
    """Kind, value and text of what stands behind a key or a dash. Raises Unsure."""
    first = text[0]
    if first in {'"', "'"}:
        return _quoted(text, first)
    if first in {"{", "["}:
        return _flow(text)
    if first in {"|", ">"}:
        return (Kind.BLOCK, text, None) if text in _BLOCK_HEADERS else (Kind.OTHER, None, None)
    if first in _NO_PLAIN_START or (first in "-?:" and text[1:2] in {"", " "}):
        return Kind.OTHER, None, None
    return _plain(text)


def _plain(text: str) -> tuple[Kind, Any, str | None]:
    whole, hash_, _ = text.partition(" #")
    whole = whole.rstrip(" ")
    if ": " in whole or whole.endswith(":"):
        return Kind.OTHER, None, None
    try:
        return Kind.VALUE, json_value(resolve(whole, None, is_plain=True)), None if hash_ else whole
    except UnreadableScalar:
        raise Unsure from None


def _quoted(text: str, quote: str) -> tuple[Kind, Any, str | None]:
    found = QUOTED[quote].match(text, 1)
    end = found.end() if found else 1
    if text[end : end + 1] != quote:
        return Kind.QUOTE, text, None
    rest = text[end + 1 :]
    if rest and not _AFTER_QUOTE.fullmatch(rest):
        raise Unsure
    inner = text[1:end]
    if quote == "'":
        return Kind.VALUE, inner.replace("''", "'"), None
    return Kind.VALUE, fragment(text) if "\\" in inner else inner, None


def _flow(text: str) -> tuple[Kind, Any, str | None]:
    """A flow collection: JSON where it ends in its line, else how it begins."""
    if text.count("[") + text.count("{") > text.count("]") + text.count("}"):
        return Kind.FLOW, text, None
    return Kind.COPY, orjson.dumps(fragment(text)), None


def fragment(text: str) -> Any:
    """The value of a key, of one line or several, as libyaml reads it.

    Raises:
        Unsure: it is no value alone, or nested deeper than ``_DEEPEST_FLOW``.
    """
    try:
        tree = read_tree(f"k: {text}\n")
    except Unreadable:
        raise Unsure from None
    if tree is None or tree.repeats or not isinstance(tree.value, dict) or tree.value.keys() != {"k"}:
        raise Unsure
    value = tree.value["k"]
    if _is_deep(value, _DEEPEST_FLOW):
        raise Unsure
    return value


def _is_deep(value: Any, left: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    parts = value.values() if isinstance(value, dict) else value
    return left == 0 or any(_is_deep(part, left - 1) for part in parts)
