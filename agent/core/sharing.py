"""Whose an object is that this set and another one name, and which sets wait for which.

1. The set whose label stands on the object answers for it. Another set that wants the same of it shares it
   without a write; one that wants something else holds, and both are named.
2. Who wants it no more leaves it to one that does; nobody else deletes it. The other puts its label on it.
3. Where they differ, an object that does not stand yet is made by the set that is configured first.
4. A set waits for the sets that it depends on, and goes before them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from agent.core.lockout import lockout
from agent.core.model import LiveObject, Manifest, ObjectId
from agent.core.neighbours import Neighbour
from agent.core.situation import Situation
from agent.core.states import OWN_MANAGER
from agent.core.steps import Gate, GateState

_MANAGER: Final = "trapeze/"
_WANTS: Final = "no other set owns the object"


class Claim(NamedTuple):
    """Another set's hold on an object; ``is_shared`` where that set is known and wants it or still has it."""

    set_name: str
    is_shared: bool


def claim(situation: Situation, live: LiveObject) -> Claim | None:
    """Which other set answers for the object, or None where ours does, or may put its label on it."""
    name = live.set_name
    if name in ("", situation.desired.set_name) or name in situation.rules.formerly:
        return None
    other = situation.neighbours.named(name)
    if other is not None and other.answers_for(live.id):
        return Claim(name, is_shared=True)
    # A set of our configuration that wants it no more, and one that let go of what we share, leave it to us.
    is_given = other is not None and other.wants is not None
    return None if is_given or live.id in situation.ledger.entries else Claim(name, is_shared=False)


def is_adopted(situation: Situation, live: LiveObject) -> bool:
    """Whether it carries the label of a set that our configuration does not know: another agent's."""
    name = live.set_name
    ours = ("", situation.desired.set_name, *situation.rules.formerly)
    return name not in ours and situation.neighbours.named(name) is None


def is_member(situation: Situation, live: LiveObject) -> bool:
    """Whether the object stands under the set's label, or under that of a set that shares it."""
    found = claim(situation, live)
    return live.set_name == situation.desired.set_name or (found is not None and found.is_shared)


def is_shared(situation: Situation, key: ObjectId) -> bool:
    """Whether the object stands under the label of a set that wants it too."""
    live = situation.live.get(key)
    found = claim(situation, live) if live is not None else None
    return found is not None and found.is_shared


def before_making(situation: Situation, manifest: Manifest) -> tuple[Gate, ...]:
    """What holds the create of an object for the sake of other sets, or of the agent itself."""
    found = (_claimed(situation, manifest), lockout(situation, manifest.body))
    return tuple(gate for gate in found if gate is not None)


def before_changing(situation: Situation, manifest: Manifest, live: LiveObject) -> list[Gate]:
    """The same for an object that stands."""
    found = (_owned(situation, live), lockout(situation, manifest.body, live))
    return [gate for gate in found if gate is not None]


def _owned(situation: Situation, live: LiveObject) -> Gate | None:
    """Held while another set answers for an object that this set wants otherwise."""
    found = claim(situation, live)
    if found is None:
        return None
    own, name = situation.desired.set_name, found.set_name
    other = situation.neighbours.named(name)
    said = f"it carries the label of set {name}; take it out of one of the two"
    if other is not None and other.wants is not None and found.is_shared:
        said = f"set {name} has it, and set {own} wants it otherwise; take it out of one of the two"
    elif other is None or other.wants is None:
        said += f", or say formerly: [{name}] where set {own} had that name"
    return Gate("owner", _WANTS, GateState.HELD, said)


def _claimed(situation: Situation, manifest: Manifest) -> Gate | None:
    """Held while a set that comes first is to make the object, and wants it otherwise."""
    for other in situation.neighbours.sets:
        wanted = (other.wants or {}).get(manifest.id)
        comes_first = other.is_earlier or manifest.id in other.members
        if wanted is not None and comes_first and wanted != manifest.body:
            own = situation.desired.set_name
            said = f"set {other.name} wants it too, and set {own} otherwise; take it out of one of the two"
            return Gate("owner", _WANTS, GateState.HELD, said)
    return None


def left(situation: Situation, live: LiveObject) -> tuple[str, ...]:
    """The sets that go on with an object that this set wants no more."""
    return situation.neighbours.keeping(live.id)


def followed(situation: Situation, live: LiveObject) -> frozenset[str]:
    """The field managers whose fields are the set's own: predecessors, and sets that gave the object up.

    So is what our own plain updates wrote: to take a part out makes the server's default of it ours.
    """
    managers = {str(one.get("manager")) for one in live.metadata.get("managedFields") or ()}
    ours = situation.rules.manager
    sets = {one.removeprefix(_MANAGER) for one in managers if one.startswith(_MANAGER) and one != ours}
    taken_over = situation.rules.take_over | {OWN_MANAGER}
    if not sets or claim(situation, live) is not None:
        return taken_over
    given = {f"{_MANAGER}{name}" for name in sets if _gave_up(situation, live, name)}
    return taken_over | given


def _gave_up(situation: Situation, live: LiveObject, name: str) -> bool:
    other = situation.neighbours.named(name)
    if name == live.set_name or name in situation.rules.formerly:
        return True
    if other is None:
        return live.set_name == situation.desired.set_name
    return not other.answers_for(live.id)


def all_followed(situation: Situation) -> frozenset[str]:
    """The same for everything that the set wants."""
    wanted = (situation.live.get(key) for key in situation.desired.manifests)
    found = [followed(situation, live) for live in wanted if live is not None]
    return situation.rules.take_over.union(*found)


def awaited(situation: Situation) -> tuple[Gate, ...]:
    """What every step waits for: sets that this one depends on; where it goes, the sets that depend on it."""
    if not situation.is_observed:
        return ()
    waits = [*_depends(situation)]
    if situation.rules.is_absent:
        waits += _dependents(situation)
    wants = "the sets that it waits for are where they should be"
    return tuple(Gate("after", wants, GateState.HELD, said) for said in waits)


def _depends(situation: Situation) -> Iterator[str]:
    for name in () if situation.rules.is_absent else situation.rules.depends_on:
        other = situation.neighbours.named(name) or Neighbour(name, waits="it was never synced")
        if other.waits or other.unread:
            yield f"set {name} is not in service: {other.waits or other.unread}"


def _dependents(situation: Situation) -> Iterator[str]:
    for name in situation.rules.dependents:
        other = situation.neighbours.named(name)
        if other is not None and other.members:
            yield f"set {name} depends on it, and still has {len(other.members)} objects"


def wanted_of(situation: Situation, kind: tuple[str, str]) -> Iterator[tuple[str, ObjectId]]:
    """The objects of a kind that other sets want or have."""
    for other in situation.neighbours.sets:
        for key in sorted({*(other.wants or ()), *other.members}):
            if key.group_kind == kind and other.keeps(key):
                yield other.name, key
