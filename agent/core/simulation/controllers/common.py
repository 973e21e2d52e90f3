"""What controllers share: owners, conditions, pods made from templates."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias
from zlib import crc32

from agent.core.model import Body, GroupKind, ObjectId
from agent.core.simulation import requests
from agent.core.simulation.ages import LONGEST_RETRY
from agent.core.simulation.draft import Draft
from agent.core.simulation.serving import condition
from agent.core.simulation.tables import dig
from agent.core.simulation.world import NEVER, Event, State, controller_of, free, stamp
from agent.errors import ClusterError

ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
"""The letters of generated names (k8s.io/apimachinery, util/rand)."""

POD: Final = GroupKind("", "Pod")

FINISHED: Final = ("Succeeded", "Failed")

_RETRY: Final = 1.0
"""Seconds after which a refused pod is first tried again (really some milliseconds)."""

Item: TypeAlias = tuple[ObjectId, Body]


class Controller(NamedTuple):
    """A part of the control plane, level-triggered as real ones are.

    ``calls``: the objects that a write makes it look at; ``sync``: look at one, do what is to be done and
    return when to look again though nothing was written.
    """

    name: str
    calls: Callable[[Draft, Event], Iterable[ObjectId]]
    sync: Callable[[Draft, ObjectId], float]


def letters(number: int, count: int = 5) -> str:
    """A name's suffix from a number; different numbers near each other differ."""
    out = ""
    for _ in range(count):
        number, rest = divmod(number, len(ALPHABET))
        out += ALPHABET[rest]
    return out


def digest(value: Any) -> str:
    """A short name for a template, the same for equal ones."""
    return letters(crc32(json.dumps(value, sort_keys=True).encode()), 7)


def owner_reference(owner: Body) -> Body:
    """A controller reference.

    https://kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents/
    """
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def is_deleting(body: Body) -> bool:
    """Whether the object is on its way out."""
    return "deletionTimestamp" in body["metadata"]


def is_active(pod: Body) -> bool:
    """Whether a pod counts for its controller: neither finished nor on its way out."""
    return not is_deleting(pod) and dig(pod, ("status", "phase")) not in FINISHED


def is_ready(pod: Body) -> bool:
    """Whether the pod's Ready condition is True."""
    return condition(pod, "Ready") == "True"


def available_at(state: State, pod: Body, min_ready: float) -> float:
    """When a pod counts as available: ready for minReadySeconds; never while it is not ready."""
    since = state.marked(pod["metadata"]["uid"], "since")
    return NEVER if since is None or not is_ready(pod) else since + min_ready


def children(draft: Draft, uid: str, kind: str = "Pod") -> list[Item]:
    """What an object controls of this kind."""
    found = ((key, draft.get(key)) for key in draft.owned_by(uid) if key.kind == kind)
    return [(key, body) for key, body in found if body is not None]


def orphans(draft: Draft, group: str, kind: str, namespace: str) -> list[Item]:
    """Objects of a kind that nobody controls."""
    keys = draft.owned_by(free(kind))
    found = ((key, draft.get(key)) for key in keys if key.group == group and key.namespace == namespace)
    return [(key, body) for key, body in found if body is not None]


def owner_key(body: Body, kind: str) -> ObjectId | None:
    """The identity of the owner that controls an object, if it is of this kind."""
    for owner in body["metadata"].get("ownerReferences") or ():
        if owner.get("controller") and owner["kind"] == kind:
            group = owner["apiVersion"].rpartition("/")[0]
            return ObjectId(group, kind, body["metadata"].get("namespace", ""), owner["name"])
    return None


def within(draft: Draft, group: str, kind: str, namespace: str) -> list[ObjectId]:
    """The identities of a kind's objects in a namespace."""
    return [key for key in draft.of(group, kind) if key.namespace == namespace]


def pod_calls(group: str, kind: str) -> Callable[[Draft, Event], Iterable[ObjectId]]:
    """For a controller of pods: a workload's own writes, those of its pods, and pods that nobody controls."""

    def calls(draft: Draft, event: Event) -> Iterable[ObjectId]:
        if event.id.kind == kind:
            return [event.id]
        if event.id.group_kind != POD:
            return ()
        owner = owner_key(event.body, kind)
        if owner is not None:
            return [owner]
        if controller_of(event.body):
            return ()
        return within(draft, group, kind, event.id.namespace)

    return calls


def claim(
    draft: Draft, owner: Body, orphans: Iterable[Item], fits: Callable[[Mapping[str, str]], bool]
) -> bool:
    """Adopt objects that nobody controls and that the owner selects; whether there were any.

    https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/#non-template-pod-acquisitions
    """
    adopted = False
    for key, body in orphans:
        metadata = body["metadata"]
        is_near = key.namespace == owner["metadata"]["namespace"] and not is_deleting(body)
        if is_near and fits(metadata.get("labels") or {}):
            references = [*(metadata.get("ownerReferences") or ()), owner_reference(owner)]
            draft.put(key, body | {"metadata": metadata | {"ownerReferences": references}})
            adopted = True
    return adopted


def spawn(
    draft: Draft, owner: Body, name: str, template: Body, extra: Mapping[str, str] | None = None
) -> str:
    """Make a pod from a template; the reason where the API server refuses it, else empty.

    A name that ends in a dash gets a suffix of its own, which is kept until a pod has it.
    """
    metadata, uid = template.get("metadata") or {}, owner["metadata"]["uid"]
    made = draft.marked(uid, "made") or 0
    generated = {}
    if name.endswith("-"):
        generated = {"generateName": name}
        name += letters((int(uid[:8], 16) * 31 + int(made)) * 7919)
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            **generated,
            "namespace": owner["metadata"]["namespace"],
            "labels": {**(metadata.get("labels") or {}), **(extra or {})},
            "annotations": metadata.get("annotations"),
            "ownerReferences": [owner_reference(owner)],
        },
        "spec": template["spec"],
    }
    try:
        requests.create(draft, body)
    except ClusterError as error:
        return str(error)
    draft.mark(uid, "made", made + 1)
    return ""


def conditions(draft: Draft, before: Body, rows: Mapping[str, tuple[bool | str, str, str]]) -> list[Body]:
    """A status.conditions list: type -> (status, reason, message); transition times stay with the status."""
    old = {row["type"]: row for row in dig(before, ("status", "conditions")) or ()}
    new = []
    for kind, (value, reason, message) in rows.items():
        status = value if isinstance(value, str) else str(value)
        was = old.get(kind, {})
        since = was["lastTransitionTime"] if was.get("status") == status else stamp(draft.now)
        row = {
            "type": kind,
            "status": status,
            "lastTransitionTime": since,
            "reason": reason,
            "message": message,
        }
        new.append({key: text for key, text in row.items() if text})
    return new


def set_status(draft: Draft, key: ObjectId, status: Body) -> None:
    """Write a status if it is another; zero counts that the API leaves out are the caller's business."""
    body = draft.get(key)
    if body is not None and body.get("status") != status:
        draft.put(key, body | {"status": status})


def counts(**numbers: int) -> Body:
    """Status counts as the API writes them: zeros are left out."""
    return {name: number for name, number in numbers.items() if number}


def resolve(value: Any, replicas: int, *, up: bool) -> int:
    """An int-or-percent field as a number of pods (intstr.GetScaledValueFromIntOrPercent)."""
    if isinstance(value, int):
        return value
    percent = int(str(value).rstrip("%")) * replicas
    return -(-percent // 100) if up else percent // 100


def retry_at(draft: Draft, uid: str, refused: str) -> float:
    """When a controller whose pod was refused tries again; NEVER where none was.

    The wait doubles each time, up to a bound (client-go, ItemExponentialFailureRateLimiter).
    """
    first = draft.marked(uid, "refused")
    if not refused:
        if first is not None:
            draft.mark(uid, "refused", None)
        return NEVER
    if first is None:
        first = draft.now
        draft.mark(uid, "refused", first)
    return draft.now + min(LONGEST_RETRY, max(_RETRY, draft.now - first))
