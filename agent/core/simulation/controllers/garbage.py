"""Garbage collection: what only owners that are gone owned goes too, in the background.

https://kubernetes.io/docs/concepts/architecture/garbage-collection/#background-deletion
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from agent.core.model import Body, ObjectId
from agent.core.simulation.controllers.common import Controller, is_deleting
from agent.core.simulation.draft import Draft
from agent.core.simulation.requests import begin_delete
from agent.core.simulation.world import NEVER, Event


def calls(draft: Draft, event: Event) -> Iterable[ObjectId]:
    """Where something went, all that named it as an owner; else what was written, if it names owners."""
    if event.type != "DELETED":
        return [event.id] if event.body["metadata"].get("ownerReferences") else ()
    uid = event.body["metadata"]["uid"]
    return [
        key
        for key, body in draft.all()
        if any(owner["uid"] == uid for owner in body["metadata"].get("ownerReferences") or ())
    ]


def sync(draft: Draft, key: ObjectId) -> float:
    """Delete an object all of whose owners are gone; an owner is its uid, not its name."""
    body = draft.get(key)
    is_owned = body is not None and not is_deleting(body) and body["metadata"].get("ownerReferences")
    if body is not None and is_owned and not any(_stands(draft, body)):
        begin_delete(draft, key)
    return NEVER


def _stands(draft: Draft, body: Body) -> Iterator[bool]:
    metadata = body["metadata"]
    for owner in metadata.get("ownerReferences") or ():
        group = owner["apiVersion"].rpartition("/")[0]
        for namespace in {metadata.get("namespace", ""), ""}:
            found = draft.get(ObjectId(group, owner["kind"], namespace, owner["name"]))
            yield found is not None and found["metadata"]["uid"] == owner["uid"]


CONTROLLER: Final = Controller("garbage-collector", calls, sync)
