"""Numbers out of their bounds, fields of which one is to be chosen, and what is no base64, by the tables."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

from agent.core.fields import find
from agent.core.model import Body, GroupKind
from agent.core.policy import Policy
from agent.core.quantity import amount
from agent.core.table_validation import BoundRow, ChoiceRow
from agent.core.validation.problem import Problem, raw_path


def bound_problems(body: Body, policy: Policy, kind: GroupKind) -> Iterator[Problem]:
    """All of them for one object; what is no number, map or text there is the business of the schema."""
    rules = policy.of(kind).rules
    for bound in policy.placed(policy.tables.bounds, kind):
        for path, value in find(body, bound.pattern, rules):
            if _is_out(value, bound.row):
                yield Problem("bounds", raw_path(path, body), f"is {_allowed(bound.row)}", "mend it")
    for choice in policy.placed(policy.tables.choices, kind):
        for path, value in find(body, choice.pattern, rules):
            if isinstance(value, dict):
                yield from _chosen(value, choice.row, raw_path(path, body))
    for packed in policy.placed(policy.tables.base64, kind):
        for path, value in find(body, packed.pattern, rules):
            if isinstance(value, str) and not _is_base64(value):
                remedy = (
                    "encode it, or write it as it is under stringData"
                    if kind.kind == "Secret"
                    else "encode it"
                )
                yield Problem("base64", raw_path(path, body), "is no base64", remedy)


def _is_out(value: Any, row: BoundRow) -> bool:
    number = amount(value)
    return number is not None and (number < row.least or (row.most is not None and number > row.most))


def _allowed(row: BoundRow) -> str:
    return f"below {row.least}" if row.most is None else f"not between {row.least} and {row.most}"


def _chosen(value: Body, row: ChoiceRow, path: tuple[str | int, ...]) -> Iterator[Problem]:
    filled = [name for name in row.fields if value.get(name) not in (None, "", [])]
    if len(filled) > row.most:
        message = f"has {' and '.join(filled)}, and takes {row.most} of them"
        yield Problem("choice", path, message, "keep one")
    elif len(filled) < row.least:
        yield Problem("missing-field", path, f"lacks {' or '.join(row.fields)}", "add it")


def _is_base64(text: str) -> bool:
    """As Go's encoding/base64 reads it: line ends anywhere, padding needed."""
    try:
        b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
