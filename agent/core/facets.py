"""The rules by which a field that differs belongs to a facet of the change; one function for each kind.

Every rule answers the facets that it finds in ``left``, the fields that no earlier rule has taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from agent.core import unions
from agent.core.facet import Facet, FacetKind, Sides, instances
from agent.core.few import SHOWN, few
from agent.core.fields import find, get, rule_at
from agent.core.model import ABSENT, Category, FieldChange, FieldPath, path_text
from agent.core.moves import pointers
from agent.core.paths import contains, covers, instance
from agent.core.rules import MISSING
from agent.core.tables import CapacityRow, PartRow, Placed, SharedRow
from agent.core.targets import target_of


def _immutable(sides: Sides, left: Sequence[FieldChange]) -> Iterator[Facet]:
    for placed in sides.kind.immutable:
        spared = [placed.pattern_of(text) for text in placed.row.excepting]
        touched = tuple(
            change
            for change in left
            if covers(placed.pattern, change.path)
            and not any(covers(pattern, change.path) or contains(change.path, pattern) for pattern in spared)
        )
        when = placed.row.when
        both = {"live": sides.live, "desired": sides.desired}
        if touched and (not when or sides.policy.holds(when, otherwise=True, **both)):
            what = ", ".join(path_text(change.path) for change in touched[:SHOWN])
            reason = f"the API server refuses to change {what} in place"
            yield Facet(FacetKind.IMMUTABLE, Category.PRUNE, touched, reason, touched[0].path)


def _unions(sides: Sides, left: Sequence[FieldChange]) -> Iterator[Facet]:
    for placed in sides.kind.shared:
        for path in instances(sides, placed):
            touched = _touched(placed.row, path, left)
            if touched and not _moves_too(sides, placed, path):
                yield from _union(sides, placed.row, path, touched)


def _touched(row: SharedRow, path: FieldPath, left: Sequence[FieldChange]) -> tuple[FieldChange, ...]:
    return tuple(
        change
        for change in left
        if change.path[: len(path)] == path
        and (change.path == path or str(change.path[-1]).startswith(row.starting))
    )


def _moves_too(sides: Sides, placed: Placed[SharedRow], path: FieldPath) -> bool:
    """A CA bundle that changes together with the backend behind it is one write, not a union."""
    if placed.row.entries != "certificates":
        return False
    return any(
        target_of(pointer.row.target, sides.wanted(at), sides.namespace)
        != target_of(pointer.row.target, sides.has(at), sides.namespace)
        for pointer in sides.kind.pointers
        for at in instances(sides, pointer)
        if path[: len(at)] == at
        or any(instance(pointer.pattern_of(t), at) == path for t in pointer.row.together)
    )


def _union(
    sides: Sides, row: SharedRow, path: FieldPath, touched: tuple[FieldChange, ...]
) -> Iterator[Facet]:
    bases = [get(body, path, sides.kind.rules) for body in sides.applied]
    rule = rule_at(path, sides.kind.rules)
    result = unions.compare(row, rule, sides.wanted(path), sides.has(path), bases)
    # What holds other things too (labels, what is no PEM) is no union where no entry moves.
    if row.entries in {"certificates", "pairs"} and not any(result):
        return
    gone = [*result.removed, *result.foreign]
    category = Category.SHARED_SUBJECT_REWRITE if gone else Category.ADDITIVE
    yield Facet(
        FacetKind.UNION,
        category,
        touched,
        _union_reason(row, path, result),
        path,
        added=result.added,
        removed=result.removed,
        foreign=result.foreign,
        gains=_listed(row, result.added),
        loses=_listed(row, result.removed),
    )


def _union_reason(row: SharedRow, path: FieldPath, result: unions.Union) -> str:
    said = [f"gains {_listed(row, result.added)}"] if result.added else []
    said += [f"loses {_listed(row, result.removed)}"] if result.removed else []
    said += [f"holds {_listed(row, result.foreign)} that Git never had"] if result.foreign else []
    return f"{path_text(path)} {'; '.join(said) or 'is written in another way'}"


def _listed(row: SharedRow, entries: Sequence[Any]) -> str:
    return few(entries, say=lambda entry: unions.entry_text(row, entry))


def _parts(sides: Sides, left: Sequence[FieldChange]) -> Iterator[Facet]:
    for placed in sides.kind.parts:
        for path, value in find(sides.live, placed.pattern, sides.kind.rules):
            touched = tuple(change for change in left if _takes(placed.row, change, path, value))
            if touched and not _is_wanted(sides, placed, path, value):
                reason = f"{placed.row.says} {path_text(path)} goes"
                yield Facet(FacetKind.PART, Category.PRUNE, touched, reason, path)


def _takes(row: PartRow, change: FieldChange, path: FieldPath, value: Any) -> bool:
    if row.value is not None:
        return change.path == path and bool(value == row.value)
    return change.after is ABSENT and path[: len(change.path)] == change.path


def _is_wanted(sides: Sides, placed: Placed[PartRow], path: FieldPath, value: Any) -> bool:
    wanted = sides.wanted(path)
    return bool(wanted == value) if placed.row.value is not None else wanted is not MISSING


def _capacity(sides: Sides, left: Sequence[FieldChange]) -> Iterator[Facet]:
    for placed in sides.kind.capacity:
        for change in left:
            if covers(placed.pattern, change.path):
                before = _count(change.before, placed.row)
                after = _count(change.after, placed.row)
                if before is not None and after is not None and after < before:
                    reason = f"{path_text(change.path)} goes down from {before} to {after}"
                    yield Facet(FacetKind.CAPACITY, Category.PRUNE, (change,), reason, change.path)


def _count(value: Any, row: CapacityRow) -> int | None:
    if value is ABSENT:
        return row.absent
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _downtime(sides: Sides, left: Sequence[FieldChange]) -> Iterator[Facet]:
    for placed in sides.kind.downtime:
        touched = tuple(change for change in left if covers(placed.pattern, change.path))
        if touched and sides.policy.holds(placed.row.when, otherwise=True, object=sides.desired):
            yield Facet(FacetKind.DOWNTIME, Category.PRUNE, touched, placed.row.says, touched[0].path)


Finder: TypeAlias = Callable[[Sides, Sequence[FieldChange]], Iterator[Facet]]

FINDERS: Final[tuple[Finder, ...]] = (_immutable, _unions, pointers, _parts, _capacity, _downtime)
"""In this order: what is refused is nothing else, and a shared bundle may stand inside a pointer."""
