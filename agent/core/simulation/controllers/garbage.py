"""Garbage collection: what only owners that are gone owned goes too, in the background.

https://kubernetes.io/docs/concepts/architecture/garbage-collection/#background-deletion
"""

from __future__ import annotations

from typing import Final

from agent.core.simulation.controllers.common import Controller, is_deleting
from agent.core.simulation.requests import begin_delete
from agent.core.simulation.world import NEVER, Draft


def step(draft: Draft) -> float:
    """Delete every object all of whose owners are gone; an owner is its uid, not its name."""
    uids = {body["metadata"]["uid"] for _, body in draft.all()}
    for key, body in draft.all():
        owners = body["metadata"].get("ownerReferences")
        if owners and not is_deleting(body) and not any(owner["uid"] in uids for owner in owners):
            begin_delete(draft, key)
    return NEVER


CONTROLLER: Final = Controller("garbage-collector", None, step)
