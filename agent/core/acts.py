"""What people decided about a set, in order: the ledger keeps it, the plan goes by it.

An act is never changed: a later one lifts it (``unpin`` a pin, ``resume`` a suspension, ``revoke`` what was
approved or overridden), or what it is bound to goes by. So the same list tells what holds and what happened.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final


class ActKind(Enum):
    """What was decided; the value is what is printed."""

    PIN = "pin"
    ROLLBACK = "rollback"
    ABORT = "abort"
    """Give up this handoff: back to the generation in service."""
    UNPIN = "unpin"
    SUSPEND = "suspend"
    RESUME = "resume"
    APPROVE = "approve"
    OVERRIDE = "override"
    REVOKE = "revoke"
    """Takes back every approval and override of one step."""
    AGREE = "agree"
    """Members that were rebuilt or adopted are the set's own: they may be pruned like any other."""
    ADOPT = "adopt"
    UNADOPT = "undo adoption"
    REBUILD = "rebuild"
    """Not a person's: the ledger was lost, and was made anew from what the cluster and Git say."""


@dataclass(frozen=True, slots=True)
class Act:
    """One decision: who (the API server's name of them), when (epoch seconds) and why.

    ``generation`` and ``revision`` are what a pin, a rollback or an abort goes to. An approval or an override
    is bound to ``step`` (its key), the object's ``uid`` and the ``digest`` of what the step does; an
    override opens one ``gate``. A revocation has the ``step`` alone.
    """

    kind: ActKind
    by: str
    at: float
    reason: str = ""
    generation: int = 0
    revision: str = ""
    step: str = ""
    uid: str = ""
    digest: str = ""
    gate: str = ""


PINS: Final = frozenset({ActKind.PIN, ActKind.ROLLBACK, ActKind.ABORT})
_REMEMBERED: Final = 500


def pinned(acts: Iterable[Act]) -> Act | None:
    """The pin, rollback or abort that holds now, or None."""
    return _last(acts, PINS, ActKind.UNPIN)


def pinned_to(acts: Iterable[Act]) -> str:
    """The revision that the set stays at, or empty where it follows Git."""
    pin = pinned(acts)
    return pin.revision if pin else ""


def suspended(acts: Iterable[Act]) -> Act | None:
    """The suspension that holds now, or None."""
    return _last(acts, {ActKind.SUSPEND}, ActKind.RESUME)


def standing(acts: Iterable[Act]) -> tuple[Act, ...]:
    """The approvals and overrides that nobody revoked since; whether each still fits its step is not told."""
    found: list[Act] = []
    for act in acts:
        if act.kind is ActKind.REVOKE:
            found = [one for one in found if one.step != act.step]
        elif act.step:
            found.append(act)
    return tuple(found)


def with_act(acts: tuple[Act, ...], act: Act) -> tuple[Act, ...]:
    """The acts with one more; of very many the oldest go, never one that a later act would have to lift."""
    kept = acts[-_REMEMBERED:]
    holding = (found for found in (pinned(acts), suspended(acts)) if found is not None and found not in kept)
    return (*holding, *kept, act)


def _last(acts: Iterable[Act], kinds: Iterable[ActKind], lifted_by: ActKind) -> Act | None:
    wanted = frozenset(kinds)
    found = None
    for act in acts:
        if act.kind in wanted:
            found = act
        elif act.kind is lifted_by:
            found = None
    return found
