"""The order of apply-then-prune, for comparison: what ``kubectl apply`` and then ``kubectl delete`` do.

No gates at all; it shows what an upgrade would lose, and is never what a sync does unless asked by name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from agent.core.model import Form
from agent.core.plan import Maker, make_plan
from agent.core.situation import Situation
from agent.core.steps import Gate, Plan, Step, Verb

_NEVER_APPLIED: Final = (Verb.DELETE, Verb.ABANDON, Verb.POINT_BACK)
"""Whoever applies and prunes deletes apart, and looks back at nothing."""


def naive_plan(situation: Situation) -> Plan:
    """The same changes as ``make_plan``: every object at once in its final form, then every delete."""
    plan = make_plan(situation)
    if situation.desired.is_refused:
        return plan
    maker = Maker(situation)
    policy = situation.policy
    last = {step.id: step for step in plan.steps if step.verb not in _NEVER_APPLIED}
    applied = [_final(step) for step in last.values() if step.body is not None]
    applied.sort(key=lambda step: (policy.rank(step.id.group_kind), step.id))
    leaving = [step for step in plan.steps if step.id in maker.departures]
    deleted = [step if _is_going(situation, step) else _ungated(step) for step in leaving]
    deleted.sort(key=lambda step: (-policy.rank(step.id.group_kind), step.id))
    return replace(plan, steps=(*applied, *deleted), handover=())


def _is_going(situation: Situation, step: Step) -> bool:
    """Deleted already: what it waits for is its end."""
    return situation.live.objects[step.id].is_deleting


def _final(step: Step) -> Step:
    return replace(_ungated(step), form=Form.FINAL)


def _ungated(step: Step) -> Step:
    gates: tuple[Gate, ...] = tuple(gate for gate in step.gates if gate.name == "allowed")
    return replace(step, gates=gates, resource_version="")
