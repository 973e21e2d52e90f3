"""Which requests one object's differences take."""

from __future__ import annotations

from typing import Any

from agent.build import kinds_of
from agent.core.manifests import load
from agent.core.model import Category, Desired
from agent.core.plan import make_plan
from agent.core.preview import between
from agent.core.situation import Rules
from agent.core.yamlread import read_documents
from tests.core.bodies import RULES
from tests.core.casefiles import shipped

ROLE = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules: %s
"""


def desired(text: str, revision: str) -> Desired:
    """One file as a set."""
    readings = {"a.yaml": read_documents(text.encode(), "a.yaml")}
    return load(readings, kinds_of(), set_name="shop", revision=revision, namespace="default")


def test_rules_written_in_another_way_are_written_and_take_nothing_away() -> None:
    every = '{apiGroups: [""], resources: [pods], verbs: ["*"]}'
    some = '{apiGroups: [""], resources: [pods], verbs: [get]}'
    base, head = desired(ROLE % f"[{every}]", "1"), desired(ROLE % f"[{every}, {some}]", "2")
    plan = make_plan(between(base, head, shipped(), RULES, Rules("trapeze/shop")))
    assert [(step.key, step.category) for step in plan.steps] == [
        ("update ClusterRole reader", Category.ADDITIVE)
    ]
    wanted: Any = head.manifests[plan.steps[0].id].body["rules"]
    assert plan.steps[0].body is not None
    assert plan.steps[0].body["rules"] == wanted
