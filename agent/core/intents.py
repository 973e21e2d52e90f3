"""What is about to be written, what became of it, and what a tick that was stopped has left behind.

Every function takes a ledger and answers a new one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from agent.core.ledger import Entry, Intent, IntentKind, Ledger, Orphan
from agent.core.model import Form, Live, LiveObject, ObjectId
from agent.core.steps import Step, Verb


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a step. ``live`` is the server's answer, None for a delete or a failure.

    ``error`` is empty on success; what failed stays in the plan and is tried again at the next tick.
    """

    step: Step
    entry: Entry | None
    live: LiveObject | None = None
    error: str = ""


def intend(ledger: Ledger, kind: IntentKind, steps: Iterable[tuple[Step, Entry | None]]) -> Ledger:
    """The ledger that says what is about to be written, beside what may have been written before."""
    pairs = tuple(steps)
    keys = tuple(step.key for step, _ in pairs)
    entries = tuple(entry for _, entry in pairs if entry is not None)
    return replace(ledger, intent=_together(ledger.intent, Intent(kind, keys, entries)))


def record(ledger: Ledger, outcomes: Iterable[Outcome]) -> Ledger:
    """The ledger after the outcomes; a step that failed leaves its object's entry as it was.

    An apply that failed without an answer may have been carried out all the same: its entry is kept as
    the intent had it, with the bases of both, so that nothing that may stand there is forgotten. A delete
    that was accepted is not yet done: its entry goes when the object has been seen to be absent. Of the
    intent stays what an earlier tick left in it.
    """
    entries = dict(ledger.entries)
    told = tuple(outcomes)
    for outcome in told:
        if outcome.error:
            if outcome.entry is not None:
                entries[outcome.step.id] = _either(entries.get(outcome.step.id), outcome.entry)
        elif outcome.step.verb is Verb.DELETE:
            continue
        elif outcome.entry is None:
            entries.pop(outcome.step.id, None)
        else:
            uid = outcome.live.uid if outcome.live else outcome.entry.uid
            entries[outcome.step.id] = replace(outcome.entry, uid=uid)
    intent = _without(ledger.intent, {outcome.step.id for outcome in told})
    return replace(ledger, entries=entries, intent=intent)


def recovered(ledger: Ledger, live: Live, manager: str) -> Ledger:
    """The ledger after a crash: what the intent names and the cluster has is a member.

    An object without a recorded uid is ours only if its set label and our field manager say so as well;
    what is of a kind that cannot be read is kept in the intent until it can.
    """
    if ledger.intent is None:
        return ledger
    entries = dict(ledger.entries)
    told = [entry for entry in ledger.intent.entries if entry.id.group_kind not in live.unknown]
    for entry in told:
        obj = live.get(entry.id)
        known = entries.get(entry.id)
        if obj is None and known is not None:
            # Deleted to be made anew: what it left behind is told by the intent alone.
            entries[entry.id] = replace(known, orphans=joined(known.orphans, entry.orphans))
        if obj is None:
            continue
        if is_ours(obj, ledger.set_name, manager):
            merged = _either(entries.get(entry.id), entry)
            entries[entry.id] = replace(merged, uid=obj.uid, form=Form.WIDENED)
    intent = _without(ledger.intent, {entry.id for entry in told})
    return replace(ledger, entries=entries, intent=intent)


def absorbed(ledger: Ledger, former: Ledger) -> Ledger:
    """The ledger with what that of the same set under a former name has: its members, and its past."""
    return replace(
        ledger,
        generations=ledger.generations or former.generations,
        entries={**former.entries, **ledger.entries},
        intent=_together(former.intent, ledger.intent),
        acts=ledger.acts or former.acts,
        pruned=ledger.pruned or former.pruned,
    )


def is_ours(obj: LiveObject, set_name: str, manager: str) -> bool:
    """Whether set label and our field manager both say that this set wrote the object."""
    return obj.set_name == set_name and is_managed(obj, manager)


def is_managed(obj: LiveObject, manager: str) -> bool:
    """Whether this field manager has written the object."""
    return manager in {field.get("manager") for field in obj.metadata.get("managedFields") or ()}


def _together(old: Intent | None, new: Intent | None) -> Intent | None:
    """Both intents as one; what is in both may stand as either."""
    if old is None or new is None:
        return old or new
    entries = {entry.id: entry for entry in old.entries}
    entries.update((entry.id, _either(entries.get(entry.id), entry)) for entry in new.entries)
    return Intent(new.kind, tuple(dict.fromkeys((*old.keys, *new.keys))), tuple(entries.values()))


def _without(intent: Intent | None, told: Collection[ObjectId]) -> Intent | None:
    """The intent without what was told apart, None where nothing is left."""
    left = tuple(entry for entry in intent.entries if entry.id not in told) if intent else ()
    return replace(intent, entries=left) if intent and left else None


def _either(old: Entry | None, new: Entry) -> Entry:
    """What is known of an object of which either may stand: no digest, no fingerprint, no final form.

    What was to be made new has no uid yet: the one that the old entry has is of an object that was gone.
    """
    if old is None:
        return new
    bases = tuple(dict.fromkeys((*old.bases, *new.bases)))
    cutover_at = max(old.cutover_at, new.cutover_at)
    known = replace(old, bases=bases, form=Form.WIDENED, digest="", fingerprint=None, cutover_at=cutover_at)
    return replace(known, uid=new.uid, orphans=joined(old.orphans, new.orphans))


def joined(some: tuple[Orphan, ...], more: tuple[Orphan, ...]) -> tuple[Orphan, ...]:
    """Each orphan of both once."""
    return tuple(dict.fromkeys((*some, *more)))
