"""Fields that somebody else fills (CA bundles, what the server allocated) and that Git no longer names.

Whoever applied a field and then leaves it out takes it away, and a pointer without its CA bundle calls
nobody. So what only we hold is sent on as it stands, until somebody else has taken it over.
Source: kubernetes.io/docs/reference/using-api/server-side-apply (field removal).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.core.claims import field_name, owned_by, owned_by_others
from agent.core.fields import find, get, put
from agent.core.model import Body, FieldPath, LiveObject
from agent.core.paths import parse_pattern
from agent.core.policy import Policy
from agent.core.rules import MISSING


def with_injected(body: Body, live: LiveObject, policy: Policy, manager: str) -> Body:
    """The body as ``manager`` sends it: with live's value of such a field where nobody else holds it."""
    kind = policy.of(live.id.group_kind)
    patterns = (parse_pattern(r.path) for r in policy.tables.injected if r.kind[0] == str(live.id.group_kind))
    for pattern in patterns:
        for path, value in find(live.body, pattern, kind.rules):
            is_left_out = get(body, path, kind.rules) is MISSING
            has_place = get(body, path[:-1], kind.rules) is not MISSING
            if is_left_out and has_place and _is_ours_alone(manager, live.body, path):
                body = put(body, path, value, kind.rules)
    return body


def _is_ours_alone(manager: str, live: Body, path: FieldPath) -> bool:
    for tree in owned_by(manager, live):
        node: Any = tree
        for part in path:
            node = node.get(field_name(part)) if isinstance(node, Mapping) else None
        if node is not None:
            return not owned_by_others(manager, live, path)
    return False
