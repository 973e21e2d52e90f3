"""Aggregated ClusterRoles: their rules are those of the roles that they select.

https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles
"""

from __future__ import annotations

from typing import Any, Final

from agent.core.model import GroupKind
from agent.core.rbac import RBAC_GROUP
from agent.core.simulation.controllers.common import Controller
from agent.core.simulation.selectors import selects
from agent.core.simulation.tables import dig
from agent.core.simulation.world import NEVER, Draft


def step(draft: Draft) -> float:
    """Write the rules of every aggregated ClusterRole."""
    roles = sorted(draft.of(RBAC_GROUP, "ClusterRole").items())
    for key, role in roles:
        selectors = dig(role, ("aggregationRule", "clusterRoleSelectors"))
        if not selectors:
            continue
        rules: list[Any] = []
        for other, body in roles:
            labels = body["metadata"].get("labels") or {}
            if other != key and any(selects(selector, labels) for selector in selectors):
                rules += [rule for rule in body.get("rules") or () if rule not in rules]
        draft.put(key, role | {"rules": rules})
    return NEVER


CONTROLLER: Final = Controller(
    "clusterrole-aggregation", frozenset({GroupKind(RBAC_GROUP, "ClusterRole")}), step
)
