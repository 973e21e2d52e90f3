"""The tables of one kind as a tree beside its bodies: what the server does at each field.

Walking a body and this tree together costs one lookup a field, however many rows there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from agent.core import tables
from agent.core.paths import Pattern, Wild
from agent.core.table_row import Row
from agent.core.tables import Placed


class _Missing(Enum):
    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing.MISSING
"""No value at all (None is one that JSON has)."""


@dataclass(slots=True)
class Rule:
    """What is known of one field; children by key, ``any_key`` for ``*``, ``item`` for ``[]``."""

    children: dict[str, Rule] = field(default_factory=dict)
    any_key: Rule | None = None
    item: Rule | None = None
    type: str = ""
    keys: tuple[str, ...] = ()
    is_ordered: bool = True
    is_named: bool = False
    is_quantity: bool = False
    is_base64: bool = False
    is_ignored: bool = False
    is_absent_when_empty: bool = False
    is_injected: bool = False
    placeholders: tuple[str, ...] = ()
    default: Any = MISSING
    same_as: str = ""

    def child(self, key: str) -> Rule:
        """The rule of a map's key."""
        return self.children.get(key) or self.any_key or NO_RULE

    @property
    def of_item(self) -> Rule:
        """The rule of a list's items."""
        return self.item or NO_RULE

    def at(self, pattern: Pattern) -> Rule:
        """The rule at a pattern below this one; made where there is none."""
        rule = self
        for part in pattern:
            if part is Wild.ITEM:
                rule.item = rule.item or Rule()
                rule = rule.item
            elif part is Wild.KEY:
                rule.any_key = rule.any_key or Rule()
                rule = rule.any_key
            elif isinstance(part, str):
                rule = rule.children.setdefault(part, Rule())
        return rule


NO_RULE: Final = Rule()
"""A field of which no table speaks: lists are atomic, everything is compared as it stands."""


def compile_rules(placed: Mapping[str, tuple[Placed[Any], ...]]) -> Rule:
    """The tree of one kind from its rows, by table name."""
    root = Rule()
    for name, rows in placed.items():
        for one in rows:
            _SETTERS[name](root.at(one.pattern), one.row)
    return root


def _set_list(rule: Rule, row: tables.ListRow) -> None:
    rule.type, rule.keys, rule.is_named = row.type, tuple(sorted(row.keys)), row.named
    rule.is_ordered = row.type == "atomic" if row.ordered is None else row.ordered


def _set_served(rule: Rule, row: tables.ListRow) -> None:
    """The server's word on how it merges goes over the table's; whether order counts only the table says."""
    if not rule.type:
        _set_list(rule, row)
    elif (rule.type, rule.keys) != (row.type, tuple(sorted(row.keys))) and row.type != "atomic":
        rule.type, rule.keys = row.type, tuple(sorted(row.keys))


def _set_default(rule: Rule, row: tables.DefaultRow) -> None:
    rule.same_as = row.same_as
    rule.default = MISSING if row.same_as else row.value


def _set_injected(rule: Rule, row: tables.InjectedRow) -> None:
    rule.is_injected, rule.placeholders = True, row.placeholders


def _set_flag(name: str) -> Any:
    def set_flag(rule: Rule, _row: Row) -> None:
        setattr(rule, name, True)

    return set_flag


_SETTERS: Final[Mapping[str, Any]] = {
    "lists": _set_list,
    "served_lists": _set_served,
    "quantities": _set_flag("is_quantity"),
    "base64": _set_flag("is_base64"),
    "defaults": _set_default,
    "empty_is_absent": _set_flag("is_absent_when_empty"),
    "ignored": _set_flag("is_ignored"),
    "injected": _set_injected,
}
