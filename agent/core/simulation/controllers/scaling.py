"""A Deployment that changes its size: its ReplicaSets are scaled without a rollout.

https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#proportional-scaling, and
pkg/controller/deployment/sync.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from agent.core.model import ObjectId
from agent.core.simulation.controllers.common import Item
from agent.core.simulation.controllers.rollouts import RECREATE, Rollout, size
from agent.core.simulation.tables import dig

DESIRED: Final = "deployment.kubernetes.io/desired-replicas"
MOST: Final = "deployment.kubernetes.io/max-replicas"


def is_rescaled(rollout: Rollout) -> bool:
    """Whether the Deployment's size is another one than its ReplicaSets were made for."""
    notes = (dig(body, ("metadata", "annotations", DESIRED)) for _, body in _active(rollout))
    return any(note is not None and int(note) != rollout.replicas for note in notes)


def sizes(rollout: Rollout) -> Iterator[tuple[ObjectId, int]]:
    """What each ReplicaSet is scaled to: one takes all, several keep their shares."""
    active = list(_active(rollout))
    newest = rollout.new or max(rollout.old, key=_age, default=None)
    if len(active) <= 1:
        one = active[0] if active else newest
        if one is not None:
            yield one[0], rollout.replicas
    elif rollout.new and _is_saturated(rollout, rollout.new):
        yield from ((key, 0) for key, body in active if key != rollout.new[0] and body)
    elif rollout.body["spec"]["strategy"]["type"] != RECREATE:
        yield from _shares(rollout, active)


def _active(rollout: Rollout) -> Iterator[Item]:
    return (item for item in rollout.all if size(item))


def _age(item: Item) -> str:
    return str(item[1]["metadata"]["creationTimestamp"])


def _is_saturated(rollout: Rollout, new: Item) -> bool:
    return rollout.replicas == size(new) == int(dig(new[1], ("status", "availableReplicas")) or 0)


def _shares(rollout: Rollout, active: list[Item]) -> Iterator[tuple[ObjectId, int]]:
    """The biggest first, of two alike the newer when growing, the older when shrinking; it gets the rest."""
    most = rollout.most if rollout.replicas else 0
    missing = most - sum(size(item) for item in active)
    active.sort(key=_age, reverse=missing > 0)
    active.sort(key=size, reverse=True)
    given, parts = 0, []
    for item in active:
        part = _share(rollout, item, most)
        left = missing - given
        part = min(part, left) if missing > 0 else max(part, left)
        given += part
        parts.append(part)
    for number, (item, part) in enumerate(zip(active, parts, strict=True)):
        rest = missing - given if number == 0 else 0
        yield item[0], max(0, size(item) + part + rest)


def _share(rollout: Rollout, item: Item, most: int) -> int:
    if not rollout.replicas:
        return -size(item)
    noted = dig(item[1], ("metadata", "annotations", MOST))
    before = int(noted or dig(rollout.body, ("status", "replicas")) or most)
    # Rounded half away from zero, as Go's integer.RoundToInt32.
    return int(size(item) * most / before + 0.5) - size(item)
