"""What of a ledger decides how a rehearsal goes on; the world beside it has a digest of its own."""

from __future__ import annotations

from typing import Any

from agent.core.ledger import Ledger
from agent.core.model import Body
from agent.core.simulation.world import World


def ledger_key(ledger: Ledger, world: World, settle: float) -> tuple[Any, ...]:
    """What a plan reads of a ledger: sources, whether the object is the one that was written, ages."""
    states = tuple(
        (g.number, g.revision, g.state)
        for g in sorted(ledger.generations, key=lambda g: g.since)
        if g.is_standing
    )
    entries = tuple(
        (
            key,
            entry.bases,
            _standing(entry.uid, world.get(key)),
            _left(entry.cutover_at, world.now, settle),
            entry.points_back,
            len(entry.orphans),
        )
        for key, entry in sorted(ledger.entries.items())
    )
    intent = ledger.intent and (ledger.intent.kind, ledger.intent.keys)
    return (states, entries, intent)


def _standing(uid: str, body: Body | None) -> str:
    if body is None or not uid:
        return "none"
    return "same" if body["metadata"]["uid"] == uid else "other"


def _left(cutover_at: float, now: float, settle: float) -> float:
    """Seconds until the cutover counts as settled, to the millisecond; negative where nothing moved."""
    return round(max(0.0, cutover_at + settle - now), 3) if cutover_at else -1.0
