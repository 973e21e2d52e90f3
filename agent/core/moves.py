"""Which fields that differ move a pointer, or move with one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from agent.core.facet import Facet, FacetKind, Sides, instances
from agent.core.few import SHOWN
from agent.core.fields import rule_at
from agent.core.model import Category, FieldChange, FieldPath, path_text
from agent.core.normalize import is_as_defaulted
from agent.core.paths import covers
from agent.core.rules import MISSING
from agent.core.tables import Placed, PointerRow, SoleRow
from agent.core.targets import Target, target_of


def pointers(sides: Sides, left: Sequence[FieldChange]) -> Iterator[Facet]:
    """The pointers that move: each with everything of ``left`` that belongs to its move."""
    for placed in sides.kind.pointers:
        for path in instances(sides, placed):
            touched = tuple(change for change in left if _moves_with(sides, placed, path, change))
            if not any(_meets(change, path) for change in left) and not touched:
                continue
            old = target_of(placed.row.target, sides.has(path), sides.namespace)
            new = target_of(placed.row.target, sides.wanted(path), sides.namespace)
            if new is None and _goes_as_part(sides, path):
                continue
            if old is None and new is None and not _points_elsewhere(touched, path):
                continue
            category = Category.ADDITIVE if _is_new(sides, path) else Category.REPOINT
            reason = _points_reason(path, old, new, touched)
            yield Facet(FacetKind.POINTS, category, touched, reason, path, old=old, new=new)


def _moves_with(sides: Sides, placed: Placed[PointerRow], path: FieldPath, change: FieldChange) -> bool:
    """Whether the change belongs to the move of the pointer at ``path``."""
    if _meets(change, path) or any(_goes_along(t, placed, path, change) for t in placed.row.together):
        return True
    if any(covers(sole.pattern, change.path) for sole in sides.kind.sole if _follows(sole, placed)):
        return True
    return any(
        change.after == setting.value and _goes_along(setting.path, placed, path, change)
        for setting in placed.row.arming
    )


def _goes_along(text: str, placed: Placed[PointerRow], path: FieldPath, change: FieldChange) -> bool:
    """Whether the change lies at a path that moves along, in the same items of lists as the pointer."""
    pattern = placed.pattern_of(text)
    together = zip(pattern, placed.pattern, strict=False)
    shared = len(list(takewhile(lambda pair: pair[0] == pair[1], together)))
    return covers(pattern, change.path) and change.path[:shared] == path[:shared]


def _follows(sole: Placed[SoleRow], pointer: Placed[PointerRow]) -> bool:
    return sole.pattern_of(sole.row.follows) == pointer.pattern


def _is_new(sides: Sides, path: FieldPath) -> bool:
    value = sides.has(path)
    return value is MISSING or is_as_defaulted(value, rule_at(path, sides.kind.rules))


def _meets(change: FieldChange, path: FieldPath) -> bool:
    """Whether the change lies at or below the path, or adds or takes away what holds it."""
    shorter = min(len(change.path), len(path))
    return change.path[:shorter] == path[:shorter]


def _points_elsewhere(touched: Sequence[FieldChange], path: FieldPath) -> bool:
    return any(change.path[: len(path)] == path for change in touched)


def _goes_as_part(sides: Sides, path: FieldPath) -> bool:
    """The pointer goes with something that is a part of the object: that part says so."""
    return any(
        covers(placed.pattern, path) and sides.wanted(path[: len(placed.pattern)]) is MISSING
        for placed in sides.kind.parts
        if placed.row.value is None
    )


def _points_reason(
    path: FieldPath, old: Target | None, new: Target | None, touched: Sequence[FieldChange]
) -> str:
    where = path_text(path)
    if old == new:
        what = ", ".join(path_text(change.path) for change in touched[:SHOWN])
        return f"{where} keeps pointing at {new}; {what} changes with it" if new else f"{where} changes"
    if old is None:
        return f"{where} will point at {new}"
    return f"{where} moves from {old} to {new or 'nothing that is named'}"
