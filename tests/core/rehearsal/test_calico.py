"""Calico's move of its API server, rehearsed: a small budget here, every scene in make test-all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.core.model import Desired
from agent.core.orders import Order
from agent.core.rehearsal.answer import Rehearsal, Verdict
from agent.core.rehearsal.run import Script, rehearse
from agent.core.situation import Rules
from tests.core.bodies import RULES
from tests.core.casefiles import shipped
from tests.core.rehearsal.calico import stored_kinds
from tests.core.rehearsal.small import release
from tests.e2e.releases import Files, enterprise


def wanted(revision: str, files: Files) -> Desired:
    """What a release's files want."""
    return release(revision, *files.values())


def calico(order: Order, budget: int) -> Rehearsal:
    """The move of Calico Enterprise's API server to another namespace."""
    layout = enterprise()
    rules = Rules("trapeze/shop", settle=10.0, allow=frozenset({"Namespace"}))
    base, head = wanted("base", layout.old_files()), wanted("head", layout.new_files())
    play = Script(base, head, shipped(), RULES, rules, order=order, disturbs=order is Order.GATED)
    return rehearse(stored_kinds(), replace(play, budget=budget))


def test_apply_then_prune_takes_the_api_away_and_the_story_says_at_which_step() -> None:
    answer = calico(Order.NAIVE, budget=30)
    assert answer.verdict is Verdict.BROKEN
    api = next(one for one in answer.stories if one.subject == "APIService v3.projectcalico.org")
    assert api.invariant in ("serving path", "pointed too early")
    assert any(one.invariant == "rights of a running pod" for one in answer.stories)


def test_nothing_breaks_in_the_first_scenes_and_the_rehearsal_says_that_it_saw_no_more() -> None:
    answer = calico(Order.GATED, budget=30)
    assert answer.stories == ()
    assert not answer.is_exhaustive
    assert answer.reach.scenes == 30


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_nothing_breaks_in_any_scene() -> None:
    answer = calico(Order.GATED, budget=20_000)
    assert answer.stories == ()
    assert answer.is_exhaustive
    assert answer.verdict is Verdict.KEPT
    assert answer.left_behind == ()
