"""What the tables bound, allow and let choose, and what is no base64."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from agent.core.fields import find
from agent.core.model import Body, GroupKind
from agent.core.nearest import nearest
from agent.core.policy import Policy
from agent.core.quantity import amount
from agent.core.rules import Rule
from agent.core.table_row import Row
from agent.core.table_validation import AllowedRow, BoundRow, ChoiceRow
from agent.core.tables import Placed, RowT
from agent.core.validation.problem import Problem, raw_path


def bound_problems(body: Body, policy: Policy, kind: GroupKind) -> Iterator[Problem]:
    """All of them for one object; what is no number, map or text there is the business of the schema."""
    tables, rules = policy.tables, policy.of(kind).rules
    yield from _each(policy.placed(tables.bounds, kind), body, rules, _bounded)
    yield from _each(policy.placed(tables.allowed, kind), body, rules, _allowed)
    yield from _each(policy.placed(tables.choices, kind), body, rules, _chosen)
    yield from _each(policy.placed(tables.base64, kind), body, rules, _packed)


def _each(
    rows: Iterable[Placed[RowT]],
    body: Body,
    rules: Rule,
    told: Callable[[Any, RowT], Iterator[tuple[str, str, str]]],
) -> Iterator[Problem]:
    """What is ``told`` of each value that a row speaks of: a rule, a message and a remedy."""
    for placed in rows:
        for path, value in find(body, placed.pattern, rules):
            for rule, message, remedy in told(value, placed.row):
                yield Problem(rule, raw_path(path, body), message, remedy)


def _bounded(value: Any, row: BoundRow) -> Iterator[tuple[str, str, str]]:
    number = amount(value)
    if number is not None and (number < row.least or (row.most is not None and number > row.most)):
        said = f"below {row.least}" if row.most is None else f"not between {row.least} and {row.most}"
        yield "bounds", f"is {said}", "mend it"


def _allowed(value: Any, row: AllowedRow) -> Iterator[tuple[str, str, str]]:
    if isinstance(value, str) and value and value not in row.values:
        remedy = nearest(value, row.values).removeprefix(", ") or "use one of them"
        yield "wrong-value", f"is none of {', '.join(row.values)}", remedy


def _chosen(value: Any, row: ChoiceRow) -> Iterator[tuple[str, str, str]]:
    if not isinstance(value, dict):
        return
    filled = [name for name in row.fields if value.get(name) not in (None, "", [])]
    if len(filled) > row.most:
        yield "choice", f"has {' and '.join(filled)}, and takes {row.most} of them", "keep one"
    elif len(filled) < row.least:
        yield "missing-field", f"lacks {' or '.join(row.fields)}", "add it"


def _packed(value: Any, _: Row) -> Iterator[tuple[str, str, str]]:
    if isinstance(value, str) and not _is_base64(value):
        yield "base64", "is no base64", "encode it"


def _is_base64(text: str) -> bool:
    """As Go's encoding/base64 reads it: line ends anywhere, padding needed."""
    try:
        b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
