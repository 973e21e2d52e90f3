"""What somebody else's field keeps alive of a part that Git took out whole.

A release drops a CRD's conversion, in which an injector had put its CA bundle: the apply takes out what is
ours, the bundle stays behind, and the server refuses the conversion of which nothing else is left. So such a
part is taken out whole by an update, just before the apply, and tried in a dry run without its removal.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent.core.claims import owned_by_others
from agent.core.fields import find, get, put
from agent.core.model import ABSENT, Body, FieldChange, FieldPath
from agent.core.paths import parse_pattern
from agent.core.policy import Policy, group_kind_of


def remnants(
    live: Body, changes: Iterable[FieldChange], policy: Policy, manager: str
) -> tuple[FieldPath, ...]:
    """The paths of ``changes`` that shall go and below which another manager has injected something."""
    kind = policy.of(group_kind_of(live))
    rows = [row for row in policy.tables.injected if row.kind[0] == str(group_kind_of(live))]
    found = [path for row in rows for path, _ in find(live, parse_pattern(row.path), kind.rules)]
    others = [path for path in found if owned_by_others(manager, live, path)]
    going = (change.path for change in changes if change.after is ABSENT)
    return tuple(p for p in going if any(len(p) < len(other) and other[: len(p)] == p for other in others))


def with_parts_of(live: Body, body: Body, paths: Iterable[FieldPath], policy: Policy) -> Body:
    """``body`` with what ``live`` has at ``paths``: what is tried before they are taken out."""
    rules = policy.of(group_kind_of(live)).rules
    for path in paths:
        body = put(body, path, get(live, path, rules), rules)
    return body


def with_remnants(
    answered: tuple[FieldChange, ...], offline: tuple[FieldChange, ...], paths: tuple[FieldPath, ...]
) -> tuple[FieldChange, ...]:
    """The server's word on what was tried, and our own on ``paths``, which were not."""
    told = {change.path for change in answered}
    return (*answered, *(c for c in offline if c.path in paths and c.path not in told))
