"""Small bodies for the tests of readiness, and the shipped table to judge them by."""

from __future__ import annotations

from typing import Any

from agent.core.health import HealthRules, Status, health
from agent.core.model import Body, LiveObject, ObjectId
from agent.core.policy import group_kind
from agent.shell.policies import read_tables, shipped_folder

SHIPPED = list(read_tables([shipped_folder() / "readiness.yaml"]))
RULES = HealthRules.parse(SHIPPED)


def obj(kind: str, spec: Any = None, status: Any = None, **metadata: Any) -> LiveObject:
    body: Body = {"metadata": {"name": "web", **metadata}}
    body |= {key: value for key, value in (("spec", spec), ("status", status)) if value is not None}
    return LiveObject(ObjectId(*group_kind(kind), "app", "web"), body)


def judged(kind: str, spec: Any = None, status: Any = None, **metadata: Any) -> tuple[Status, str]:
    found = health(obj(kind, spec, status, **metadata), RULES)
    return found.status, found.message


def when(type_: str, status: str, reason: str = "", message: str = "", **more: Any) -> Body:
    return {"type": type_, "status": status, "reason": reason, "message": message, **more}


def conditions(*each: Body, **more: Any) -> Body:
    return {"conditions": list(each), **more}
