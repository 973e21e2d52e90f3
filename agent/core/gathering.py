"""Labels by which one ClusterRole gathers the rules of others: who loses such a label takes rights away.

Source: kubernetes.io/docs/reference/access-authn-authz/rbac (aggregated ClusterRoles).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from agent.core.model import Body, GroupKind
from agent.core.rbac import RBAC_GROUP
from agent.core.situation import Situation
from agent.core.tables import SharedRow

CLUSTER_ROLE: Final = GroupKind(RBAC_GROUP, "ClusterRole")


def gathering(situation: Situation) -> tuple[SharedRow, ...]:
    """A row for each label that a role of the cluster or of Git gathers by and that no row knows yet."""
    live = (obj.body for obj in situation.live.of_kind(*CLUSTER_ROLE))
    wanted = (m.body for key, m in situation.desired.manifests.items() if key.group_kind == CLUSTER_ROLE)
    keys = {key for body in (*live, *wanted) for key in _labels_of(body)}
    known = tuple(p.row.starting for p in situation.policy.of(CLUSTER_ROLE).shared if p.row.starting)
    return tuple(_row(key) for key in sorted(keys) if not key.startswith(known))


def _row(label: str) -> SharedRow:
    return SharedRow(kind=(str(CLUSTER_ROLE),), path="metadata.labels", entries="pairs", starting=label)


def _labels_of(body: Body) -> Iterator[str]:
    for selector in _maps((body.get("aggregationRule") or {}).get("clusterRoleSelectors")):
        yield from selector.get("matchLabels") or {}
        yield from (str(one.get("key")) for one in _maps(selector.get("matchExpressions")))


def _maps(value: Iterable[Any] | None) -> Iterator[Body]:
    return (item for item in value or () if isinstance(item, dict))
