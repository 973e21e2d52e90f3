"""Which act a person's word makes, by the ledger and the plan at hand; what cannot be is a ConfigError.

``by`` and ``at`` are left to the caller, who knows them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from agent.core.acts import Act, ActKind, pinned, standing, suspended
from agent.core.ledger import Generation, GenerationState, How, Ledger
from agent.core.levers import APPROVABLE, NEVER_OVERRIDDEN
from agent.core.stamps import digest_of
from agent.core.steps import Plan, Step
from agent.errors import ConfigError


def pin(ledger: Ledger, number: int, reason: str) -> Act:
    """Stay at this generation, or at the newest where ``number`` is 0."""
    return _to(ActKind.PIN, _numbered(ledger, number) if number else _newest(ledger), reason)


def rollback(ledger: Ledger, number: int, reason: str) -> Act:
    """Go to this generation, or to the one that served before the newest where ``number`` is 0."""
    newest = _newest(ledger)
    if number:
        return _to(ActKind.ROLLBACK, _numbered(ledger, number), reason)
    earlier = [g for g in ledger.generations if g.served and g.number != newest.number]
    last = max(earlier, key=lambda g: g.served, default=None)
    if last is None:
        raise ConfigError(f"set {ledger.set_name} has no generation that served before {newest.number}")
    return _to(ActKind.ROLLBACK, last, reason)


def abort(ledger: Ledger, reason: str) -> Act:
    """Give up the handoff that goes on now, for the generation that is in service."""
    newest, last = _newest(ledger), ledger.last_in_service
    if newest.state is not GenerationState.ROLLING_OUT or last is None or last.number == newest.number:
        raise ConfigError(f"set {ledger.set_name} is in no handoff that could be given up")
    return _to(ActKind.ABORT, last, reason)


def unpin(ledger: Ledger, reason: str) -> Act:
    """Lift a pin, a rollback or an abort."""
    if pinned(ledger.acts) is None:
        raise ConfigError(f"set {ledger.set_name} is not pinned")
    return _act(ActKind.UNPIN, reason)


def suspend(ledger: Ledger, reason: str) -> Act:
    """Write nothing until resumed."""
    if suspended(ledger.acts):
        raise ConfigError(f"set {ledger.set_name} is suspended already")
    return _act(ActKind.SUSPEND, reason)


def resume(ledger: Ledger, reason: str) -> Act:
    """Lift a suspension."""
    if suspended(ledger.acts) is None:
        raise ConfigError(f"set {ledger.set_name} is not suspended")
    return _act(ActKind.RESUME, reason)


def approve(plan: Plan, key: str, binding: tuple[str, str], reason: str) -> Act:
    """Approve the step of this key, as it is in ``plan``; ``binding`` are the uid and the digest of it."""
    step = step_named(plan, key, APPROVABLE)
    if not any(gate.name in APPROVABLE for gate in step.closed_gates):
        raise ConfigError(f"{key} waits for no approval")
    uid, digest = binding
    return replace(_act(ActKind.APPROVE, reason), step=key, uid=uid, digest=digest)


def override(plan: Plan, key: str, name: str, binding: tuple[str, str], reason: str) -> Act:
    """Open one gate of the step of this key; the gate need not be named where only one is closed."""
    step = step_named(plan, key)
    closed = sorted({gate.name for gate in step.closed_gates})
    if not name and len(closed) == 1:
        name = closed[0]
    if name not in closed:
        listed = ", ".join(closed) or "none"
        raise ConfigError(f"say which gate of {key} with --gate; closed are: {listed}")
    if name in NEVER_OVERRIDDEN:
        raise ConfigError(f"the gate {name} cannot be overridden: {_reason_of(step, name)}")
    uid, digest = binding
    return replace(_act(ActKind.OVERRIDE, reason), step=key, uid=uid, digest=digest, gate=name)


def revoke(ledger: Ledger, key: str, reason: str) -> Act:
    """Take back what was approved or overridden of the step of this key; what was done by it stays done."""
    steps = {act.step for act in standing(ledger.acts)}
    if key not in steps:
        listed = ", ".join(f"'{step}'" for step in sorted(steps)) or "none"
        raise ConfigError(
            f"nothing of '{key}' was approved or overridden; approved or overridden are: {listed}"
        )
    return replace(_act(ActKind.REVOKE, reason), step=key)


def agree(ledger: Ledger, reason: str) -> Act:
    """Say that the members that were rebuilt or adopted may be pruned; bound to which they are."""
    members = {str(key): e.uid for key, e in ledger.entries.items() if e.how is not How.MADE}
    if not members:
        raise ConfigError(f"every member of set {ledger.set_name} may be pruned already")
    said = reason or f"{len(members)} members"
    return replace(_act(ActKind.AGREE, said), digest=digest_of(dict(members)))


def agreed(ledger: Ledger, act: Act) -> Ledger:
    """The ledger after ``act``, an agreement: its members are like any that the set made."""
    del act
    entries = {key: replace(entry, how=How.MADE) for key, entry in ledger.entries.items()}
    return replace(ledger, entries=entries)


def step_named(plan: Plan, key: str, gates: Iterable[str] = ()) -> Step:
    """The step of this key; else ConfigError with those that wait (for one of ``gates``)."""
    for step in plan.steps:
        if step.key == key:
            return step
    wanted = frozenset(gates)
    waiting = [
        f"'{step.key}'"
        for step in plan.held_steps
        if not wanted or wanted & {gate.name for gate in step.closed_gates}
    ]
    raise ConfigError(f"no step is called '{key}'; waiting are: {', '.join(waiting) or 'none'}")


def _act(kind: ActKind, reason: str) -> Act:
    return Act(kind, "", 0.0, reason)


def _to(kind: ActKind, generation: Generation, reason: str) -> Act:
    return replace(_act(kind, reason), generation=generation.number, revision=generation.revision)


def _numbered(ledger: Ledger, number: int) -> Generation:
    for generation in ledger.generations:
        if generation.number == number:
            return generation
    known = ", ".join(str(generation.number) for generation in ledger.generations)
    raise ConfigError(f"set {ledger.set_name} has no generation {number}; it remembers {known or 'none'}")


def _newest(ledger: Ledger) -> Generation:
    if ledger.newest is None:
        raise ConfigError(f"set {ledger.set_name} was never synced")
    return ledger.newest


def _reason_of(step: Step, name: str) -> str:
    return next(gate.reason for gate in step.closed_gates if gate.name == name)
