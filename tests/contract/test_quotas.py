"""ResourceQuotas and LimitRanges: what they refuse, and what they fill in."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.model import Body
from agent.errors import ClusterError
from tests.contract.bench import Bench, condition, config_map, named
from tests.contract.looks import listed, pod, refusal, template, workload


def quota(name: str = "limit", **hard: str) -> Body:
    return named("v1", "ResourceQuota", name, "shop", spec={"hard": hard})


def limits(**rest: Any) -> Body:
    return named("v1", "LimitRange", "limits", "shop", spec={"limits": [{"type": "Container", **rest}]})


def asking(name: str = "web", limit: Body | None = None, **requests: str) -> Body:
    body = pod(name)
    body["spec"]["containers"][0]["resources"] = {
        **({"requests": requests} if requests else {}),
        **({"limits": limit} if limit else {}),
    }
    return body


def counted(bench: Bench, body: Body) -> Body:
    """Apply a quota and wait until it is counted; its status."""
    bench.apply(body)
    wanted = set(body["spec"]["hard"])
    bench.until("counted", lambda: set((bench.must(body).get("status") or {}).get("used") or ()) == wanted)
    status: Body = bench.must(body)["status"]
    return status


def used(bench: Bench, resource: str) -> str:
    return str(bench.must(quota())["status"]["used"][resource])


def is_exceeded(error: ClusterError | None) -> bool:
    return error is not None and "exceeded quota" in str(error)


def test_a_quota_counts_what_stands_already(bench: Bench) -> None:
    bench.apply(config_map("one"))
    status = counted(bench, quota(configmaps="9"))
    assert status["hard"] == {"configmaps": "9"}
    # kube-root-ca.crt stands in every namespace.
    assert status["used"] == {"configmaps": "2"}


@pytest.mark.parametrize("resource", ["configmaps", "count/configmaps"])
def test_a_quota_refuses_one_object_too_many(bench: Bench, resource: str) -> None:
    counted(bench, quota(**{resource: "2"}))
    bench.apply(config_map("one"))
    error = refusal(lambda: bench.apply(config_map("two")))
    assert is_exceeded(error), error


def test_a_quota_does_not_refuse_changes_of_what_is_there(bench: Bench) -> None:
    bench.apply(config_map("one"))
    counted(bench, quota(configmaps="1"))
    assert bench.apply(config_map("one", a="1"))["data"] == {"a": "1"}


def test_a_deleted_object_makes_room(bench: Bench) -> None:
    made = bench.apply(config_map("one"))
    counted(bench, quota(configmaps="2"))
    assert is_exceeded(refusal(lambda: bench.apply(config_map("two"))))
    bench.delete(made)
    bench.until("there is room", lambda: refusal(lambda: bench.apply(config_map("two"))) is None)


def test_a_quota_refuses_pods_beyond_its_cpu(bench: Bench) -> None:
    counted(bench, quota(**{"requests.cpu": "1"}))
    bench.apply(asking("one", cpu="600m"))
    assert is_exceeded(refusal(lambda: bench.apply(asking("two", cpu="600m"))))
    bench.apply(asking("three", cpu="400m"))


def test_a_quota_of_cpu_wants_every_pod_to_say_what_it_asks_for(bench: Bench) -> None:
    counted(bench, quota(**{"requests.cpu": "1"}))
    error = refusal(lambda: bench.apply(pod()))
    assert error is not None
    assert "must specify requests.cpu" in str(error)


def test_a_quota_stops_a_rollout_and_the_replicaset_says_why(bench: Bench) -> None:
    counted(bench, quota(pods="1"))
    body = workload("Deployment", template(), replicas=2)
    bench.apply(body)
    bench.until("told", lambda: condition(bench.must(body), "ReplicaFailure") == "True")
    bench.until("one pod", lambda: len(listed(bench, "", "Pod")) == 1)


def test_a_larger_quota_lets_the_rest_come(bench: Bench) -> None:
    counted(bench, quota(pods="1"))
    body = workload("Deployment", template(), replicas=2)
    bench.apply(body)
    bench.until("one pod", lambda: len(listed(bench, "", "Pod")) == 1)
    bench.apply(quota(pods="2"))
    bench.until("two pods", lambda: len(listed(bench, "", "Pod")) == 2, 60)


def test_the_default_request_of_a_limit_range_is_filled_in(bench: Bench) -> None:
    bench.apply(limits(defaultRequest={"cpu": "100m"}, default={"cpu": "200m"}))
    bench.until("it counts", lambda: resources(bench.dry_run(pod())))
    assert resources(bench.apply(pod())) == {"requests": {"cpu": "100m"}, "limits": {"cpu": "200m"}}


def test_a_default_limit_is_the_default_request_too(bench: Bench) -> None:
    bench.apply(limits(default={"cpu": "200m"}))
    bench.until("it counts", lambda: resources(bench.dry_run(pod())))
    assert resources(bench.apply(pod())) == {"requests": {"cpu": "200m"}, "limits": {"cpu": "200m"}}


def resources(body: Body) -> Body:
    found: Body = body["spec"]["containers"][0].get("resources") or {}
    return found


@pytest.mark.parametrize(
    ("rest", "given"),
    [
        ({"max": {"cpu": "1"}}, asking(limit={"cpu": "2"}, cpu="2")),
        ({"min": {"cpu": "500m"}}, asking(limit={"cpu": "1"}, cpu="100m")),
    ],
    ids=["max", "min"],
)
def test_a_limit_range_refuses_what_is_out_of_its_bounds(bench: Bench, rest: Body, given: Body) -> None:
    bench.apply(limits(**rest))
    bench.until("it counts", lambda: refusal(lambda: bench.dry_run(given)))
    assert refusal(lambda: bench.apply(given)) is not None
    fine = asking(limit={"cpu": "800m"}, cpu="600m")
    assert refusal(lambda: bench.apply(fine)) is None


def test_a_limit_range_fills_in_what_a_quota_asks_for(bench: Bench) -> None:
    counted(bench, quota(**{"requests.cpu": "1"}))
    bench.apply(limits(defaultRequest={"cpu": "100m"}))
    bench.until("it counts", lambda: refusal(lambda: bench.dry_run(pod())) is None)
    bench.apply(pod())
    bench.until("it is counted", lambda: used(bench, "requests.cpu") == "100m")
