"""Whether waiting helps: what only a person can open, and the command that would."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from agent.core.steps import NEEDS_A_PERSON, Gate, GateState, Plan, Step, Verb

_MOVES: Final = (Verb.CUTOVER, Verb.POINT_BACK)
_ADDS: Final = (Verb.CREATE, Verb.UPDATE, Verb.WIDEN, Verb.REPLACE)


def waits_for_a_person(plan: Plan) -> bool:
    """Whether nothing more happens until a person acts, however long one waits.

    So it is where every step is held, each by a gate that no waiting opens or by a step that is, and the
    handover itself waits for nothing else.
    """
    if plan.questions or not plan.steps or plan.open_steps:
        return False
    if all(_is_suspended(step) for step in plan.steps):
        return True
    stuck = [step for step in plan.steps if any(map(_is_a_persons, step.closed_gates))]
    if not stuck:
        return False
    by_themselves = [step for step in plan.steps if step not in stuck]
    return all(any(_waits_on(gate, stuck) for gate in step.closed_gates) for step in by_themselves) and all(
        gate.is_open or _waits_on(gate, stuck) for gate in plan.handover
    )


def for_a_person(plan: Plan) -> tuple[str, ...]:
    """What a person has to decide, a line for each step: its key and the reasons of its gates."""
    return tuple(
        f"{step.key}: {'; '.join(gate.reason for gate in step.closed_gates if _is_a_persons(gate))}"
        for step in plan.held_steps
        if any(map(_is_a_persons, step.closed_gates))
    )


def _is_a_persons(gate: Gate) -> bool:
    return gate.name in NEEDS_A_PERSON and gate.state is GateState.HELD


def _is_suspended(step: Step) -> bool:
    return any(gate.name == "suspended" for gate in step.closed_gates)


def _waits_on(gate: Gate, stuck: Iterable[Step]) -> bool:
    """Whether the gate waits for one of the steps that only a person frees, so that it cannot open either."""
    match gate.name:
        case "standing":
            return any(step.verb in _ADDS for step in stuck)
        case "settled":
            return any(step.verb in _MOVES for step in stuck)
        case "last":
            return True
        case "ready":
            return any(closed.name == "hook-failed" for step in stuck for closed in step.closed_gates)
        case _:
            return False
