"""The counts in a ResourceQuota's status (https://kubernetes.io/docs/concepts/policy/resource-quotas/)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from agent.core.model import ObjectId
from agent.core.simulation.controllers.common import Controller, is_deleting, set_status
from agent.core.simulation.draft import Draft
from agent.core.simulation.quotas import used, written
from agent.core.simulation.tables import dig
from agent.core.simulation.world import NEVER, Event


def calls(draft: Draft, event: Event) -> Iterable[ObjectId]:
    """What is written in a namespace concerns its quotas."""
    if not event.id.namespace:
        return ()
    return [key for key in draft.of("", "ResourceQuota") if key.namespace == event.id.namespace]


def sync(draft: Draft, key: ObjectId) -> float:
    """Write what is used of what a quota limits."""
    quota = draft.get(key)
    if quota is None or is_deleting(quota):
        return NEVER
    hard = dig(quota, ("spec", "hard")) or {}
    taken = {name: written(name, used(draft, key.namespace, name)) for name in hard}
    set_status(draft, key, {"hard": hard, "used": taken})
    return NEVER


CONTROLLER: Final = Controller("resourcequota", calls, sync)
