"""What a PodDisruptionBudget counts."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.model import Body
from tests.contract.bench import Bench, condition, named
from tests.contract.looks import SELECTOR, is_ready, number, pod, pods, template, workload

FIELDS = ("expectedPods", "currentHealthy", "desiredHealthy", "disruptionsAllowed")


def budget(**spec: Any) -> Body:
    return named("policy/v1", "PodDisruptionBudget", "web", "shop", spec={"selector": SELECTOR, **spec})


def replicas(bench: Bench, count: int) -> None:
    body = workload("Deployment", template(), replicas=count)
    bench.apply(body)
    bench.until("ready", lambda: sum(map(is_ready, pods(bench))) == count)


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"minAvailable": 1}, (3, 3, 1, 2)),
        ({"minAvailable": "50%"}, (3, 3, 2, 1)),
        ({"minAvailable": "100%"}, (3, 3, 3, 0)),
        ({"maxUnavailable": 1}, (3, 3, 2, 1)),
        ({"maxUnavailable": "50%"}, (3, 3, 1, 2)),
        ({"maxUnavailable": 0}, (3, 3, 3, 0)),
        ({"minAvailable": 5}, (3, 3, 5, 0)),
    ],
    ids=str,
)
def test_a_budget_counts_the_pods_of_a_deployment(bench: Bench, spec: Body, wanted: tuple[int, ...]) -> None:
    replicas(bench, 3)
    bench.apply(budget(**spec))
    bench.until("counted", lambda: number(bench, budget(), *FIELDS) == wanted)
    assert condition(bench.must(budget()), "DisruptionAllowed") == str(wanted[-1] > 0)


def test_a_budget_for_more_percent_than_are_asked_expects_all_replicas(bench: Bench) -> None:
    # What counts is the controller's spec (disruption.go, getExpectedPodCount).
    body = workload("Deployment", template(never_ready="true"), replicas=4)
    bench.apply(body)
    bench.apply(budget(minAvailable="50%"))
    bench.until("counted", lambda: number(bench, budget(), *FIELDS) == (4, 0, 2, 0))


def test_a_pod_that_is_not_ready_is_not_healthy(bench: Bench) -> None:
    replicas(bench, 1)
    bench.apply(budget(minAvailable=1))
    bench.apply(pod("bad", never_ready="true"))
    bench.until("counted", lambda: number(bench, budget(), *FIELDS)[1:] == (1, 1, 0))


def test_a_budget_without_pods_allows_nothing(bench: Bench) -> None:
    bench.apply(budget(minAvailable=1))
    bench.until("counted", lambda: number(bench, budget(), *FIELDS) == (0, 0, 1, 0))


def test_an_empty_selector_selects_every_pod(bench: Bench) -> None:
    bench.apply(
        named("policy/v1", "PodDisruptionBudget", "web", "shop", spec={"selector": {}, "minAvailable": 1})
    )
    bench.apply(pod("one", app="a"))
    bench.apply(pod("two", app="b"))
    bench.until("counted", lambda: number(bench, budget(), *FIELDS) == (2, 2, 1, 1))


def test_a_bare_pod_counts_for_min_available_as_a_number_alone(bench: Bench) -> None:
    bench.apply(pod("bare"))
    bench.apply(budget(minAvailable=1))
    bench.until("counted", lambda: number(bench, budget(), *FIELDS) == (1, 1, 1, 0))
