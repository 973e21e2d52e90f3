"""The orders in which an upgrade can be written: ours, and those of other tools for comparison.

Other tools' orders stand in ``policies/tools.yaml``. None of them has our gates; what they do wait for (a
stage that must be ready before the next) is a gate of the plan like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any, Final

from agent.core.health import health
from agent.core.model import Form, ObjectId
from agent.core.plan import Maker, make_plan
from agent.core.pruning import NAMESPACE
from agent.core.situation import Situation
from agent.core.steps import Gate, GateState, Plan, Step, Verb
from agent.core.table_tools import Stage, ToolRow

_NEVER_APPLIED: Final = (Verb.DELETE, Verb.ABANDON, Verb.POINT_BACK, Verb.MIGRATE)
"""Whoever applies and prunes deletes apart, and looks back at nothing."""


class Order(Enum):
    """In which order a sync goes: gated, apply-then-prune, or as another tool would."""

    GATED = "gated"
    NAIVE = "naive"
    KUBECTL = "kubectl"
    HELM = "helm"
    FLUX = "flux"


def plan_in_order(situation: Situation, order: Order) -> Plan:
    """The same changes in this order.

    ``naive`` is apply-then-prune by kinds: every object at once in its final form, what is used before what
    uses it, then every delete the other way round, without a gate. ``kubectl`` is what ``kubectl apply`` of
    the namespaces, then of all files, and then ``kubectl delete`` do, which know no order of kinds: one
    request after another, file by file
    (https://kubernetes.io/docs/reference/kubectl/generated/kubectl_apply/).
    """
    plan = make_plan(situation)
    if order is Order.GATED or situation.desired.is_refused:
        return plan
    departures = Maker(situation).departures
    last = {step.id: step for step in plan.steps if step.verb not in _NEVER_APPLIED}
    applied = [replace(_ungated(step), form=Form.FINAL) for step in last.values() if step.body is not None]
    leaving = [step for step in plan.steps if step.id in departures]
    deleted = [step if _is_going(situation, step) else _ungated(step) for step in leaving]
    if order is Order.NAIVE:
        rank = situation.policy.rank
        applied.sort(key=lambda step: (rank(step.id.group_kind), step.id))
        deleted.sort(key=lambda step: (-rank(step.id.group_kind), step.id))
        return replace(plan, steps=(*applied, *deleted), handover=())
    if order is Order.KUBECTL:
        applied.sort(key=lambda step: (step.id.group_kind != NAMESPACE, _where(situation, step)))
        deleted.sort(key=lambda step: _where(situation, step))
        return replace(plan, steps=tuple(_one_by_one((*applied, *deleted))), handover=())
    (tool,) = (row for row in situation.policy.tables.tools if row.name == order.value)
    return replace(plan, steps=tuple(_as_tool(situation, tool, applied, deleted)), handover=())


def _as_tool(
    situation: Situation, tool: ToolRow, applied: Sequence[Step], deleted: Sequence[Step]
) -> Iterator[Step]:
    """One step after another, in the tool's order; what a stage waits for is a gate of the next one's."""

    def place(step: Step) -> tuple[Any, ...]:
        number = _stage_of(tool, step.id)
        return number, _place(tool.stages[number], step.id), *_within(situation, tool, step)

    waits: tuple[Gate, ...] = ()
    steps: list[Step] = []
    for number, stage in enumerate(tool.stages):
        own = sorted((step for step in applied if _stage_of(tool, step.id) == number), key=place)
        steps += [replace(step, gates=(*step.gates, *waits)) for step in own]
        if stage.waits:
            waits = (*waits, _ready(situation, tool, number))
    going = sorted(deleted, key=place, reverse=tool.removes == "reversed")
    steps += [replace(step, gates=(*step.gates, *waits)) for step in going]
    return _one_by_one(steps)


def _within(situation: Situation, tool: ToolRow, step: Step) -> tuple[Any, ...]:
    """The place of a step among those of its kind."""
    return ("", 0, step.id) if tool.within == "named" else _where(situation, step)


def _where(situation: Situation, step: Step) -> tuple[str, int, ObjectId]:
    """The place of a step's object in the files: of those that it is written from, else was last."""
    entry = situation.ledger.entries.get(step.id)
    bases = step.bases or (entry.bases if entry else ())
    return (bases[-1].file, bases[-1].document, step.id) if bases else ("", 0, step.id)


def _one_by_one(steps: Iterable[Step]) -> Iterator[Step]:
    """Each step waits for the one before it: these tools send one request after another."""
    before = ""
    for step in steps:
        first = Gate("sequence", "one request after another", GateState.HELD, f"{before} comes first")
        yield replace(step, gates=(*step.gates, first)) if before else step
        before = step.key


def _ready(situation: Situation, tool: ToolRow, number: int) -> Gate:
    """Everything that the stage applied is there and ready."""
    wants = f"stage {number + 1} of {tool.name} is ready"
    for key in sorted(situation.desired.manifests):
        if _stage_of(tool, key) != number:
            continue
        live = situation.live.get(key)
        if live is None:
            return Gate("stage", wants, GateState.HELD, f"{key} is not there")
        verdict = health(live, situation.health)
        if not verdict.is_ready:
            return Gate("stage", wants, GateState.HELD, f"{key}: {verdict.message}")
    return Gate("stage", wants, GateState.OPEN, wants)


def _stage_of(tool: ToolRow, key: ObjectId) -> int:
    """The stage that names the kind, else the one with the place for all others."""
    kind = str(key.group_kind)
    named = (n for n, stage in enumerate(tool.stages) if kind in stage.kinds)
    others = next((n for n, stage in enumerate(tool.stages) if "*" in stage.kinds), len(tool.stages) - 1)
    return next(named, others)


def _place(stage: Stage, key: ObjectId) -> int:
    kind = str(key.group_kind)
    return stage.kinds.index(kind if kind in stage.kinds else "*")


def _is_going(situation: Situation, step: Step) -> bool:
    """Deleted already: what it waits for is its end."""
    return situation.live.objects[step.id].is_deleting


def _ungated(step: Step) -> Step:
    gates = tuple(gate for gate in step.gates if gate.name in ("allowed", "suspended"))
    return replace(step, gates=gates, resource_version="")
