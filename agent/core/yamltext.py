"""Text that goes on over several lines, put together as libyaml does.

Each function starts at a line and returns the text and the number of the line that follows it. ``column`` is
that of the collection to which the text belongs: it goes on in lines that are deeper.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from agent.core.yamlline import QUOTED, Unsure, fragment


def plain_text(first: str, lines: Sequence[str], start: int, column: int) -> tuple[str, int]:
    """A plain scalar that begins with ``first`` and goes on at ``start``.

    Raises:
        Unsure: a comment or a key stands in it, or what libyaml might refuse.
    """
    inside = " " * (column + 1)
    parts, at, after = [first], start, start
    while at < len(lines):
        line = lines[at]
        at += 1
        content = line.strip(" ")
        if not content:
            continue
        if not line.startswith(inside):
            break
        parts.append(_break(at - after))
        parts.append(content)
        after = at
    text = "".join(parts)
    if (
        ": " in text
        or " #" in text
        or ":\n" in text
        or "\n#" in text
        or text.endswith(":")
        or not text.replace("\n", "").isprintable()
    ):
        raise Unsure
    return text, after


def quoted_text(first: str, lines: Sequence[str], start: int, column: int) -> tuple[str, int]:
    """A quoted scalar that begins with ``first``, quote included, and goes on at ``start``.

    Raises:
        Unsure: it does not end, something stands behind it, or libyaml might refuse it.
    """
    quote, inside = first[0], " " * (column + 1)
    inner = QUOTED[quote]
    parts, at, after = [first[1:].rstrip(" ")], start, start
    while at < len(lines):
        line = lines[at].lstrip(" ")
        at += 1
        if not line:
            continue
        if not lines[at - 1].startswith(inside) or "\t" in line:
            raise Unsure
        parts.append(_break(at - after))
        after = at
        end = _end(inner, line)
        if line[end : end + 1] != quote:
            parts.append(line.rstrip(" "))
            continue
        if line[end + 1 :].strip(" "):
            raise Unsure
        parts.append(line[:end])
        text = "".join(parts)
        if not text.replace("\n", "").isprintable():
            raise Unsure
        if quote == "'":
            return text.replace("''", "'"), at
        return (str(fragment("\n".join((first, *lines[start:at])))) if "\\" in text else text), at
    raise Unsure


def _end(inner: re.Pattern[str], line: str) -> int:
    found = inner.match(line)
    return found.end() if found else 0


def flow_value(first: str, lines: Sequence[str], start: int, column: int) -> tuple[Any, int]:
    """A flow collection that begins with ``first`` and goes on at ``start``, as libyaml reads it.

    Raises:
        Unsure: it does not end where the deeper lines do, or with the bracket below them.
    """
    inside = " " * (column + 1)
    at = start
    while at < len(lines) and (lines[at].startswith(inside) or not lines[at].strip(" ")):
        at += 1
    if at < len(lines) and lines[at].lstrip(" ").startswith(("]", "}")):
        at += 1
    return fragment("\n".join((first, *lines[start:at]))), at


def _break(lines: int) -> str:
    """What a line break becomes, with ``lines`` - 1 empty lines after it."""
    return " " if lines == 1 else "\n" * (lines - 1)


def block_text(header: str, lines: Sequence[str], start: int, column: int) -> tuple[str, int]:
    """The text of a block scalar with a header such as ``|-``.

    Raises:
        Unsure: it is nothing but line breaks that stay, begins with odd lines, or libyaml might refuse it.
    """
    at = start
    while at < len(lines) and not lines[at].strip(" "):
        at += 1
    depth = len(lines[at]) - len(lines[at].lstrip(" ")) if at < len(lines) else 0
    if depth <= column and not header.endswith("+"):
        return "", at
    if depth <= column or lines[at].startswith("\t", depth):
        raise Unsure
    if any(len(line) > depth for line in lines[start:at]):
        raise Unsure
    inside = " " * depth
    at += 1
    while at < len(lines) and (lines[at].startswith(inside) or not lines[at].strip(" ")):
        at += 1
    text = [line[depth:] for line in lines[start:at]]
    while not text[-1]:
        text.pop()
    whole = "\n".join(text)
    if not whole.replace("\n", "").replace("\t", "").isprintable():
        raise Unsure
    if header[0] == ">":
        whole = _folded(text)
    if header.endswith("+"):
        return whole + "\n" * (1 + at - start - len(text)), at
    return (whole if header.endswith("-") else whole + "\n"), at


def _folded(lines: Sequence[str]) -> str:
    """Lines as one text. Raises Unsure where one is indented: its line breaks stay, and those around it."""
    parts: list[str] = []
    empty = 0
    for line in lines:
        if line.startswith((" ", "\t")):
            raise Unsure
        if not line:
            empty += 1
            continue
        if parts:
            parts.append(_break(empty + 1))
        else:
            parts.append("\n" * empty)
        parts.append(line)
        empty = 0
    return "".join(parts)
