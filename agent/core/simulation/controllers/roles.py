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
from agent.core.simulation.ownership import apply
from agent.core.simulation.selectors import selects
from agent.core.simulation.tables import dig
from agent.core.simulation.world import NEVER, Event, stamp

MANAGER: Final = "clusterrole-aggregation-controller"


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
    if rules != (role.get("rules") or []):
        draft.put(key, _applied(draft, role, rules))
    return NEVER


def _applied(draft: Draft, role: Body, rules: list[Any]) -> Body:
    """The role after the controller's own apply, by force: whoever declared its rules owns them no more.

    Where it finds no rules it applies none, and what somebody else declared stays.
    kubernetes/kubernetes, pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go.
    """
    config = {key: role[key] for key in ("apiVersion", "kind")} | {
        "metadata": {"name": role["metadata"]["name"]}
    }
    config |= {"rules": rules} if rules else {}
    schema = draft.tables.merge.get(role["kind"], {})
    return apply(role, config, MANAGER, schema, at=stamp(draft.now), force=True).body


CONTROLLER: Final = Controller("clusterrole-aggregation", calls, sync)
