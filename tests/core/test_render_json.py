"""Plans and status as JSON: what programs get is what the published schema says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agent.core.ledger import Generation, GenerationState, Hold, Ledger
from agent.core.model import Action, Category, FieldChange, Form, ObjectId, Reason, Severity
from agent.core.render import as_json, status_json
from agent.core.steps import Change, GateState, Plan, Verb
from tests.core.plans import HOSTILE, KEY, NEW, OLD, handoff, hostile

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "docs" / "plan.schema.json").read_text(encoding="utf-8")
)
VALIDATOR = Draft202012Validator(SCHEMA)


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("plan", [handoff(), hostile(), Plan("web", NEW, "", 1, (), (), 0)])
def test_plans_fit_the_schema(plan: Plan) -> None:
    shown = json.loads(json.dumps(as_json(plan, KEY)))
    assert [error.message for error in VALIDATOR.iter_errors(shown)] == []


def test_the_schema_names_every_value_of_our_enums() -> None:
    definitions = SCHEMA["$defs"]
    assert definitions["step"]["properties"]["verb"]["enum"] == [verb.value for verb in Verb]
    assert definitions["step"]["properties"]["form"]["enum"] == [form.value for form in Form]
    assert definitions["gate"]["properties"]["state"]["enum"] == [state.value for state in GateState]
    assert definitions["category"]["enum"] == [category.value for category in Category]
    assert definitions["field"]["properties"]["reason"]["enum"] == [reason.value for reason in Reason]
    assert definitions["finding"]["properties"]["severity"]["enum"] == [one.value for one in Severity]
    actions = [action.value for action in Action if action is not Action.NONE]
    assert definitions["change"]["properties"]["action"]["enum"] == actions


def test_a_plan_as_json_says_what_the_plan_holds() -> None:
    shown = as_json(handoff(), KEY)
    assert shown["counts"] == {"additive": 4, "shared-subject-rewrite": 1, "repoint": 1, "prune": 7}
    assert len(shown["changes"]) == 13, "an object that is as it shall be is no change"
    cutover = shown["steps"][6]
    assert cutover["key"] == "cutover APIService v3.projectcalico.org"
    assert cutover["open"] is False
    assert cutover["gates"][0]["state"] == "held"


def test_a_missing_field_differs_from_null() -> None:
    thing = ObjectId("", "ConfigMap", "apps", "a")
    shown = as_json(handoff(), KEY)["changes"][5]["fields"][1]
    assert "before" not in shown
    null = FieldChange(("data", "k"), None, "v")
    plan = Plan("web", NEW, OLD, 2, (Change(thing, Action.UPDATE, Category.ADDITIVE, "", (null,)),), (), 0)
    assert as_json(plan, KEY)["changes"][0]["fields"] == [
        {"path": "data.k", "reason": "git", "before": None, "after": "v"}
    ]


def test_secret_values_are_masked() -> None:
    shown = json.dumps(as_json(handoff(), KEY))
    assert "b2xkIGtleQ==" not in shown
    assert "bmV3IGtleQ==" not in shown


def test_status_as_json_holds_what_the_ledger_holds() -> None:
    ledger = Ledger(
        "calico",
        (Generation(7, NEW, GenerationState.ROLLING_OUT, 10.0),),
        holds={"delete Namespace old": Hold(12.5, HOSTILE)},
    )
    shown = status_json([ledger, Ledger("new")])
    assert shown["sets"][0]["newest"] == 7
    assert shown["sets"][0]["holds"] == [{"step": "delete Namespace old", "since": 12.5, "reason": HOSTILE}]
    assert {key: value for key, value in shown["sets"][1].items() if value} == {"set": "new"}
    assert shown["sets"][1].keys() == shown["sets"][0].keys()
