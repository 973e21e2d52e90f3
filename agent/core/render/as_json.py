"""A plan and a status as JSON values; their schema is published in docs/plan.schema.json."""

from __future__ import annotations

from typing import Any, Final

from agent.core.model import ABSENT, Action, Body, FieldChange, Finding, ObjectId, path_text
from agent.core.redact import masked
from agent.core.render.words import category_counts
from agent.core.steps import Change, Gate, Plan, Step

PLAN_FORMAT: Final = "trapeze.dev/plan/v1"


def as_json(plan: Plan, key: bytes) -> Body:
    """The plan as JSON; Secret values masked under ``key``, bodies of requests left out.

    A field's ``before`` or ``after`` is missing where the field is not there (null is a value).
    """
    changes = [change for change in plan.changes if change.action is not Action.NONE]
    return {
        "format": PLAN_FORMAT,
        "set": plan.set_name,
        "revision": plan.revision,
        "baseRevision": plan.base_revision,
        "generation": plan.generation,
        "done": plan.is_done,
        "needsPerson": plan.needs_a_person,
        "counts": {category.value: count for category, count in category_counts(plan).items()},
        "unchanged": plan.unchanged,
        "steps": [_step(step) for step in plan.steps],
        "handover": [_gate(gate) for gate in plan.handover],
        "gone": [id_json(object_id) for object_id in plan.gone],
        "changes": [_change(masked(change, key)) for change in changes],
        "findings": [_finding(finding) for finding in plan.findings],
        "warnings": list(plan.warnings),
    }


def id_json(object_id: ObjectId) -> Body:
    """Group (empty for the core group), kind, namespace (empty where there is none) and name."""
    return dict(object_id._asdict())


def _step(step: Step) -> Body:
    return {
        "key": step.key,
        "id": id_json(step.id),
        "verb": step.verb.value,
        "category": step.category.value,
        "form": step.form.value,
        "says": step.says,
        "open": step.is_open,
        "gates": [_gate(gate) for gate in step.gates],
    }


def _gate(gate: Gate) -> Body:
    return {"name": gate.name, "wants": gate.wants, "state": gate.state.value, "reason": gate.reason}


def _change(change: Change) -> Body:
    return {
        "id": id_json(change.id),
        "action": change.action.value,
        "category": change.category.value,
        "reason": change.reason,
        "fields": [_field(field) for field in change.fields],
    }


def _field(field: FieldChange) -> Body:
    sides: dict[str, Any] = {"before": field.before, "after": field.after}
    told = {side: value for side, value in sides.items() if value is not ABSENT}
    return {"path": path_text(field.path), "reason": field.reason.value, **told}


def _finding(finding: Finding) -> Body:
    origin = finding.origin
    place = {"file": origin.file, "document": origin.document, "line": origin.line} if origin else None
    return {
        "severity": finding.severity.value,
        "message": finding.message,
        "origin": place,
        "remedy": finding.remedy,
    }
