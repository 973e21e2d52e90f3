"""The world: one state of a cluster as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Final, NamedTuple, Protocol, TypeAlias

from agent.core.model import Body, GroupKind, LiveObject, ObjectId
from agent.core.rbac import RBAC_GROUP, Rights
from agent.core.simulation.tables import Tables

NEVER: Final = float("inf")
LOOSE: Final = "loose"
"""The index of what has owners that do not control it."""

ADOPTED: Final = ("Pod", "ReplicaSet")
"""Kinds whose objects a controller adopts where they have none."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Delays of the model, in seconds of its own time.

    ``pod_start``: from creation to running; ``pod_stop``: from delete to gone, unless the pod is slower;
    ``probe``: until a lost readiness is seen; ``availability``: by which an APIService's condition lags its
    endpoints; ``establish``: from a CRD's creation to its kind being served.
    """

    pod_start: float = 1.0
    pod_stop: float = 1.0
    probe: float = 1.0
    availability: float = 0.4
    establish: float = 0.1


class Event(NamedTuple):
    """One write: ``type`` is ADDED, MODIFIED or DELETED; ``version`` its place in the one order of all."""

    version: int
    type: str
    id: ObjectId
    body: Body
    at: float


History: TypeAlias = "tuple[Event, History] | None"
"""The writes so far, newest first; worlds that come from one another share them."""


class State(Protocol):
    """What can be read of a world, finished or in the making."""

    @property
    def now(self) -> float:
        """Seconds since the epoch, in the model's time."""
        ...

    @property
    def tables(self) -> Tables:
        """What is known of built-in kinds."""
        ...

    @property
    def timing(self) -> Timing:
        """The delays."""
        ...

    def of(self, group: str, kind: str) -> Mapping[ObjectId, Body]:
        """All objects of a kind."""
        ...

    def get(self, object_id: ObjectId) -> Body | None:
        """One object, or None."""
        ...

    def marked(self, uid: str, name: str) -> float | None:
        """When something that no field says was noted of this object."""
        ...

    def rights(self) -> Rights:
        """Who may do what."""
        ...


@dataclass(frozen=True)
class World:
    """One state of a cluster. Bodies are shared between states and never changed in place.

    ``marks``: uid -> what -> time, finer than the seconds that objects carry; ``owned``: uid of a controlling
    owner -> what it controls, beside the other indexes of ``index_keys``; ``seen``: the version up to which
    each controller has acted; ``wakes``: when each wants to look at which object again though nothing was
    written.
    """

    tables: Tables
    timing: Timing = Timing()
    now: float = 0.0
    version: int = 0
    kinds: Mapping[GroupKind, Mapping[ObjectId, Body]] = field(default_factory=dict)
    marks: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    owned: Mapping[str, Mapping[ObjectId, None]] = field(default_factory=dict)
    seen: Mapping[str, int] = field(default_factory=dict)
    wakes: Mapping[str, Mapping[ObjectId, float]] = field(default_factory=dict)
    history: History = field(default=None, compare=False, repr=False)

    def of(self, group: str, kind: str) -> Mapping[ObjectId, Body]:
        """All objects of a kind."""
        return self.kinds.get(GroupKind(group, kind), {})

    def get(self, object_id: ObjectId) -> Body | None:
        """One object, or None."""
        return self.of(object_id.group, object_id.kind).get(object_id)

    def marked(self, uid: str, name: str) -> float | None:
        """When something that no field says was noted of this object."""
        return self.marks.get(uid, {}).get(name)

    def rights(self) -> Rights:
        """Who may do what; worked out once for a world and those that share its RBAC objects."""
        return self._rights

    @cached_property
    def _rights(self) -> Rights:
        roles = (objects for kind, objects in self.kinds.items() if kind.group == RBAC_GROUP)
        return Rights(LiveObject(key, body) for objects in roles for key, body in objects.items())

    def objects(self) -> dict[ObjectId, Body]:
        """Every object; a new flat dictionary of the shared bodies."""
        return {key: body for objects in self.kinds.values() for key, body in objects.items()}

    def events_after(self, version: int) -> list[Event]:
        """The writes after ``version``, oldest first."""
        return events_after(self.history, version)


def events_after(history: History, version: int) -> list[Event]:
    """The writes of a history after ``version``, oldest first."""
    events: list[Event] = []
    while history is not None and history[0].version > version:
        events.append(history[0])
        history = history[1]
    events.reverse()
    return events


def controller_of(body: Body | None) -> str:
    """The uid of the owner that controls an object, or empty."""
    owners = (body or {}).get("metadata", {}).get("ownerReferences") or ()
    return next((str(owner["uid"]) for owner in owners if owner.get("controller")), "")


def index_keys(object_id: ObjectId, body: Body | None) -> tuple[str, ...]:
    """Where an object stands in ``World.owned``: under its controller, ``LOOSE``, or free for adoption."""
    if body is None:
        return ()
    owners = body.get("metadata", {}).get("ownerReferences") or ()
    controller = controller_of(body)
    keys = [controller] if controller else []
    if not controller and object_id.kind in ADOPTED:
        keys.append(free(object_id.kind))
    if len(owners) > len(keys) or (owners and not controller):
        keys.append(LOOSE)
    return tuple(keys)


def free(kind: str) -> str:
    """The index of a kind's objects that nobody controls."""
    return f"free {kind}"


def uid_at(version: int) -> str:
    """The uid of an object whose creation is the write with this version."""
    return f"{version:08x}-0000-4000-8000-{version:012x}"


def stamp(now: float) -> str:
    """A time as objects carry it: RFC 3339 in UTC, whole seconds."""
    return datetime.fromtimestamp(int(now), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def id_of(body: Body) -> ObjectId:
    """The identity of a body with apiVersion, kind and metadata."""
    metadata = body["metadata"]
    group = body["apiVersion"].rpartition("/")[0]
    return ObjectId(group, body["kind"], metadata.get("namespace", ""), metadata["name"])
