"""The readiness table in users' hands: rows of their own, and every way to get one wrong."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.health import Health, HealthRules, Status
from agent.core.model import Body, GroupKind, LiveObject, ObjectId
from agent.errors import ConfigError
from tests.core.bodies import SHIPPED


def widget(status: Body) -> LiveObject:
    return LiveObject(ObjectId("example.org", "Widget", "app", "web"), {"status": status})


def table(**row: Any) -> tuple[str, Any]:
    return "mine.yaml", {"readiness": [{"kind": "Widget.example.org", **row}]}


def check(when: str, message: str = "no", status: str = "InProgress") -> Body:
    return {"when": when, "status": status, "message": message}


def test_a_users_row_judges_its_own_kind_and_takes_the_place_of_a_shipped_one() -> None:
    mine = table(
        values={"done": {"path": "status.done", "default": 0}},
        checks=[check("done < 3", "{done} of 3 done")],
        ready="{done} done",
    )
    rules = HealthRules.parse([*SHIPPED, mine])
    assert rules.judge(widget({"done": 1})) == Health(Status.IN_PROGRESS, "1 of 3 done")
    assert rules.judge(widget({"done": 3})) == Health(Status.CURRENT, "3 done")
    again = HealthRules.parse([*SHIPPED, mine, table(ready="whatever")])
    assert again.judge(widget({"done": 1})) == Health(Status.CURRENT, "whatever")


def test_a_check_that_cannot_be_evaluated_makes_the_object_unknown() -> None:
    rules = HealthRules.parse([table(checks=[check("object.status.done < 3")])])
    found = rules.judge(widget({}))
    assert found.status is Status.UNKNOWN
    assert not found.is_ready
    assert found.message.startswith("mine.yaml: readiness row 1, check 1: ")
    assert "done" in found.message


def test_a_check_that_is_neither_true_nor_false_makes_the_object_unknown() -> None:
    rules = HealthRules.parse([table(checks=[check("object.status.done")])])
    assert rules.judge(widget({"done": 3})) == Health(
        Status.UNKNOWN, "mine.yaml: readiness row 1, check 1: 3 is neither true nor false"
    )


def test_the_kinds_whose_state_the_server_itself_asks() -> None:
    rules = HealthRules.parse(SHIPPED)
    assert rules.gates_requests(GroupKind("apiregistration.k8s.io", "APIService"))
    assert not rules.gates_requests(GroupKind("", "Service"))
    assert not rules.gates_requests(GroupKind("example.org", "Widget"))


def test_files_without_the_table_are_passed_over() -> None:
    rules = HealthRules.parse([("kinds.yaml", {"kinds": []}), ("empty.yaml", None), *SHIPPED])
    assert rules.judge(widget({})).is_ready


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"kind": "widget"}, "readiness row 1, kind.0: 'widget': String should match"),
        ({"chekcs": []}, "readiness row 1, chekcs: not known"),
        (
            {"checks": [check("true", status="Ready")]},
            "readiness row 1, checks.0.status: 'Ready': Input should be 'Current', 'InProgress'",
        ),
        ({"checks": [check("1 +")]}, "readiness row 1, check 1, when: '1 +': Failed to parse"),
        (
            {"checks": [check("dome > 1")]},
            "check 1, when: 'dome > 1': dome is no value; allowed: object, observes",
        ),
        ({"checks": [check("true", "{dome}")]}, "check 1, message: {dome} is no value; allowed:"),
        ({"ready": "{dome}"}, "readiness row 1, ready: {dome} is no value; allowed:"),
        ({"values": {"a": {"cel": "b"}, "b": {"cel": "1"}}}, "value a, cel: 'b': b is no value"),
        ({"values": {"a": {}}}, "value a: nothing given; allowed: one of path, condition, cel"),
        ({"values": {"a": {"path": "x", "cel": "1"}}}, "value a: ['path', 'cel'] given; allowed: one of"),
        ({"values": {"a": {"path": "x[].y"}}}, "values.a.path: 'x[].y': Value error, a value is one field"),
        ({"values": {"a": {"path": "x[["}}}, "values.a.path: 'x[[': Value error, 'x[[' is no path"),
    ],
)
def test_a_wrong_row_names_file_row_field_and_what_is_allowed(row: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        HealthRules.parse([table(**row)])
    assert str(caught.value).startswith("mine.yaml: readiness row 1")
    assert says in str(caught.value)
