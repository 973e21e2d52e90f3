"""What a step waits for by the clock: the set's windows, and the deadline that has passed."""

from __future__ import annotations

from agent.core.deadline import deadline_gate
from agent.core.situation import Situation
from agent.core.steps import Gate, Step, Verb
from agent.core.windows import window_gate


def timed(situation: Situation, step: Step) -> tuple[Gate, ...]:
    """The gates of the clock before this step; none for one that only adds, or that points back."""
    found = [window_gate(situation, step)]
    if not step.is_additive and step.verb is not Verb.POINT_BACK:
        found.append(deadline_gate(situation, moves=step.verb is Verb.CUTOVER))
    return tuple(gate for gate in found if gate is not None)
