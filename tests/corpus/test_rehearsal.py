"""Tekton 0.12 to 0.13, rehearsed whole: Deployments with other selectors, Services that choose their pods."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.core.model import Desired
from agent.core.orders import Order
from agent.core.rehearsal.answer import Rehearsal, Verdict
from agent.core.rehearsal.run import Script, rehearse
from agent.core.simulation.discovery import served_now
from agent.core.situation import Rules
from agent.shell.embedded import EmbeddedCluster
from tests.core.bodies import RULES
from tests.core.casefiles import shipped
from tests.corpus.releases import ARCHIVE, release

pytestmark = [
    pytest.mark.skipif(not ARCHIVE.is_file(), reason="the corpus is not here"),
    pytest.mark.slow,
    pytest.mark.timeout(3600),
]
START = 1_000.0


def served(wanted: Desired) -> Desired:
    """The release without what no server of today serves in the version that it names."""
    kinds, _ = served_now(EmbeddedCluster(START).world)
    kept = {
        key: manifest
        for key, manifest in wanted.manifests.items()
        if key.group_kind in kinds
        and manifest.api_version.rpartition("/")[2] in kinds[key.group_kind].versions
    }
    return replace(wanted, manifests=kept)


def rehearsed(order: Order) -> Rehearsal:
    base, head = (served(release("tekton-pipeline", version)) for version in ("0.12.0", "0.13.0"))
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
