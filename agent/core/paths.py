"""Paths into bodies: patterns as the policy tables write them, and the field paths that they match.

A pattern is written ``spec.template.spec.containers[].resources.limits.*``: ``[]`` stands for every item of
a list, ``*`` for every key of a map, and a key that holds dots is quoted in brackets:
``metadata.annotations['deployment.kubernetes.io/revision']``. The empty pattern is the whole body.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cache
from typing import Final, TypeAlias

from agent.core.model import FieldPath, PathPart


class Wild(Enum):
    """The parts of a pattern that match more than one thing."""

    ITEM = "[]"
    KEY = "*"


PatternPart: TypeAlias = str | Wild
Pattern: TypeAlias = tuple[PatternPart, ...]

_PART: Final = re.compile(r"\[\]|\['([^']+)'\]|\.([^.\[\]']+)")


@cache
def parse_pattern(text: str) -> Pattern:
    """The parts of a written pattern; raises ValueError that quotes the text where it is not one."""
    parts: list[PatternPart] = []
    at = 0
    dotted = text if not text or text.startswith("[") else f".{text}"
    while at < len(dotted):
        match = _PART.match(dotted, at)
        if match is None:
            raise ValueError(f"{text!r} is no path; write it like spec.ports[].name or data['a.b']")
        quoted, plain = match.groups()
        if match.group() == "[]":
            parts.append(Wild.ITEM)
        elif plain == "*":
            parts.append(Wild.KEY)
        else:
            parts.append(quoted or plain)
        at = match.end()
    return tuple(parts)


def pattern_text(pattern: Pattern) -> str:
    """The pattern as the tables write it."""
    out = ""
    for part in pattern:
        if part is Wild.ITEM:
            out += "[]"
        elif isinstance(part, str) and ("." in part or "/" in part):
            out += f"['{part}']"
        else:
            text = part.value if isinstance(part, Wild) else part
            out += f".{text}" if out else text
    return out


def _fits(part: PatternPart, actual: object) -> bool:
    if part is Wild.ITEM:
        return not isinstance(actual, str)
    return isinstance(actual, str) and (part is Wild.KEY or part == actual)


def covers(pattern: Pattern, path: FieldPath) -> bool:
    """Whether ``path`` is what ``pattern`` names, or lies below it."""
    return len(path) >= len(pattern) and all(map(_fits, pattern, path))


def contains(path: FieldPath, pattern: Pattern) -> bool:
    """Whether something that ``pattern`` names lies below ``path`` (not at it)."""
    return len(path) < len(pattern) and all(map(_fits, pattern, path))


def starts_with(path: FieldPath, prefix: FieldPath) -> bool:
    """Whether ``path`` is ``prefix`` or lies below it."""
    return path[: len(prefix)] == prefix


def instance(pattern: Pattern, beside: FieldPath) -> FieldPath:
    """The path that ``pattern`` names in the same list items as ``beside``."""
    path: list[PathPart] = []
    for at, part in enumerate(pattern):
        path.append(beside[at] if isinstance(part, Wild) and at < len(beside) else str(part))
    return tuple(path)
