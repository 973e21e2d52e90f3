"""What the server's dry run says of the steps of one object."""

from __future__ import annotations

from dataclasses import replace

from agent.core.facet import Facet, FacetKind
from agent.core.steps import Answer, Gate, GateState, Step


def is_refused_in_place(parts: tuple[Facet, ...], answer: Answer | None) -> bool:
    """The server's word goes over the table's: what it took in a dry run it takes."""
    if answer and answer.state is not GateState.UNKNOWN:
        return answer.immutable
    return any(part.kind is FacetKind.IMMUTABLE for part in parts)


def with_answer(step: Step, answer: Answer | None) -> Step:
    """The step with the gate that the answer closes, if it closes one."""
    if answer is None or answer.state is GateState.OPEN:
        return step
    if answer.conflict:
        reason = f"{answer.conflict} owns what differs: {answer.reason}; name it under take_over or let it be"
        gate = Gate("owned", "no other field manager owns what differs", GateState.HELD, reason)
    elif answer.state is GateState.UNKNOWN and step.is_additive:
        return step
    else:
        gate = Gate("accepted", "the API server accepts it in a dry run", answer.state, answer.reason)
    return replace(step, gates=(*step.gates, gate))
