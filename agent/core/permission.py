"""What every step of a plan waits for: that all of it is permitted, and that every question is answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent.core.model import Finding, Severity
from agent.core.situation import Situation
from agent.core.steps import Access, Gate, GateState, Question, Step, Verb
from agent.core.table_replacements import Way

_VERBS = {
    Verb.CREATE: ("create", "patch"),
    Verb.DELETE: ("delete",),
    Verb.MIGRATE: ("update",),
    Verb.REPLACE: ("delete", "create", "patch"),
}
_SHOWN = 3


def accesses(step: Step) -> tuple[Access, ...]:
    """The rights that the step's requests need (an apply is a patch, and a create where nothing is there)."""
    verbs = (*_VERBS.get(step.verb, ("patch",)), *(("update",) if step.withdraws else ()))
    if step.way is Way.HOLD:
        verbs = ()
    own = [Access(verb, *step.id.group_kind, step.id.namespace, "") for verb in verbs]
    return (*own, *(Access("delete", *one.id.group_kind, one.id.namespace, "") for one in step.orphans))


def missing(situation: Situation, steps: Iterable[Step]) -> tuple[Gate, ...]:
    """One missing right holds every step: a handoff does not stop half-way for want of it."""
    asked = {access for step in steps for access in accesses(step)}
    answers = [(access, situation.answers.get(access)) for access in sorted(asked)]
    closed = [(access, a) for access, a in answers if a and a.state is not GateState.OPEN]
    if not closed:
        return ()
    state = GateState.HELD if any(a.state is GateState.HELD for _, a in closed) else GateState.UNKNOWN
    may_not = "may not" if state is GateState.HELD else "not known whether we may"
    shown = [(access, a) for access, a in closed if a.state is state][:_SHOWN]
    said = "; ".join(f"{may_not} {a.verb} {a.kind} {a.namespace}: {answer.reason}" for a, answer in shown)
    return (Gate("allowed", "every request of the plan is permitted", state, said),)


def told(denied: Iterable[Gate]) -> Iterator[Finding]:
    """A right that is missing is an error that a person must act on; one that is not known may come."""
    for gate in denied:
        if gate.state is GateState.HELD:
            yield Finding(Severity.OBJECT, gate.reason, remedy="grant it to the agent; nothing is written")


def unanswered(situation: Situation, questions: frozenset[Question]) -> tuple[Gate, ...]:
    """No step goes before the cluster has answered; a preview asks nothing and carries nothing out."""
    if not situation.is_observed or not questions:
        return ()
    said = f"{len(questions)} of them are not answered yet"
    return (Gate("asked", "the cluster has answered every question of the plan", GateState.UNKNOWN, said),)
