"""Shared lists of two generations: which entries are new, which only the old one wanted, which are foreign.

Entries are compared by what they mean: subjects in canonical form, rules by the single rights that they
grant (so that a pure regrouping takes nothing away), CA bundles certificate by certificate.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from agent.core.normalize import canonical_text
from agent.core.rbac import Right, lost
from agent.core.rules import Rule
from agent.core.tables import SharedRow

_CERTIFICATE: Final = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)


class Union(NamedTuple):
    """Raw entries: wanted and not live; live, not wanted and known to Git; live and known to nobody."""

    added: tuple[Any, ...]
    removed: tuple[Any, ...]
    foreign: tuple[Any, ...]


def compare(row: SharedRow, rule: Rule, wanted: Any, live: Any, bases: Sequence[Any]) -> Union:
    """Three values of one shared list; ``bases`` are the same field of the applied bodies.

    MISSING and None are lists without entries.
    """
    if row.entries == "rules":
        return _of_rules(wanted, live, bases)
    named = {_name(row, rule, entry): entry for entry in _entries(row, wanted)}
    has = {_name(row, rule, entry): entry for entry in _entries(row, live)}
    known = {_name(row, rule, entry) for base in bases for entry in _entries(row, base)}
    gone = {name: entry for name, entry in has.items() if name not in named}
    # A map has one value for a key: the new one comes when the old one may go.
    taken = {entry[0] for entry in gone.values()} if row.entries == "pairs" else set()
    new = [entry for name, entry in named.items() if name not in has]
    return Union(
        added=tuple(entry for entry in new if not taken or entry[0] not in taken),
        removed=tuple(entry for name, entry in gone.items() if name in known),
        foreign=tuple(entry for name, entry in gone.items() if name not in known),
    )


def join(row: SharedRow, wanted: Any, more: Sequence[Any]) -> Any:
    """The value that holds what is wanted and ``more`` entries; as it stands when there are none."""
    if not more:
        return wanted
    if row.entries == "pairs":
        return {**(wanted if isinstance(wanted, dict) else {}), **dict(more)}
    if row.entries == "certificates":
        blocks = [*_entries(row, wanted), *more]
        return base64.b64encode("".join(f"{block}\n" for block in blocks).encode()).decode()
    return [*(wanted if isinstance(wanted, list) else []), *more]


def entry_text(row: SharedRow, entry: Any) -> str:
    """An entry in a few words, for reasons."""
    if row.entries == "certificates":
        return "a CA certificate"
    if row.entries == "pairs":
        return f"{entry[0]}={entry[1]}"
    if row.entries == "rules":
        what = entry.get("resources") or entry.get("nonResourceURLs") or ()
        return f"{'/'.join(map(str, entry.get('verbs') or ()))} {','.join(map(str, what))}"
    if isinstance(entry, dict) and "name" in entry:
        where = f"{entry['namespace']}/" if entry.get("namespace") else ""
        return f"{entry.get('kind', '')} {where}{entry['name']}".strip()
    return canonical_text(entry, Rule())


def _entries(row: SharedRow, value: Any) -> Iterator[Any]:
    if row.entries == "certificates":
        if isinstance(value, str):
            yield from _certificates(value)
    elif row.entries == "pairs":
        if isinstance(value, dict):
            yield from ((key, text) for key, text in value.items() if key.startswith(row.starting))
    elif isinstance(value, list):
        yield from value


def _certificates(bundle: str) -> Iterable[str]:
    """The PEM blocks of a base64 bundle; none in what is no such bundle, which then is replaced whole."""
    try:
        text = base64.b64decode(bundle).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return ()
    return _CERTIFICATE.findall(text)


def _name(row: SharedRow, rule: Rule, entry: Any) -> str:
    if row.entries == "certificates":
        return "".join(str(entry).split())
    return canonical_text(entry, rule.of_item)


def _of_rules(wanted: Any, live: Any, bases: Sequence[Any]) -> Union:
    want, has = _rights(wanted), _rights(live)
    known = frozenset(right for base in bases for right in _rights(base))
    removed: list[dict[str, Any]] = []
    foreign: list[dict[str, Any]] = []
    for rule in _dicts(live):
        gone = lost(frozenset(_granted(rule)), want)
        if gone:
            (foreign if lost(gone, known) else removed).append(rule)
    added = tuple(rule for rule in _dicts(wanted) if lost(frozenset(_granted(rule)), has))
    return Union(added, tuple(removed), tuple(foreign))


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def _rights(rules: Any) -> frozenset[Right]:
    return frozenset(right for rule in _dicts(rules) for right in _granted(rule))


def _granted(rule: dict[str, Any]) -> Iterator[Right]:
    """Every single right of one rule, as RBAC expands it; the namespace plays no part here."""
    names = rule.get("resourceNames") or (None,)
    for verb in rule.get("verbs") or ():
        for group in rule.get("apiGroups") or ():
            for resource in rule.get("resources") or ():
                for name in names:
                    yield Right(verb, group, resource, name, "")
        for url in rule.get("nonResourceURLs") or ():
            yield Right(verb, "", "", None, "", url)
