"""A pointer with a CA bundle moves only where that verifies the new backend, and to a port that is there."""

from __future__ import annotations

import pytest

from agent.core.facet import Facet, FacetKind
from agent.core.model import Body, Category, ObjectId
from agent.core.steps import Answer, GateState, Trust
from agent.core.trust import question_of, reachable, trusted
from tests.core.histories import obj
from tests.core.scenes import BLUE, GREEN, answered, app, running, said, scene

OPEN, HELD, UNKNOWN = GateState.OPEN, GateState.HELD, GateState.UNKNOWN
KEY = ObjectId("apiregistration.k8s.io", "APIService", "", "v1.example.org")
AT = ("spec", "service")
FACET = Facet(FacetKind.POINTS, Category.REPOINT, (), "moves", AT, old=BLUE, new=GREEN)


def api(service: str, bundle: str = "", port: int = 80) -> str:
    ca = f", caBundle: {bundle}" if bundle else ""
    return (
        app("green")
        + f"""
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {{name: v1.example.org}}
spec: {{group: example.org, version: v1, service: {{namespace: shop, name: {service}, port: {port}}}{ca}}}
"""
    )


def injected() -> Body:
    spec = {"service": {"namespace": "shop", "name": "blue", "port": 80}, "caBundle": "bGl2ZQ=="}
    return obj("apiregistration.k8s.io/v1", "APIService", "v1.example.org", spec=spec)


IN_GIT = scene(api("blue", "Z2l0"), api("green", "Z2l0"), *running("green"))
IN_LIVE = scene(api("blue"), api("green"), *running("green"), injected())
BARE = scene(api("blue"), api("green"), *running("green"))


def test_what_is_asked_is_the_bundle_that_will_count() -> None:
    assert question_of(IN_GIT, KEY, FACET) == Trust("shop", "green", 80, "Z2l0")
    assert question_of(IN_LIVE, KEY, FACET) == Trust("shop", "green", 80, "bGl2ZQ==")
    assert question_of(BARE, KEY, FACET) is None
    assert trusted(BARE, KEY, FACET) is None


def test_a_placeholder_in_git_is_no_bundle() -> None:
    filled = scene(api("blue", "Cg=="), api("green", "Cg=="), *running("green"), injected())
    assert question_of(filled, KEY, FACET) == Trust("shop", "green", 80, "bGl2ZQ==")


@pytest.mark.parametrize(
    ("answer", "in_git", "in_live"),
    [
        (None, UNKNOWN, UNKNOWN),
        (Answer(OPEN), OPEN, OPEN),
        (Answer(HELD, "unknown authority"), HELD, HELD),
        (Answer(UNKNOWN, "no route"), OPEN, UNKNOWN),
    ],
)
def test_a_bundle_that_stands_in_git_alone_may_go_unasked(
    answer: Answer | None, in_git: GateState, in_live: GateState
) -> None:
    for situation, expected in ((IN_GIT, in_git), (IN_LIVE, in_live)):
        question = question_of(situation, KEY, FACET)
        assert question is not None
        told = answered(situation, {question: answer}) if answer else situation
        gate = trusted(told, KEY, FACET)
        assert gate is not None
        assert gate.state is expected


def test_a_port_that_the_service_lacks_holds() -> None:
    assert said(reachable(BARE, KEY, AT, GREEN)) == "open port: Service shop/green has port 80"
    wrong = scene(api("green", port=9), api("green", port=9), *running("green"))
    held = "held port: Service shop/green has port 80, the pointer names 9"
    assert said(reachable(wrong, KEY, AT, GREEN)) == held
    assert reachable(BARE, KEY, AT, BLUE) is None, "a Service that is not there has its own gate"
