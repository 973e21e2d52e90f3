"""What keeps an object from being deleted that no revision wants any more, whoever uses it or not.

1. Too much goes at once: the whole revision holds (agent/core/budget.py).
2. A person protected it: by the annotation ``trapeze.dev/protect``.
3. Somebody else owns it, by its ownerReferences: it is left to them.
4. It owns what stays: garbage collection would take that along
   (kubernetes.io/docs/concepts/architecture/garbage-collection; the owner is told by its uid).
5. The ledgers live in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from agent.core.gates import EVERYTHING, gate
from agent.core.model import Body, GroupKind, LiveObject, ObjectId
from agent.core.situation import Situation, owner_references
from agent.core.steps import Gate, GateState

PROTECT: Final = "trapeze.dev/protect"
_NAMESPACE: Final = GroupKind("", "Namespace")


def spared(situation: Situation, live: LiveObject, leaving: frozenset[ObjectId]) -> tuple[Gate, ...]:
    """The closed gates of the delete of ``live``; ``leaving`` are all that the plan deletes."""
    found = (
        _unread(situation),
        _budget(situation, leaving),
        _protected(situation, live),
        _owning(situation, live, leaving),
    )
    return tuple(one for one in found if one is not None)


def _unread(situation: Situation) -> Gate | None:
    """Another set may want the object: who is not known not to does not lose it."""
    unread = situation.neighbours.unread()
    wants = "it is known what every other set wants"
    return Gate("others", wants, GateState.UNKNOWN, "; ".join(unread)) if unread else None


def _budget(situation: Situation, leaving: frozenset[ObjectId]) -> Gate | None:
    """The same for every delete of the plan: a revision that takes too much away takes nothing."""
    if EVERYTHING in situation.rules.allow:
        return None
    standing = (situation.live.get(key) for key in leaving)
    going = sum(obj is not None and not obj.is_deleting for obj in standing)
    everything = situation.ledger.entries.keys() | situation.desired.manifests.keys()
    reason = situation.rules.budget.exceeded(going, len(everything))
    if not reason:
        return None
    way_out = f"if all of them shall go: prune: {{budget: {{count: {going}}}}}"
    return Gate("budget", "no more goes than the set allows at once", GateState.HELD, f"{reason}; {way_out}")


def _protected(situation: Situation, live: LiveObject) -> Gate | None:
    wants = "nobody protects the object"
    if live.annotations.get(PROTECT, "false") != "false":
        reason = f"it carries {PROTECT}; it goes once the annotation is taken off the live object"
        return Gate("protected", wants, GateState.HELD, reason)
    if live.id.group_kind == _NAMESPACE and live.id.name == situation.rules.ledger_namespace:
        reason = "the ledgers of the agent live in it; delete it by hand when the agent is gone"
        return Gate("protected", wants, GateState.HELD, reason)
    return None


def foreign_owner(situation: Situation, live: LiveObject) -> str:
    """Who owns the object besides members of the set, in words, or empty.

    Owners that Git itself wrote into the object make nobody else its owner.
    """
    owners = list(owner_references(live.body))
    if not owners or any(True for body in _applied(situation, live) for _ in owner_references(body)):
        return ""
    members = {obj.uid for key in situation.ledger.entries if (obj := situation.live.get(key)) is not None}
    others = [ref for ref in owners if ref.get("uid") not in members]
    return f"{others[0].get('kind')} {others[0].get('name')}" if others else ""


def _applied(situation: Situation, live: LiveObject) -> Iterable[Body]:
    return situation.applied.get(live.id, ())


def _owning(situation: Situation, live: LiveObject, leaving: frozenset[ObjectId]) -> Gate | None:
    """Held while something that stays would be collected with it."""
    going = {obj.uid for key in leaving if (obj := situation.live.get(key)) is not None}
    staying = [
        obj for obj in _collected(situation, live.uid, frozenset(going)) if _stays(situation, obj, leaving)
    ]
    if not staying:
        return None
    said = (f"{obj.id} stays and is owned by it: take it out of its ownerReferences" for obj in staying)
    return gate("owning", "nothing that stays is owned by it", said, "")


def _collected(situation: Situation, uid: str, going: frozenset[str]) -> Iterator[LiveObject]:
    """What garbage collection takes along: objects whose every owner goes, and what those own in turn."""
    lost = {uid}
    owned = situation.owned
    waiting = [uid]
    while waiting:
        for obj in owned.get(waiting.pop(), ()):
            uids = {str(ref.get("uid")) for ref in owner_references(obj.body)}
            if obj.uid not in lost and uids <= lost | going:
                lost.add(obj.uid)
                waiting.append(obj.uid)
                yield obj


def _stays(situation: Situation, obj: LiveObject, leaving: frozenset[ObjectId]) -> bool:
    """Whether this revision or another set wants it; labels alone may be copied by a controller."""
    if obj.id in situation.desired.manifests:
        return True
    return obj.id not in leaving and bool(situation.neighbours.keeping(obj.id))


def strays(situation: Situation) -> Iterator[str]:
    """Objects under the set's label that the ledger does not name: told, and left alone.

    Controllers copy labels onto what they make: what has an owner, or was written by the cluster's own
    controllers alone, is no stray.
    """
    known = situation.ledger.entries.keys() | situation.desired.manifests.keys()
    for key, obj in sorted(situation.live.objects.items()):
        if key in known or obj.set_name != situation.desired.set_name or obj.metadata.get("ownerReferences"):
            continue
        managers = {str(field.get("manager")) for field in obj.metadata.get("managedFields") or ()}
        if managers <= situation.policy.controllers:
            continue
        uses = "; it counts as somebody else's, and what it uses is held for it"
        yield f"{key} is left alone: it carries the set's label, but the ledger does not name it{uses}"


def untold(situation: Situation) -> Iterator[str]:
    """What a tick that was stopped may have written, while its kind cannot be read: the intent keeps it."""
    intent = situation.ledger.intent
    for entry in intent.entries if intent else ():
        why = situation.live.why_unknown((entry.id.group_kind,))
        yield f"{entry.id} may have been written by a tick that was stopped; told once it can be read: {why}"
