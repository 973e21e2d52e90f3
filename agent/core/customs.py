"""Custom objects that leave: before their definition, and before the controller that lets them go.

An object with a finalizer stays until a controller has taken that off; a controller that went first leaves
objects that nothing can delete (kubernetes.io/docs/concepts/overview/working-with-objects/finalizers).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from agent.core.absence import CRD
from agent.core.gates import Gates, gate
from agent.core.model import GroupKind, ObjectId
from agent.core.situation import Situation
from agent.core.steps import Gate
from agent.core.storage import kind_defined

_OF_THE_SYSTEM: Final = frozenset({"orphan", "foregroundDeletion"})
"""Finalizers that the garbage collector takes off."""


def let_go(gates: Gates) -> Gate:
    """No custom object that leaves still waits for a finalizer: its controller may be what leaves too."""
    wants = "no custom object that leaves waits for its controller"
    return gate("finalized", wants, _waiting(gates.situation, gates.leaving), wants)


def _waiting(situation: Situation, leaving: Iterable[ObjectId]) -> Iterator[str]:
    going = sorted(leaving)
    defined = {kind_defined(obj.body) for obj in situation.live.of_kind(*CRD)}
    found = [obj for key in going if (obj := situation.live.get(key)) is not None]
    ended = [kind_defined(obj.body) for obj in found if obj.id.group_kind == CRD]
    left = {obj.id: obj for obj in found if obj.id.group_kind in defined}
    left |= {obj.id: obj for kind in ended for obj in situation.live.of_kind(*kind)}
    for _, obj in sorted(left.items()):
        held = [name for name in obj.metadata.get("finalizers") or () if name not in _OF_THE_SYSTEM]
        if held:
            yield f"{obj.id} has finalizer {held[0]}"


def moved_groups(situation: Situation, leaving: Iterable[ObjectId]) -> Iterator[str]:
    """Kinds that go in one API group and come in another: nothing carries their objects over."""
    wanted = {
        kind_defined(manifest.body)
        for key, manifest in situation.desired.manifests.items()
        if key.group_kind == CRD
    }
    for key in sorted(leaving):
        obj = situation.live.get(key) if key.group_kind == CRD else None
        if obj is None:
            continue
        old = kind_defined(obj.body)
        for new in sorted(kind for kind in wanted if kind.kind == old.kind and kind.group != old.group):
            yield f"{old} becomes {new}: {_count(situation, old)} not carried over, and lost when {key} goes"


def _count(situation: Situation, kind: GroupKind) -> str:
    number = len(situation.live.of_kind(*kind))
    if not situation.is_observed or situation.live.why_unknown((kind,)):
        return "its objects are"
    return "its 1 object is" if number == 1 else f"its {number} objects are"
