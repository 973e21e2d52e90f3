"""Which serving paths an allowed downtime lets off: those through what the upgrade changes, no others."""

from __future__ import annotations

import pytest

from agent.build import kinds_of
from agent.core.interruption import interrupting
from agent.core.manifests import load
from agent.core.model import Body, ObjectId
from agent.core.serving import Routes
from agent.core.terms import Terms
from agent.core.yamlread import read_documents
from tests.core.bodies import RULES
from tests.core.casefiles import shipped
from tests.shell.releases import ingress, web

ROUTES = Routes(shipped(), RULES)


def release(*texts: str) -> dict[ObjectId, Body]:
    readings = {f"{n}.yaml": read_documents(text.encode(), f"{n}.yaml") for n, text in enumerate(texts)}
    found = load(readings, kinds_of(), set_name="shop", revision="1", namespace="front")
    return {key: manifest.body for key, manifest in found.manifests.items()}


OLD = release(web("blue"), web("green"), ingress("front/blue"))
NEW = release(web("blue").replace("standin/http:1", "standin/http:2"), web("green"), ingress("front/blue"))
THROUGH_BLUE = {"Ingress front/front [shop.example /]", "Service front/blue [port 80]"}


@pytest.mark.parametrize(
    ("allowed", "paths"),
    [
        ((), set()),
        (("Deployment front/blue",), THROUGH_BLUE),
        (("Deployment",), THROUGH_BLUE),
        (("Deployment.apps",), THROUGH_BLUE),
        (("Deployment front/green",), set()),
        (("Service front/blue",), set()),
    ],
)
def test_only_what_is_allowed_and_changed_may_be_interrupted(
    allowed: tuple[str, ...], paths: set[str]
) -> None:
    terms = interrupting(Terms.between(OLD, NEW, ROUTES), OLD, NEW, allowed, ROUTES)
    assert set(map(str, terms.interrupted)) == paths
