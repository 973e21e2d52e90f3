"""When things happened in a recording, by resourceVersion: the order in which the states really were."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from agent.core.model import Body, ObjectId
from agent.core.states import Event
from agent.shell.recording import Recording


@dataclass(frozen=True)
class Timeline:
    """The events of a recording; versions are whole numbers that grow with time."""

    recording: Recording

    def of(self, key: ObjectId) -> Iterator[Event]:
        """The events of one object, in order."""
        return (event for event in self.recording.events if event.id == key)

    def first(self, key: ObjectId, holds: Callable[[Body], bool], after: int = 0) -> int:
        """The first version after ``after`` in which this is true of the object; LookupError for never."""
        for event in self.of(key):
            if event.version > after and event.body is not None and holds(event.body):
                return event.version
        raise LookupError(f"{key} never came to be so")

    def gone(self, key: ObjectId) -> int:
        """The version at which an object was deleted, or its deletion asked for; LookupError for never."""
        for event in self.of(key):
            if event.body is None or event.body["metadata"].get("deletionTimestamp"):
                return event.version
        raise LookupError(f"{key} was never deleted")

    def last_gone(self, keys: Iterable[ObjectId]) -> int:
        """The version at which the last of the objects was gone for good."""
        return max(event.version for key in keys for event in self.of(key) if event.body is None)

    def pods_of(self, namespace: str) -> list[ObjectId]:
        """The pods that a namespace ever had."""
        seen = {*self.recording.first, *(event.id for event in self.recording.events)}
        return sorted(key for key in seen if key.kind == "Pod" and key.namespace == namespace)
