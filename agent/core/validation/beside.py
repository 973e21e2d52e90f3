"""A desired object with what other field managers hold of it in the cluster: what the server will judge.

Source: kubernetes.io/docs/reference/using-api/server-side-apply (an apply merges, then the whole is
validated; it takes away only what no other manager owns).
"""

from __future__ import annotations

from typing import Any

from agent.core.claims import Node, nodes_below, owned_by
from agent.core.fields import item_parts
from agent.core.model import Body, LiveObject, PathPart
from agent.core.rules import Rule


def as_merged(wanted: Body, live: LiveObject, rules: Rule, manager: str) -> Body:
    """``wanted`` as an apply by ``manager`` would leave it, without changing either.

    Items that only live has stand behind those of ``wanted``, so paths into ``wanted`` stay true.
    """
    entries = live.metadata.get("managedFields") or ()
    others = tuple(e["fieldsV1"] for e in entries if e.get("manager") != manager and e.get("fieldsV1"))
    merged: Body = _merged(wanted, live.body, rules, (owned_by(manager, live.body), others))
    return merged


def _merged(wanted: Any, has: Any, rule: Rule, owned: tuple[tuple[Node, ...], tuple[Node, ...]]) -> Any:
    ours, others = owned
    if rule.type == "atomic":
        return wanted
    if isinstance(wanted, dict) and isinstance(has, dict):
        out = dict(wanted)
        for key, value in has.items():
            below = nodes_below(ours, key), nodes_below(others, key)
            if key in wanted:
                out[key] = _merged(wanted[key], value, rule.child(key), below)
            elif _stays(*below):
                out[key] = value
        return out
    if isinstance(wanted, list) and isinstance(has, list) and rule.keys:
        return _merged_items(wanted, has, rule, owned)
    return wanted


def _merged_items(
    wanted: list[Any], has: list[Any], rule: Rule, owned: tuple[tuple[Node, ...], tuple[Node, ...]]
) -> list[Any]:
    named: dict[PathPart, int] = {part: number for number, part in enumerate(item_parts(wanted, rule))}
    out = list(wanted)
    for part, item in zip(item_parts(has, rule), has, strict=True):
        below = nodes_below(owned[0], part), nodes_below(owned[1], part)
        if part in named:
            out[named[part]] = _merged(out[named[part]], item, rule.of_item, below)
        elif _stays(*below):
            out.append(item)
    return out


def _stays(ours: tuple[Node, ...], others: tuple[Node, ...]) -> bool:
    """Whether an apply that lacks the field leaves it: it is another's, or nobody's."""
    return bool(others) or not ours
