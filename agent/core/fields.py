"""Finding, reading and writing fields of raw bodies by pattern or path.

Items of keyed lists are named by their keys as the server compares them, defaults filled in; a key that
stands twice gets a number. Nothing is changed in place: writers answer a new body that shares the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from agent.core.model import FieldPath, PathPart
from agent.core.paths import Pattern, Wild
from agent.core.rules import MISSING, Rule

_SCALARS: Final = (str, int, float)


def item_parts(items: Sequence[Any], rule: Rule) -> list[PathPart]:
    """How the items of a list are named in paths: by the merge keys of ``rule``, else by index."""
    if not rule.keys or not all(isinstance(item, dict) for item in items):
        return list(range(len(items)))
    parts: list[PathPart] = []
    seen: dict[PathPart, int] = {}
    for item in items:
        part = tuple((key, _key_value(item, key, rule)) for key in rule.keys)
        if not all(isinstance(value, _SCALARS) for _, value in part):
            return list(range(len(items)))
        count = seen[part] = seen.get(part, 0) + 1
        parts.append(part if count == 1 else (*part, ("", count)))
    return parts


def _key_value(item: dict[str, Any], key: str, rule: Rule) -> Any:
    value = item.get(key)
    if value is None:
        default = rule.of_item.child(key).default
        return "" if default is MISSING else default
    return value


def find(body: Any, pattern: Pattern, rule: Rule) -> Iterator[tuple[FieldPath, Any]]:
    """Path and value of everything in ``body`` that ``pattern`` names."""
    if not pattern:
        yield (), body
        return
    first, rest = pattern[0], pattern[1:]
    if first is Wild.ITEM:
        if isinstance(body, list):
            for part, item in zip(item_parts(body, rule), body, strict=True):
                for path, value in find(item, rest, rule.of_item):
                    yield (part, *path), value
    elif isinstance(body, dict):
        for key in list(body) if first is Wild.KEY else [first]:
            if isinstance(key, str) and key in body:
                for path, value in find(body[key], rest, rule.child(key)):
                    yield (key, *path), value


def get(body: Any, path: FieldPath, rule: Rule) -> Any:
    """The value at a path, or MISSING."""
    for part in path:
        if isinstance(part, str):
            if not isinstance(body, dict) or part not in body:
                return MISSING
            body, rule = body[part], rule.child(part)
        else:
            at = _index(body, part, rule)
            if at is None:
                return MISSING
            body, rule = body[at], rule.of_item
    return body


def rule_at(path: FieldPath, rule: Rule) -> Rule:
    """The rule at a path below ``rule``."""
    for part in path:
        rule = rule.child(part) if isinstance(part, str) else rule.of_item
    return rule


def put(body: Any, path: FieldPath, value: Any, rule: Rule) -> Any:
    """A copy with ``value`` at ``path``; MISSING takes it out, and with it parents that it empties.

    A parent that is not there is made; a missing list item is added at the end.
    """
    if not path:
        return value
    part, rest = path[0], path[1:]
    if isinstance(part, str):
        children = dict(body) if isinstance(body, dict) else {}
        below = put(children.get(part, _empty(rest)), rest, value, rule.child(part))
        if below is MISSING:
            children.pop(part, None)
        else:
            children[part] = below
        return children if children or value is not MISSING else MISSING
    items = list(body) if isinstance(body, list) else []
    at = _index(items, part, rule)
    if at is None and value is MISSING:
        return items
    below = put(_empty(rest) if at is None else items[at], rest, value, rule.of_item)
    if at is None:
        items.append(below)
    elif below is MISSING:
        del items[at]
    else:
        items[at] = below
    return items if items or value is not MISSING else MISSING


def _empty(path: FieldPath) -> Any:
    return {} if path and isinstance(path[0], str) else []


def _index(body: Any, part: PathPart, rule: Rule) -> int | None:
    if not isinstance(body, list):
        return None
    if isinstance(part, int):
        return part if part < len(body) else None
    parts = item_parts(body, rule)
    return parts.index(part) if part in parts else None
