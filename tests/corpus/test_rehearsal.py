"""Tekton 0.12 to 0.13, rehearsed whole: Deployments with other selectors, Services that choose their pods."""

from __future__ import annotations

import pytest

from agent.core.orders import Order
from agent.core.rehearsal.answer import Rehearsal, Verdict
from agent.core.rehearsal.run import Script, rehearse
from agent.core.situation import Rules
from agent.shell.embedded import EmbeddedCluster
from tests.core.bodies import RULES
from tests.core.casefiles import shipped
from tests.corpus.releases import ARCHIVE
from tests.corpus.tekton import tekton

pytestmark = [
    pytest.mark.skipif(not ARCHIVE.is_file(), reason="the corpus is not here"),
    pytest.mark.slow,
    pytest.mark.timeout(3600),
]
START = 1_000.0


def rehearsed(order: Order) -> Rehearsal:
    base, head = tekton()
    rules = Rules("trapeze/tekton-pipeline", settle=3.0, allow=frozenset({"Namespace"}))
    is_gated = order is Order.GATED
    script = Script(base, head, shipped(), RULES, rules, order=order, budget=20_000, disturbs=is_gated)
    return rehearse(EmbeddedCluster(START).world, script)


def test_in_our_order_nothing_breaks_in_any_scene_whatever_fails_or_comes_in_between() -> None:
    answer = rehearsed(Order.GATED)
    assert answer.stories == ()
    assert answer.is_exhaustive
    assert answer.verdict is Verdict.KEPT
    assert answer.left_behind == ()
    assert answer.reach.faults > 0
    assert answer.reach.changes > 0


def test_applied_and_pruned_both_services_lose_their_pods() -> None:
    answer = rehearsed(Order.NAIVE)
    assert answer.verdict is Verdict.BROKEN
    dropped = {one.subject.split(" [")[0] for one in answer.stories if one.invariant == "serving path"}
    name = "Service tekton-pipelines/tekton-pipelines"
    assert {f"{name}-controller", f"{name}-webhook"} <= dropped
