"""Garbage collection: what only owners that are gone owned goes too, unless it was orphaned.

https://kubernetes.io/docs/concepts/architecture/garbage-collection/#cascading-deletion
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from agent.core.model import Body, ObjectId
from agent.core.propagation import Propagation
from agent.core.simulation.controllers.common import Controller, is_deleting
from agent.core.simulation.draft import Draft
from agent.core.simulation.requests import COLLECTED, begin_delete, let_go
from agent.core.simulation.world import LOOSE, NEVER, Event

_ORPHAN: Final = COLLECTED[Propagation.ORPHAN]
_FOREGROUND: Final = COLLECTED[Propagation.FOREGROUND]
_WAITING: Final = frozenset(COLLECTED.values())


def calls(draft: Draft, event: Event) -> Iterable[ObjectId]:
    """Where something went, all that named it as an owner and its owners, which may wait for it.

    Else what was written, if it names owners or waits for what it owns.
    """
    metadata = event.body["metadata"]
    if event.type != "DELETED":
        waits = is_deleting(event.body) and _WAITING & set(metadata.get("finalizers") or ())
        return [event.id] if waits or metadata.get("ownerReferences") else ()
    owners = [key for key, _ in _owners(draft, event.body)]
    return [*(key for key, _ in _owned(draft, metadata["uid"])), *owners]


def sync(draft: Draft, key: ObjectId) -> float:
    """Delete an object all of whose owners are gone, and do what its own delete asked for.

    An owner is its uid, not its name.
    """
    body = draft.get(key)
    waits = set(body["metadata"].get("finalizers") or ()) if body is not None and is_deleting(body) else set()
    if body is not None and _ORPHAN in waits:
        _orphan(draft, key, body["metadata"]["uid"])
    elif body is not None and _FOREGROUND in waits:
        _end_first(draft, key, body["metadata"]["uid"])
    is_owned = body is not None and not is_deleting(body) and body["metadata"].get("ownerReferences")
    if body is not None and is_owned and not any(_owners(draft, body)):
        begin_delete(draft, key)
    return NEVER


def _orphan(draft: Draft, key: ObjectId, uid: str) -> None:
    """What it owns loses the reference to it, then it goes."""
    for owned, body in _owned(draft, uid):
        metadata = body["metadata"]
        rest = [owner for owner in metadata["ownerReferences"] if owner["uid"] != uid]
        draft.put(owned, body | {"metadata": metadata | {"ownerReferences": rest}})
    let_go(draft, key, _ORPHAN)


def _end_first(draft: Draft, key: ObjectId, uid: str) -> None:
    """What it owns and what blocks its deletion goes first, by its own dependents in turn."""
    blocking = [(owned, body) for owned, body in _owned(draft, uid) if _blocks(body, uid)]
    for owned, body in blocking:
        holds = any(
            _blocks(below, body["metadata"]["uid"]) for _, below in _owned(draft, body["metadata"]["uid"])
        )
        begin_delete(draft, owned, Propagation.FOREGROUND if holds else Propagation.BACKGROUND)
    if not any(_blocks(body, uid) for _, body in _owned(draft, uid)):
        let_go(draft, key, _FOREGROUND)


def _blocks(body: Body, uid: str) -> bool:
    owners = body["metadata"].get("ownerReferences") or ()
    return any(owner["uid"] == uid and owner.get("blockOwnerDeletion") for owner in owners)


def _owned(draft: Draft, uid: str) -> list[tuple[ObjectId, Body]]:
    """All that names this owner, controlled by it or not."""
    keys = dict.fromkeys([*draft.owned_by(uid), *draft.owned_by(LOOSE)])
    found = ((key, draft.get(key)) for key in sorted(keys))
    return [
        (key, body)
        for key, body in found
        if body is not None
        and any(owner["uid"] == uid for owner in body["metadata"].get("ownerReferences") or ())
    ]


def _owners(draft: Draft, body: Body) -> Iterator[tuple[ObjectId, Body]]:
    metadata = body["metadata"]
    for owner in metadata.get("ownerReferences") or ():
        group = owner["apiVersion"].rpartition("/")[0]
        for namespace in {metadata.get("namespace", ""), ""}:
            key = ObjectId(group, owner["kind"], namespace, owner["name"])
            found = draft.get(key)
            if found is not None and found["metadata"]["uid"] == owner["uid"]:
                yield key, found


CONTROLLER: Final = Controller("garbage-collector", calls, sync)
