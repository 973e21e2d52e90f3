"""Aggregated ClusterRoles: their rules are those of the roles that they select.

https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from agent.core.model import Body, ObjectId
from agent.core.rbac import RBAC_GROUP
from agent.core.simulation.controllers.common import Controller
from agent.core.simulation.draft import Draft
from agent.core.simulation.selectors import selects
from agent.core.simulation.tables import dig
from agent.core.simulation.world import NEVER, Event


def calls(draft: Draft, event: Event) -> Iterable[ObjectId]:
    """A ClusterRole concerns every one that aggregates."""
    if event.id.group_kind != (RBAC_GROUP, "ClusterRole"):
        return ()
    roles = draft.of(RBAC_GROUP, "ClusterRole").items()
    return [key for key, role in roles if dig(role, ("aggregationRule", "clusterRoleSelectors"))]


def sync(draft: Draft, key: ObjectId) -> float:
    """Write the rules of an aggregated ClusterRole."""
    role = draft.get(key)
    if role is None:
        return NEVER
    rules: list[Any] = []
    for other, body in sorted(draft.of(RBAC_GROUP, "ClusterRole").items()):
        labels = body["metadata"].get("labels") or {}
        if other != key and any(
            selects(one, labels) for one in role["aggregationRule"]["clusterRoleSelectors"]
        ):
            rules += [rule for rule in body.get("rules") or () if rule not in rules]
    if rules or not _is_written(role):
        draft.put(key, role | {"rules": rules})
    return NEVER


def _is_written(role: Body) -> bool:
    """Whether somebody wrote the rules: the controller applies none where it finds none, and theirs stay."""
    owners = role["metadata"].get("managedFields") or ()
    return any("f:rules" in (row.get("fieldsV1") or {}) for row in owners)


CONTROLLER: Final = Controller("clusterrole-aggregation", calls, sync)
