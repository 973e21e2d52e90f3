"""The deadline of a handoff: it never opens a gate, it says what becomes of a handoff that takes too long.

It counts from when the generation was taken up. Once the new generation is ready and its cutovers have
settled, the old one may be going already: then the deadline is told of and steers nothing.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from agent.core.acts import pinned, suspended, with_act
from agent.core.deciding import abort
from agent.core.evidence import unready
from agent.core.ledger import Entry, GenerationState, Ledger
from agent.core.situation import AfterDeadline, Rules, Situation
from agent.core.steps import Gate, GateState, Plan

_BY: Final = "the deadline"


def passed(situation: Situation) -> str:
    """That the deadline has passed and when, or empty. The text stays the same from tick to tick."""
    newest, limit = situation.ledger.newest, situation.rules.deadline
    if not limit or newest is None or newest.state is not GenerationState.ROLLING_OUT:
        return ""
    until = newest.since + limit
    if not situation.is_observed or situation.now < until:
        return ""
    return f"the deadline of generation {newest.number} passed at {stamp(until)}"


def gives_up(situation: Situation) -> str:
    """Why pointers that moved go back and stay there, or empty: what is late is not ready, or went back.

    A generation that was chosen, by a person or by an earlier deadline, is never given up.
    """
    late = passed(situation)
    if not late or situation.rules.after_deadline is AfterDeadline.HOLD or pinned(situation.ledger.acts):
        return ""
    back = [key for key, entry in sorted(situation.ledger.entries.items()) if _went_back(entry)]
    waits = next(unready(situation), "") or (f"{back[0]} was pointed back" if back else "")
    return f"{late}: {waits}" if waits else ""


def _went_back(entry: Entry) -> bool:
    return bool(entry.points_back) and not entry.cutover_at


def reverted(ledger: Ledger, plan: Plan, rules: Rules, now: float) -> Ledger:
    """The ledger with an abort of the handoff that the plan gives up, where the set's rules revert it."""
    newest, last = ledger.newest, ledger.last_in_service
    is_meant = rules.after_deadline is AfterDeadline.REVERT and plan.given_up
    is_possible = newest is not None and last is not None and last.number != newest.number
    if not is_meant or not is_possible or suspended(ledger.acts):
        return ledger
    act = replace(abort(ledger, plan.given_up), by=_BY, at=now)
    return replace(ledger, acts=with_act(ledger.acts, act))


def deadline_gate(situation: Situation, *, moves: bool) -> Gate | None:
    """What holds steps that take something away, or that move a pointer, once the handoff is given up.

    A pointer that has not moved when the deadline passes is late whatever is ready.
    """
    holds = situation.rules.after_deadline is AfterDeadline.HOLD or pinned(situation.ledger.acts)
    why = gives_up(situation) or (passed(situation) if moves and not holds else "")
    if not why:
        return None
    way_out = "mend or revert it in Git, or raise the set's deadline"
    return Gate("deadline", "the deadline has not passed", GateState.HELD, f"{why}; {way_out}")


def stamp(seconds: float) -> str:
    """A time of the Unix epoch in RFC 3339."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
