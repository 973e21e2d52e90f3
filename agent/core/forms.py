"""The forms of an object between two generations: widened now, final at the end.

A form is what is applied, built from ``desired``: fields that nobody wants to change are left as they are,
so that nothing of somebody else's is taken over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from agent.core import unions
from agent.core.facet import Facet, FacetKind
from agent.core.fields import find, get, put, rule_at
from agent.core.kind_policy import KindPolicy
from agent.core.model import ABSENT, Body, FieldPath
from agent.core.normalize import ORDER
from agent.core.paths import covers
from agent.core.policy import Policy, group_kind_of
from agent.core.rules import MISSING
from agent.core.tables import SharedRow

_KEPT: Final = frozenset({FacetKind.PART, FacetKind.CAPACITY, FacetKind.IMMUTABLE})


def widened(
    desired: Body,
    live: Body,
    parts: Sequence[Facet],
    policy: Policy,
    *,
    moved: bool,
    keep_foreign: bool = True,
) -> Body:
    """``desired`` and everything that the facets would take away, to be applied before the cutover.

    Shared lists are the union (foreign entries with ``keep_foreign``), parts and capacity stay, what the
    API server refuses in place stays; pointers with all that moves along stand where ``live`` has them
    unless ``moved``, and pointers that ``live`` lacks are left out until then.
    """
    kind = policy.of(group_kind_of(desired))
    body = desired
    for facet in parts:
        if facet.kind is FacetKind.POINTS and not moved:
            is_new = get(live, facet.path, kind.rules) is MISSING
            body = _left_out(body, facet.path, kind) if is_new else _undone(body, facet, kind)
        elif facet.kind in _KEPT:
            body = _undone(body, facet, kind)
    for facet in parts:
        if facet.kind is FacetKind.UNION:
            body = _joined(body, facet, kind, keep_removed=True, keep_foreign=keep_foreign)
    return _with_one(body, {False: live, True: desired}, parts, kind, moved=moved)


def final(desired: Body, parts: Sequence[Facet], policy: Policy, *, keep_foreign: bool) -> Body:
    """``desired``, with the foreign entries of its shared lists when they are kept."""
    kind = policy.of(group_kind_of(desired))
    body = desired
    for facet in parts:
        if facet.kind is FacetKind.UNION:
            body = _joined(body, facet, kind, keep_removed=False, keep_foreign=keep_foreign)
    return body


def _joined(body: Body, facet: Facet, kind: KindPolicy, *, keep_removed: bool, keep_foreign: bool) -> Body:
    more = [*(facet.removed if keep_removed else ()), *(facet.foreign if keep_foreign else ())]
    value = unions.join(_shared_row(facet.path, kind), get(body, facet.path, kind.rules), more)
    return body if value is MISSING else _put(body, facet.path, value, kind)


def _shared_row(path: FieldPath, kind: KindPolicy) -> SharedRow:
    return next(
        placed.row
        for placed in kind.shared
        if len(placed.pattern) == len(path) and covers(placed.pattern, path)
    )


def _undone(body: Body, facet: Facet, kind: KindPolicy) -> Body:
    for change in facet.fields:
        # The order of items is no value that could be put back alone.
        if change.path[-1] != ORDER:
            before = MISSING if change.before is ABSENT else change.before
            body = _put(body, change.path, before, kind)
    return body


def _left_out(body: Body, pointer: FieldPath, kind: KindPolicy) -> Body:
    """Without the pointer and, where it stands in items of lists, without those that it leaves empty."""
    ends = [at + 1 for at, part in enumerate(pointer) if not isinstance(part, str)]
    body = _put(body, pointer[: ends[-1]] if ends else pointer, MISSING, kind)
    for end in reversed(ends[:-1]):
        item = get(body, pointer[:end], kind.rules)
        if isinstance(item, dict) and item.keys() <= set(rule_at(pointer[: end - 1], kind.rules).keys):
            body = _put(body, pointer[:end], MISSING, kind)
    return body


def _with_one(
    body: Body, sides: Mapping[bool, Body], parts: Sequence[Facet], kind: KindPolicy, *, moved: bool
) -> Body:
    """With one item for each flag that only one may have: live's until its pointer has moved."""
    for placed in kind.sole:
        pointer = placed.pattern_of(placed.row.follows)
        waits = not moved and any(p.kind is FacetKind.POINTS and covers(pointer, p.path) for p in parts)
        for path, _ in list(find(body, placed.pattern, kind.rules)):
            body = _put(body, path, get(sides[not waits], path, kind.rules) is True, kind)
    return body


def _put(body: Body, path: FieldPath, value: Any, kind: KindPolicy) -> Body:
    changed: Body = put(body, path, value, kind.rules)
    return changed
