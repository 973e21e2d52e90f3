"""What a tick does next, and what becomes of its steps: the agent and the rehearsal go by the same words.

Pure: the caller sends the requests and keeps the ledger.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from agent.core.handoff import enrolled, entry_after, finished, without
from agent.core.ledger import Entry, Fingerprint, Ledger
from agent.core.model import Body, Desired, GroupKind, Live, ObjectId
from agent.core.neighbours import marked
from agent.core.stamps import digest_of
from agent.core.steps import Plan, Step

_SECRET = GroupKind("", "Secret")


def next_steps(plan: Plan, tried: Collection[str]) -> list[Step]:
    """All open additive steps, else the first other open one; each is tried once in a tick."""
    if plan.questions:
        return []
    steps = [step for step in plan.open_steps if step.key not in tried]
    return [step for step in steps if step.is_additive] or steps[:1]


def intended(step: Step, ledger: Ledger, generation: int, now: float) -> Entry | None:
    """The entry that the ledger shall have once the step is done; no digest of a Secret stands in it."""
    is_secret = step.id.group_kind == _SECRET
    digest = "" if step.body is None or is_secret else digest_of(step.body)
    return entry_after(step, ledger, generation, digest, now)


def guarded(body: Body, step: Step, version: str) -> Body:
    """The body with what it was planned on (now at ``version``) as preconditions; what is made new has none.

    What was additive when it was planned can take away what came in between: an apply drops the fields that
    it does not name, and the union of a list is that of the entries that were seen.
    """
    preconditions = {"uid": step.uid, "resourceVersion": version}
    held = {key: value for key, value in preconditions.items() if value}
    return {**body, "metadata": {**body["metadata"], **held}}


def on_this_clock(ledger: Ledger, now: float) -> Ledger:
    """The ledger without times that lie ahead: another agent's clock was, and what it saw counts from now."""
    late = {
        key: replace(entry, cutover_at=now) for key, entry in ledger.entries.items() if entry.cutover_at > now
    }
    return replace(ledger, entries={**ledger.entries, **late}) if late else ledger


def closed(  # noqa: PLR0917 - what a tick has at its end
    plan: Plan,
    ledger: Ledger,
    desired: Desired,
    live: Live,
    prints: Mapping[ObjectId, Fingerprint],
    now: float,
) -> Ledger:
    """The ledger at the end of a tick whose last plan this is; what it still waits for is not told yet."""
    ledger = enrolled(without(ledger, plan.gone, live, now), desired, live, plan.shared)
    ledger = marked(ledger, plan.left)
    return finished(ledger, desired, live, prints, now) if plan.is_done else ledger
