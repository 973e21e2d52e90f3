"""The states that a cluster goes through: a state is the one before and one event.

A ``State`` is moved by ``apply`` in place and keeps the indexes that the promise's invariants ask: 5,000
states of a large cluster cost 5,000 events, not 5,000 clusters. ``copy`` lets a rehearsal branch; bodies
are shared and never changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from agent.core.model import SET_LABEL, Body, GroupKind, ObjectId
from agent.core.rbac import Key, Right, Rights, service_account
from agent.core.uses import account_of, uses_of

SERVICE_NAME: Final = "kubernetes.io/service-name"
"""The label by which an EndpointSlice names its Service."""

POD: Final = GroupKind("", "Pod")
SERVICE: Final = GroupKind("", "Service")
SLICE: Final = GroupKind("discovery.k8s.io", "EndpointSlice")
NAMESPACE: Final = GroupKind("", "Namespace")

OWN_MANAGER: Final = "trapeze"
"""Our field managers are this and everything that begins with it and a slash."""

Account: TypeAlias = tuple[str, str]
"""The namespace and the name of a ServiceAccount."""


class Event(NamedTuple):
    """One write: ``body`` is the object afterwards, None when it was deleted.

    ``version`` is its resourceVersion, the place in the one order of all writes; ``time`` is RFC 3339, as it
    was seen, or empty.
    """

    version: int
    time: str
    id: ObjectId
    body: Body | None


class Move(NamedTuple):
    """What an event did: the object before it, and the subjects whose rights it may have changed."""

    event: Event
    before: Body | None
    keys: frozenset[Key]

    @property
    def comes_or_goes(self) -> bool:
        """Whether the object was made, deleted, or is now another one of the same name."""
        after = self.event.body
        return self.before is None or after is None or uid_of(self.before) != uid_of(after)


class State:
    """All objects at one resourceVersion, with what the invariants look up."""

    def __init__(self, objects: Iterable[tuple[ObjectId, Body]] = (), version: int = 0) -> None:
        self.version = version
        self._objects: dict[ObjectId, Body] = {}
        self._by_uid: dict[str, ObjectId] = {}
        self._index = _Index({}, {}, {}, {})
        self._rights = Rights()
        self._rights_of: dict[Account, frozenset[Right]] = {}
        for object_id, body in objects:
            self.apply(Event(version, "", object_id, body))

    def copy(self) -> State:
        """An independent state; bodies stay shared."""
        other = State()
        other.version = self.version
        other._objects = dict(self._objects)
        other._by_uid = dict(self._by_uid)
        other._index = self._index.copy()
        other._rights = self._rights.copy()
        other._rights_of = dict(self._rights_of)
        return other

    def apply(self, event: Event) -> Move:
        """Move on by one event."""
        self.version = event.version
        before = self._objects.pop(event.id, None)
        if before is not None:
            self._by_uid.pop(uid_of(before), None)
            self._index.remove(event.id, before)
        if event.body is None:
            keys = self._rights.drop(event.id)
        else:
            self._objects[event.id] = event.body
            self._by_uid[uid_of(event.body)] = event.id
            self._index.add(event.id, event.body)
            keys = self._rights.put(event.id, event.body)
        if keys:
            stale = [place for place in self._rights_of if service_account(*place).keys & keys]
            for place in stale:
                del self._rights_of[place]
        return Move(event, before, keys)

    def get(self, object_id: ObjectId) -> Body | None:
        """One object, or None."""
        return self._objects.get(object_id)

    def items(self) -> Iterator[tuple[ObjectId, Body]]:
        """Every object with its identity."""
        return iter(self._objects.items())

    def by_uid(self, uid: str) -> ObjectId | None:
        """The identity of the object with this uid, if it still stands."""
        return self._by_uid.get(uid)

    def knows(self, kind: GroupKind) -> bool:
        """Whether any object of this kind stands: else nothing can be said of absent ones."""
        return any(object_id.group_kind == kind for object_id in self._objects)

    def pods(self) -> list[ObjectId]:
        """Every pod."""
        return list(self._index.account_of_pod)

    def pods_in(self, namespace: str) -> list[ObjectId]:
        """The pods of a namespace."""
        return [pod for pod in self._index.account_of_pod if pod.namespace == namespace]

    def pods_with(self, keys: frozenset[Key]) -> list[ObjectId]:
        """The pods whose ServiceAccount one of ``keys`` means."""
        accounts = set(self._index.account_of_pod.values())
        meant = {place for place in accounts if service_account(*place).keys & keys}
        return [pod for pod, place in self._index.account_of_pod.items() if place in meant]

    def pods_using(self, object_id: ObjectId) -> frozenset[ObjectId]:
        """The pods whose spec needs this object."""
        return self._index.users.get(object_id, frozenset())

    def services_with(self, pod: ObjectId) -> frozenset[ObjectId]:
        """The Services one of whose EndpointSlices names this pod."""
        return self._index.services_of_pod.get(pod, frozenset())

    def slices_of(self, service: ObjectId) -> Iterator[Body]:
        """The EndpointSlices of a Service."""
        return (self._objects[key] for key in self._index.slices.get(service, ()))

    def rights_of(self, namespace: str, account: str) -> frozenset[Right]:
        """What a ServiceAccount may do; the same value for as long as nothing about it changed."""
        place = (namespace, account)
        found = self._rights_of.get(place)
        if found is None:
            found = self._rights_of[place] = self._rights.rights_of(service_account(namespace, account))
        return found

    @property
    def rights(self) -> Rights:
        """Who may do what, now; not to be kept."""
        return self._rights

    def is_ours(self, body: Body) -> bool:
        """Whether a set of ours holds it: by label, by field manager, or by an owner that is ours."""
        metadata = body.get("metadata") or {}
        if SET_LABEL in (metadata.get("labels") or {}) or own_managers(body):
            return True
        owners = (self._by_uid.get(str(ref.get("uid"))) for ref in metadata.get("ownerReferences") or ())
        return any(self.is_ours(self._objects[owner]) for owner in owners if owner is not None)

    def workload_of(self, object_id: ObjectId) -> ObjectId:
        """The top of the chain of controllers that still stand; the object itself where there is none."""
        for ref in (self._objects[object_id].get("metadata") or {}).get("ownerReferences") or ():
            owner = self._by_uid.get(str(ref.get("uid")))
            if owner is not None and ref.get("controller"):
                return self.workload_of(owner)
        return object_id

    def is_going(self, pod: ObjectId) -> bool:
        """Whether the pod's end is decided: by its own deletion or by that of its namespace."""
        namespace = self._objects.get(ObjectId(*NAMESPACE, "", pod.namespace))
        return is_deleting(self._objects[pod]) or (namespace is not None and is_deleting(namespace))


class _Index(NamedTuple):
    """Lookups over the objects of a state; values are replaced, never changed, so a copy is shallow."""

    slices: dict[ObjectId, frozenset[ObjectId]]
    services_of_pod: dict[ObjectId, frozenset[ObjectId]]
    account_of_pod: dict[ObjectId, Account]
    users: dict[ObjectId, frozenset[ObjectId]]

    def copy(self) -> _Index:
        """The same lookups, to be changed apart."""
        slices, services, accounts, users = self
        return _Index(dict(slices), dict(services), dict(accounts), dict(users))

    def add(self, object_id: ObjectId, body: Body) -> None:
        """Take in an object that was not there."""
        if object_id.group_kind == POD:
            self.account_of_pod[object_id] = (object_id.namespace, account_of(body))
            for use in uses_of(object_id, body):
                _add(self.users, use.id, object_id)
        elif object_id.group_kind == SLICE:
            service = service_of(object_id, body)
            _add(self.slices, service, object_id)
            for pod in pods_of(object_id, body):
                _add(self.services_of_pod, pod, service)

    def remove(self, object_id: ObjectId, body: Body) -> None:
        """Forget an object that was there with this body."""
        if object_id.group_kind == POD:
            del self.account_of_pod[object_id]
            for use in {use.id for use in uses_of(object_id, body)}:
                _drop(self.users, use, object_id)
        elif object_id.group_kind == SLICE:
            _drop(self.slices, service_of(object_id, body), object_id)
            # What stays behind here asks once too often and never too seldom: other slices may name the pod.


def _add(index: dict[Any, frozenset[Any]], key: Any, value: Any) -> None:
    index[key] = index.get(key, frozenset()) | {value}


def _drop(index: dict[Any, frozenset[Any]], key: Any, value: Any) -> None:
    rest = index[key] - {value}
    if rest:
        index[key] = rest
    else:
        del index[key]


def uid_of(body: Body) -> str:
    """The server's identity of this very object."""
    return str((body.get("metadata") or {}).get("uid", ""))


def is_deleting(body: Body) -> bool:
    """Whether the server waits for it to go."""
    return bool((body.get("metadata") or {}).get("deletionTimestamp"))


def own_managers(body: Body) -> frozenset[str]:
    """Our field managers that wrote something of this object."""
    entries = (body.get("metadata") or {}).get("managedFields") or ()
    names = (str(entry.get("manager", "")) for entry in entries)
    return frozenset(name for name in names if name.split("/")[0] == OWN_MANAGER)


def service_of(slice_id: ObjectId, body: Body) -> ObjectId:
    """The Service whose endpoints a slice holds."""
    labels: Mapping[str, str] = (body.get("metadata") or {}).get("labels") or {}
    return ObjectId(*SERVICE, slice_id.namespace, str(labels.get(SERVICE_NAME, "")))


def pods_of(slice_id: ObjectId, body: Body) -> Iterator[ObjectId]:
    """The pods that a slice names, ready or not."""
    for endpoint in body.get("endpoints") or ():
        target = endpoint.get("targetRef") or {}
        if target.get("kind") == "Pod":
            yield ObjectId(*POD, slice_id.namespace, str(target.get("name")))
