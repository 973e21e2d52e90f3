"""The checker: what it counts, when it is quiet, and that a copy goes its own way."""

from __future__ import annotations

import pytest

from agent.core.invariant import Invariant
from agent.core.model import Body
from agent.core.promise import INVARIANTS, PathRecord
from agent.core.states import Event
from tests.core.histories import (
    SERVING,
    api_service,
    checker,
    endpoints,
    gone,
    obj,
    ours,
    pod,
    service,
    told,
    verdict,
    walk,
    webhook,
)


def test_a_quiet_history_is_kept_and_every_state_is_counted() -> None:
    found = verdict((*SERVING, api_service()), pod("a"), endpoints("web", "a", "b"), pod("b"))
    assert (found.states, found.broken_states, found.broken) == (4, 0, ())
    assert found.is_kept
    assert [path.name for path in found.paths] == ["Service shop/web [port 80]", "APIService v1.example.org"]


def test_a_verdict_with_something_unseen_is_not_kept() -> None:
    judge = checker(SERVING)
    assert judge.verdict().is_kept
    assert not judge.verdict(["Pod: nothing between 5 and 9"]).is_kept


def test_a_path_record_tells_the_lowest_capacity_of_how_many_and_when() -> None:
    one = endpoints("web", "a")
    found = verdict(SERVING, one, endpoints("web", "a", "b"), one)
    assert found.is_kept
    assert found.paths == (PathRecord("Service shop/web [port 80]", 1, 2, 101, "2026-01-01T00:00:41Z"),)


def test_broken_lasts_from_its_first_state_until_it_is_mended() -> None:
    none = endpoints("web", "a", "b", ready=False)
    found = verdict(SERVING, pod("a"), none, pod("a"), pod("b"), endpoints("web", "a"), pod("a"))
    assert (found.states, found.broken_states) == (7, 3)
    (broken,) = found.broken
    assert (broken.version, broken.states, broken.is_mended) == (102, 3, True)
    assert str(broken) == (
        "serving path: Service shop/web [port 80]: Service shop/web has no ready endpoints"
        " (at 102 (2026-01-01T00:00:42Z), 3 states)"
    )


def test_a_verdict_in_lines_for_people() -> None:
    judge = walk(checker((*SERVING, autoscaler())), endpoints("web"))
    assert list(judge.verdict(["Pod: nothing between 5 and 9"]).lines()) == [
        "2 states, 1 of them broken",
        "path Service shop/web [port 80]: lowest 0 of 2 ready endpoints, at 101",
        "path HorizontalPodAutoscaler shop/web: needs no endpoints",
        (
            "serving path: Service shop/web [port 80]: Service shop/web has no ready endpoints"
            " (at 101 (2026-01-01T00:00:41Z), 1 state, to the end)"
        ),
        "not seen: Pod: nothing between 5 and 9",
    ]


def autoscaler() -> Body:
    ref = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    return obj("autoscaling/v2", "HorizontalPodAutoscaler", "web", "shop", spec={"scaleTargetRef": ref})


def test_broken_to_the_end_says_so() -> None:
    (broken,) = verdict(SERVING, endpoints("web")).broken
    assert not broken.is_mended
    assert str(broken).endswith("1 state, to the end)")


def test_a_state_with_two_broken_things_is_one_broken_state() -> None:
    found = verdict((*SERVING, api_service(), webhook()), endpoints("web"))
    assert found.broken_states == 1
    assert len(found.broken) == 3


def test_step_answers_what_is_newly_broken_and_nothing_twice() -> None:
    judge = checker(SERVING)
    body = endpoints("web")
    first = judge.step(Event(101, "", gone(body), body))
    again = judge.step(Event(102, "", gone(body), body))
    assert [broken.subject for broken in first] == ["Service shop/web [port 80]"]
    assert again == ()


def test_copies_go_their_own_ways() -> None:
    judge = walk(checker((*SERVING, ours(api_service()))), pod("a"))
    before = judge.verdict()
    other = judge.copy()
    walk(other, gone(service()), gone(pod("a")), gone(SERVING[6]), ours(api_service("x")), version=101)
    assert judge.verdict() == before
    walk(judge, pod("b"), version=101)
    assert judge.verdict().is_kept
    assert not other.verdict().is_kept
    again = walk(judge.copy(), gone(SERVING[6]), version=102)
    assert told(again.verdict())[1:] == [
        f"103 rights of a running pod: Pod shop/{name}:"
        " system:serviceaccount:shop:web has lost get pods, list pods"
        for name in "ab"
    ]


def test_the_same_history_gives_the_same_verdict_from_a_copy_taken_at_any_point() -> None:
    steps = (endpoints("web", "a"), gone(SERVING[6]), SERVING[6], endpoints("web"), gone(pod("a")), pod("c"))
    whole = walk(checker((*SERVING, webhook())), *steps).verdict()
    assert len(whole.broken) == 5
    for at in range(len(steps) + 1):
        judge = walk(checker((*SERVING, webhook())), *steps[:at]).copy()
        assert walk(judge, *steps[at:], version=100 + at).verdict() == whole


@pytest.mark.parametrize("invariant", INVARIANTS)
def test_every_invariant_has_a_name_of_its_own(invariant: type[Invariant]) -> None:
    names = [each.name for each in INVARIANTS]
    assert names.count(invariant.name) == 1
    assert invariant.__doc__


def test_five_thousand_states_of_a_large_cluster_are_judged_whole() -> None:
    many = [service(f"s{n}") for n in range(100)] + [endpoints(f"s{n}", "a", "b") for n in range(100)]
    pods = [pod(f"p{n}") for n in range(100)]
    judge = checker((*SERVING, *many, *pods))
    walk(judge, *(endpoints(f"s{n % 100}", *("ab" if n % 2 else "a")) for n in range(4990)))
    walk(judge, SERVING[6], endpoints("s7"), gone(pod("a")), version=5090)
    found = judge.verdict()
    assert found.states == 4994
    assert [path.lowest for path in found.paths].count(0) == 100 - 49
