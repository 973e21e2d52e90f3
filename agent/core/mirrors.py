"""Fields that the server keeps under two names, each filled in from the other.

A pod's ``serviceAccount`` is such a copy of its ``serviceAccountName``: whoever lets go of the one finds it
filled in from the other again (kubernetes/kubernetes#72519, #108208). So both are sent empty, once.
"""

from __future__ import annotations

from typing import Any

from agent.core.claims import Node, nodes_below, owned_by
from agent.core.model import Body, LiveObject
from agent.core.policy import Policy
from agent.core.rules import Rule


def with_emptied(body: Body, live: LiveObject, policy: Policy, manager: str) -> Body:
    """The body as ``manager`` sends it: with both names empty where it held one and wants neither now."""
    rules = policy.of(live.id.group_kind).rules
    emptied: Body = _emptied(body, live.body, rules, owned_by(manager, live.body))
    return emptied


def _emptied(wanted: Any, has: Any, rule: Rule, owned: tuple[Node, ...]) -> Any:
    if not isinstance(wanted, dict) or not isinstance(has, dict):
        return wanted
    out = wanted
    for key, value in has.items():
        below, child = nodes_below(owned, key), rule.child(key)
        if not below:
            continue
        other = child.same_as
        if key in wanted:
            inner = _emptied(wanted[key], value, child, below)
            out = out if inner is wanted[key] else {**out, key: inner}
        elif other and rule.child(other).same_as == key and other not in wanted and value:
            out = {**out, key: "", other: ""}
    return out
