"""Replicas that an autoscaler owns: neither compared nor set once the workload is there.

Source: kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale (migrating to it: take
spec.replicas out of the manifest; at 0 replicas, on either side, the autoscaler stands still).
"""

from __future__ import annotations

from collections.abc import Iterator

from agent.core.claims import owned_by_others
from agent.core.fields import find, get, put
from agent.core.model import Body, FieldPath, LiveObject, Manifest, ObjectId
from agent.core.policy import Policy, group_kind_of, id_of
from agent.core.rules import MISSING
from agent.core.targets import target_of


def scaled_by(body: Body, policy: Policy) -> Iterator[ObjectId]:
    """What this object scales, by the rows of pointers that say so."""
    kind = policy.of(group_kind_of(body))
    for placed in kind.pointers:
        if placed.row.scales:
            for _, value in find(body, placed.pattern, kind.rules):
                target = target_of(placed.row.target, value, id_of(body).namespace)
                if target is not None and target.id is not None:
                    yield target.id


def as_scaled(manifest: Manifest, live: LiveObject, policy: Policy) -> Body:
    """The body of a workload that is scaled by somebody else: with the replicas that it has."""
    kind = policy.of(manifest.id.group_kind)
    body = manifest.body
    for path in _paths(policy, manifest.id):
        has, wants = get(live.body, path, kind.rules), get(body, path, kind.rules)
        if has not in (MISSING, 0) and wants != 0:
            body = put(body, path, has, kind.rules)
    return body


def released(body: Body, live: LiveObject, policy: Policy, manager: str) -> Body:
    """A body as ``manager`` sends it: without replicas that another field manager holds.

    Where nobody else holds them they stay in: the server would fall back to its default of 1.
    """
    kind = policy.of(live.id.group_kind)
    for path in _paths(policy, live.id):
        if owned_by_others(manager, live.body, path):
            body = put(body, path, MISSING, kind.rules)
    return body


def _paths(policy: Policy, key: ObjectId) -> Iterator[FieldPath]:
    for placed in policy.of(key.group_kind).capacity:
        yield tuple(part for part in placed.pattern if isinstance(part, str))
