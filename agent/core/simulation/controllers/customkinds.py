"""CustomResourceDefinitions: names accepted, established, and emptied before they go.

https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from agent.core.model import Body, GroupKind, ObjectId
from agent.core.simulation.controllers.common import Controller, conditions, is_deleting
from agent.core.simulation.draft import Draft
from agent.core.simulation.requests import CLEANUP, begin_delete
from agent.core.simulation.schemas import storage_version
from agent.core.simulation.tables import dig
from agent.core.simulation.world import NEVER, Event

_CONDITIONS: Final = ("status", "conditions")
_NAMES: Final = ("plural", "singular", "kind", "listKind")


def calls(draft: Draft, event: Event) -> Iterable[ObjectId]:
    """A CRD's own writes; an object that goes concerns its kind's."""
    if event.id.kind == "CustomResourceDefinition":
        return [event.id]
    if event.type != "DELETED" or event.id.group_kind in draft.tables.served:
        return ()
    crds = draft.of("apiextensions.k8s.io", "CustomResourceDefinition").items()
    return [
        key
        for key, crd in crds
        if (crd["spec"]["group"], crd["spec"]["names"]["kind"]) == event.id.group_kind
    ]


def sync(draft: Draft, key: ObjectId) -> float:
    """Establish a new CRD after a moment; delete the objects of one that is to go."""
    crd = draft.get(key)
    if crd is None:
        return NEVER
    if not is_deleting(crd):
        return _establish(draft, key, crd)
    _end(draft, key, crd)
    return NEVER


def _establish(draft: Draft, key: ObjectId, crd: Body) -> float:
    due = (draft.marked(crd["metadata"]["uid"], "created") or 0) + draft.timing.establish
    if draft.now < due:
        return due
    spec, before = crd["spec"], crd.get("status") or {}
    stored = before.get("storedVersions", [])
    version = storage_version(crd)
    if rival := _rival(draft, key, spec):
        refused: dict[str, tuple[bool | str, str, str]] = {
            "NamesAccepted": (False, "NamesConflict", f"names are already in use by {rival}"),
            "Established": (False, "NotAccepted", "not all names are accepted"),
        }
        draft.put(key, crd | {"status": before | {"conditions": conditions(draft, crd, refused)}})
        return NEVER
    rows: dict[str, tuple[bool | str, str, str]] = {
        "NamesAccepted": (True, "NoConflicts", "no conflicts found"),
        "Established": (True, "InitialNamesAccepted", "the initial names have been accepted"),
    }
    status = {
        "acceptedNames": {"listKind": f"{spec['names']['kind']}List", **spec["names"]},
        "conditions": conditions(draft, crd, rows),
        "storedVersions": stored if version in stored else [*stored, version],
    }
    draft.put(key, crd | {"status": status})
    return NEVER


def _rival(draft: Draft, key: ObjectId, spec: Body) -> str:
    """Another definition of the group that has had one of these names before, or empty."""
    mine = {spec["names"].get(name) for name in _NAMES} - {None}
    for other, crd in draft.of(*key.group_kind).items():
        taken = dig(crd, ("status", "acceptedNames")) or {}
        is_of_group = other != key and crd["spec"]["group"] == spec["group"]
        if is_of_group and mine & {taken.get(name) for name in _NAMES}:
            return other.name
    return ""


def _end(draft: Draft, key: ObjectId, crd: Body) -> None:
    """Its objects go first; an object with a finalizer of its own keeps the CRD."""
    kind = GroupKind(crd["spec"]["group"], crd["spec"]["names"]["kind"])
    for inner in list(draft.of(*kind)):
        begin_delete(draft, inner)
    if draft.of(*kind):
        rows = {
            row["type"]: (row["status"], row.get("reason", ""), "") for row in dig(crd, _CONDITIONS) or ()
        }
        rows["Terminating"] = ("True", "InstanceDeletionInProgress", "CustomResource deletion is in progress")
        draft.put(
            key, crd | {"status": (crd.get("status") or {}) | {"conditions": conditions(draft, crd, rows)}}
        )
        return
    finalizers = [name for name in crd["metadata"].get("finalizers") or () if name != CLEANUP]
    if finalizers:
        draft.put(key, crd | {"metadata": crd["metadata"] | {"finalizers": finalizers}})
    else:
        draft.drop(key)


CONTROLLER: Final = Controller("crd", calls, sync)
