"""The draft: the next world while one call writes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from agent.core.model import Body, GroupKind, ObjectId
from agent.core.rbac import RBAC_GROUP, Rights
from agent.core.simulation.tables import Tables
from agent.core.simulation.world import Event, Timing, World, events_after, index_keys, stamp, uid_at


class Draft:
    """The next world in the making; it lives within one call and is the only thing that is written to."""

    def __init__(self, world: World) -> None:
        self.now: float = world.now
        self.version = world.version
        self._world = world
        self._kinds = dict(world.kinds)
        self._own: set[GroupKind] = set()
        self._marks = dict(world.marks)
        self._owned = dict(world.owned)
        self.seen = dict(world.seen)
        self.wakes = dict(world.wakes)
        self._history = world.history
        self._rights: Rights | None = None

    @property
    def tables(self) -> Tables:
        """What is known of built-in kinds."""
        return self._world.tables

    @property
    def timing(self) -> Timing:
        """The delays."""
        return self._world.timing

    def of(self, group: str, kind: str) -> Mapping[ObjectId, Body]:
        """All objects of a kind; not to be kept across writes of that kind."""
        return self._kinds.get(GroupKind(group, kind), {})

    def get(self, object_id: ObjectId) -> Body | None:
        """One object, or None."""
        return self.of(object_id.group, object_id.kind).get(object_id)

    def owned_by(self, uid: str) -> list[ObjectId]:
        """What this object controls; or what is in an index of ``world.index_keys``."""
        return list(self._owned.get(uid, ()))

    def events_after(self, version: int) -> list[Event]:
        """The writes after ``version``, oldest first."""
        return events_after(self._history, version)

    def all(self) -> Iterator[tuple[ObjectId, Body]]:
        """Every object of every kind, as it stood when its kind was reached."""
        for kind in list(self._kinds):
            yield from list(self._kinds[kind].items())

    def marked(self, uid: str, name: str) -> float | None:
        """When something that no field says was noted of this object."""
        return self._marks.get(uid, {}).get(name)

    def mark(self, uid: str, name: str, at: float | None) -> None:
        """Note a time of an object (None: forget it); notes go with the object."""
        notes = {key: value for key, value in self._marks.get(uid, {}).items() if key != name}
        self._marks[uid] = notes if at is None else {**notes, name: at}

    def rights(self) -> Rights:
        """Who may do what, as it is now written."""
        if self._rights is None:
            self._rights = self._world.rights()
        return self._rights

    def put(self, object_id: ObjectId, body: Body) -> Body:
        """Store a body; uid, resourceVersion, times and metadata.generation are the server's.

        A body equal to what stands is no write and keeps its resourceVersion.
        """
        before = self.get(object_id)
        if before is body or before == body:
            return before or body
        self.version += 1
        metadata = body["metadata"] | {"resourceVersion": str(self.version)}
        if before is not None:
            metadata |= {key: before["metadata"][key] for key in ("uid", "creationTimestamp")}
        else:
            metadata |= {
                "uid": uid_at(self.version),
                "creationTimestamp": stamp(self.now),
            }
            self._marks[metadata["uid"]] = {"created": self.now}
        if self._is_counted(object_id.group_kind):
            metadata["generation"] = _next_generation(before, body)
        stored = body | {"metadata": metadata}
        self._write(object_id, stored, "MODIFIED" if before else "ADDED")
        return stored

    def drop(self, object_id: ObjectId) -> None:
        """Remove an object from storage at once; its finalizers are the caller's business."""
        body = self.get(object_id)
        if body is None:
            return
        self.version += 1
        metadata = body["metadata"] | {"resourceVersion": str(self.version)}
        self._write(object_id, body | {"metadata": metadata}, "DELETED")
        self._marks.pop(body["metadata"]["uid"], None)

    def finish(self) -> World:
        """The world as it is now written."""
        world = replace(
            self._world,
            now=self.now,
            version=self.version,
            kinds=self._kinds,
            marks=self._marks,
            owned=self._owned,
            seen=self.seen,
            wakes=self.wakes,
            history=self._history,
        )
        if self._rights is not None:
            # What was worked out is handed on: cached_property keeps it in the instance's dictionary.
            world.__dict__["_rights"] = self._rights
        return world

    def _write(self, object_id: ObjectId, body: Body, kind: str) -> None:
        key = object_id.group_kind
        if key.group == RBAC_GROUP:
            # The world's own rights stay as they were: worlds are shared.
            self._rights = self.rights().copy()
            _ = self._rights.drop(object_id) if kind == "DELETED" else self._rights.put(object_id, body)
        if key not in self._own:
            self._own.add(key)
            self._kinds[key] = dict(self._kinds.get(key, {}))
        objects: dict[ObjectId, Body] = self._kinds[key]  # type: ignore[assignment]  # copied just above
        after = () if kind == "DELETED" else index_keys(object_id, body)
        self._index(object_id, index_keys(object_id, objects.get(object_id)), after)
        if kind == "DELETED":
            del objects[object_id]
        else:
            objects[object_id] = body
        self._history = (Event(self.version, kind, object_id, body, self.now), self._history)

    def _index(self, object_id: ObjectId, before: tuple[str, ...], after: tuple[str, ...]) -> None:
        if before == after:
            return
        for owner in before:
            rest = {key: None for key in self._owned[owner] if key != object_id}
            self._owned[owner] = rest
            if not rest:
                del self._owned[owner]
        for owner in after:
            self._owned[owner] = {**self._owned.get(owner, {}), object_id: None}

    def _is_counted(self, kind: GroupKind) -> bool:
        served = self.tables.served.get(kind)
        return served is None or served.is_counted


def _next_generation(before: Body | None, body: Body) -> int:
    """Bumped by any change outside metadata and status, and by the start of a deletion.

    https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#metadata
    """
    if before is None:
        return 1
    was: int = before["metadata"].get("generation", 1)
    begins = "deletionTimestamp" in body["metadata"] and "deletionTimestamp" not in before["metadata"]
    return was + 1 if begins or _content(before) != _content(body) else was


def _content(body: Body) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key not in ("metadata", "status", "apiVersion")}
