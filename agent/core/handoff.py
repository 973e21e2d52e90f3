"""How the ledger moves: taking up a generation, the entries of its steps, holds, the end of a handoff.

Every function takes a ledger and answers a new one; nothing here knows what time it is or where the
ledger is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from agent.core.intents import joined
from agent.core.ledger import (
    Entry,
    Fingerprint,
    Generation,
    GenerationState,
    Hold,
    How,
    Ledger,
    Pruned,
    Source,
)
from agent.core.model import Desired, Form, Live, Manifest, ObjectId
from agent.core.steps import Plan, Step, Verb

_REMEMBERED: Final = 100
"""Generations of the past that the ledger's head keeps."""

_PRUNED: Final = 2000
"""How much of what was pruned the ledger remembers."""


def same_content(one: Mapping[ObjectId, Manifest], other: Mapping[ObjectId, Manifest]) -> bool:
    """Whether two revisions want the same objects (a commit alone makes no generation)."""
    return one.keys() == other.keys() and all(one[key].body == other[key].body for key in one)


def take_up(
    ledger: Ledger,
    revision: str,
    desired: Mapping[ObjectId, Manifest],
    contents: Mapping[str, Mapping[ObjectId, Manifest]],
    now: float,
) -> Ledger:
    """The ledger with ``revision`` as its newest generation.

    ``contents`` maps the revisions of standing generations to what they want; a revision that Git no
    longer has is left out, and then counts as different. The newest generation's number stays when the
    content does, and a revert to a generation that still stands takes that one up again, under its number.
    """
    newest = ledger.newest
    standing = [g for g in ledger.generations if g.is_standing]
    same = [g for g in standing if g.revision in contents and same_content(contents[g.revision], desired)]
    if newest in same:
        return ledger
    number = max((g.number for g in ledger.generations), default=0) + 1
    taken = Generation(number, revision, GenerationState.ROLLING_OUT, now)
    if same:
        again = max(same, key=lambda g: g.number)
        number = again.number
        taken = replace(taken, number=number, served=again.served, returns=again.returns + 1)
    others = tuple(
        g
        if g.state in (GenerationState.ABSENT, GenerationState.RETIRING)
        else replace(g, state=GenerationState.RETIRING, since=now)
        for g in ledger.generations
        if g.number != number
    )
    return replace(ledger, generations=(*others[-_REMEMBERED:], taken), holds={})


def entry_after(step: Step, ledger: Ledger, generation: int, digest: str, now: float) -> Entry | None:
    """The entry of ``step``'s object once it is done (without uid for what is not there yet), or None."""
    old = ledger.entries.get(step.id)
    if step.verb in (Verb.REPLACE, Verb.MIGRATE) and old is not None:
        return replace(old, orphans=joined(old.orphans, step.orphans))
    if step.body is None or step.verb is Verb.ABANDON:
        return None
    entry = Entry(
        id=step.id,
        api_version=str(step.body["apiVersion"]),
        generation=generation,
        bases=step.bases,
        form=step.form,
        uid=step.uid,
        digest=digest,
        cutover_at=old.cutover_at if old else 0.0,
        points_back=old.points_back if old else 0,
        orphans=old.orphans if old else (),
        how=old.how if old else How.MADE,
    )
    if step.verb is Verb.CUTOVER or (step.verb is Verb.CREATE and step.is_pointer):
        return replace(entry, cutover_at=now)
    if step.verb is Verb.POINT_BACK:
        return replace(entry, cutover_at=0.0, points_back=entry.points_back + 1)
    return entry


def enrolled(ledger: Ledger, desired: Desired, live: Live, shared: Collection[ObjectId] = ()) -> Ledger:
    """The ledger with every desired object that stands under the set's label, or is ``shared``, as a member.

    Nothing had to be written for such an object: it was equal when a lost ledger was begun anew.
    """
    newest = ledger.newest
    missing = desired.manifests.keys() - ledger.entries.keys()
    named = {key: obj for key in missing if (obj := live.get(key))}
    found = {k: obj for k, obj in named.items() if obj.set_name == ledger.set_name or k in shared}
    if newest is None or not found:
        return ledger
    entries = dict(ledger.entries)
    for key, obj in found.items():
        number = obj.generation or newest.number
        sources = (_source(desired, key),)
        entries[key] = Entry(key, desired.manifests[key].api_version, number, sources, Form.FINAL, obj.uid)
    return replace(ledger, entries=entries)


def _source(desired: Desired, key: ObjectId) -> Source:
    origin = desired.manifests[key].origin
    return Source(desired.revision, origin.file, origin.document)


def without(ledger: Ledger, gone: Iterable[ObjectId], live: Live, now: float) -> Ledger:
    """The ledger without members that no revision wants and that are absent, or are not ours any more.

    What had been made and is absent now was pruned.
    """
    left = frozenset(gone) & ledger.entries.keys()
    if not left:
        return ledger
    went = [ledger.entries[key] for key in sorted(left) if live.get(key) is None]
    pruned = (Pruned(entry.id, entry.generation, entry.uid, now) for entry in went if entry.uid)
    entries = {key: entry for key, entry in ledger.entries.items() if key not in left}
    return replace(ledger, entries=entries, pruned=(*ledger.pruned, *pruned)[-_PRUNED:])


def with_holds(ledger: Ledger, plan: Plan, failed: Mapping[str, str], now: float) -> Ledger:
    """The ledger with what the plan holds and why; a hold that goes on keeps its ``since``.

    ``failed`` are the steps that the server refused in this tick, with its words.
    """
    reasons = {step.key: "; ".join(gate.reason for gate in step.closed_gates) for step in plan.held_steps}
    waits = "; ".join(gate.reason for gate in plan.handover if not gate.is_open)
    if waits and not reasons:
        reasons[f"generation {plan.generation}"] = waits
    late = {"deadline": plan.late} if plan.late else {}
    return held(ledger, reasons | late | dict(failed), now)


def held(ledger: Ledger, reasons: Mapping[str, str], now: float) -> Ledger:
    """The ledger with these holds and no others."""
    known = ledger.holds
    holds = {key: Hold(known[key].since if key in known else now, why) for key, why in reasons.items()}
    return ledger if holds == known else replace(ledger, holds=holds)


def finished(
    ledger: Ledger, desired: Desired, live: Live, prints: Mapping[ObjectId, Fingerprint], now: float
) -> Ledger:
    """The ledger at the end of a handoff: the newest generation in service, all others absent.

    ``prints`` are the fingerprints of the members as last read whole in ``live``. Equal to ``ledger`` where
    nothing is new, so that a tick with nothing to do writes nothing.
    """
    newest = ledger.newest
    if newest is None:
        return ledger
    generations = tuple(_settled(g, newest, now) for g in ledger.generations)
    entries = {
        key: replace(
            _found(entry, desired, live),
            fingerprint=entry.fingerprint or prints.get(key),
            cutover_at=0.0,
            points_back=0,
            orphans=(),
        )
        for key, entry in ledger.entries.items()
    }
    return replace(ledger, generations=generations, entries=entries, holds={})


def _found(entry: Entry, desired: Desired, live: Live) -> Entry:
    """The entry of an object that is as Git wants it; one not known to be written so was found to be."""
    if entry.form is Form.FINAL or entry.id not in desired.manifests:
        return replace(entry, bases=entry.bases[-1:], form=Form.FINAL)
    obj = live.get(entry.id)
    number = (obj.generation if obj else None) or entry.generation
    return replace(entry, bases=(_source(desired, entry.id),), form=Form.FINAL, generation=number, digest="")


def _settled(generation: Generation, newest: Generation, now: float) -> Generation:
    ends = GenerationState.IN_SERVICE if generation.number == newest.number else GenerationState.ABSENT
    if generation.state is ends:
        return generation
    served = now if ends is GenerationState.IN_SERVICE else generation.served
    return replace(generation, state=ends, since=now, served=served)
