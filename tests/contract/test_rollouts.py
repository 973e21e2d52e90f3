"""How Deployments and ReplicaSets come from one template or size to the next."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.model import Body
from tests.contract.bench import Bench, condition
from tests.contract.looks import (
    all_of,
    images,
    is_ready,
    listed,
    names,
    number,
    pod,
    pods,
    refusal,
    status,
    stays,
    template,
    workload,
)

REVISION = "deployment.kubernetes.io/revision"


def web(version: str = "v1", *, replicas: int = 2, knobs: dict[str, str] | None = None, **spec: Any) -> Body:
    return workload("Deployment", template(version, **(knobs or {})), replicas=replicas, **spec)


def rolling(surge: Any, unavailable: Any) -> Body:
    return {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}, "type": "RollingUpdate"}


def settle(bench: Bench, body: Body, replicas: int = 2) -> None:
    bench.apply(body)
    bench.until("all pods", all_of(bench, body, replicas))
    bench.until("the others are gone", lambda: len(listed(bench, "", "Pod")) == replicas)


def sets(bench: Bench) -> dict[str, int]:
    """Version -> replicas asked for, by ReplicaSet."""
    found = listed(bench, "apps", "ReplicaSet")
    return {
        one["spec"]["template"]["spec"]["containers"][0]["image"].partition(":")[2]: one["spec"]["replicas"]
        for one in found
    }


NEVER = {"never_ready": "true"}


@pytest.mark.parametrize(
    ("strategy", "wanted"),
    [
        (rolling(1, 0), {"v1": 2, "v2": 1}),
        (rolling(0, 1), {"v1": 1, "v2": 1}),
        (rolling(1, 1), {"v1": 1, "v2": 2}),
        (rolling(2, 0), {"v1": 2, "v2": 2}),
        (rolling("50%", "50%"), {"v1": 1, "v2": 2}),
        (rolling("25%", "25%"), {"v1": 2, "v2": 1}),
        (rolling(0, "100%"), {"v1": 0, "v2": 2}),
    ],
    ids=["1-0", "0-1", "1-1", "2-0", "50%", "25%", "0-100%"],
)
def test_a_rollout_that_gets_stuck_stands_where_its_strategy_lets_it(
    bench: Bench, strategy: Body, wanted: dict[str, int]
) -> None:
    settle(bench, web(strategy=strategy))
    bench.apply(web("v2", knobs=NEVER, strategy=strategy))
    bench.until("stuck", lambda: sets(bench) == wanted)
    assert stays(bench, lambda: sets(bench) == wanted, 1)


def test_recreate_ends_the_old_pods_before_it_makes_new_ones(bench: Bench) -> None:
    settle(bench, web(strategy={"type": "Recreate"}, knobs={"slow_stop": "2"}))
    bench.apply(web("v2", strategy={"type": "Recreate"}))
    seen = []

    def done() -> bool:
        seen.append(set(images(listed(bench, "", "Pod"))))
        return all_of(bench, web(), 2)() and seen[-1] == {"v2"}

    bench.until("the new ones", done)
    assert {"v1", "v2"} not in seen


def test_a_pod_counts_as_available_after_min_ready_seconds(bench: Bench) -> None:
    body = web(replicas=1, minReadySeconds=3)
    bench.apply(body)
    bench.until("ready", lambda: number(bench, body, "readyReplicas") == (1,))
    assert number(bench, body, "availableReplicas") == (0,)
    assert condition(bench.must(body), "Available") == "False"
    bench.until("available", lambda: number(bench, body, "availableReplicas") == (1,))


def test_old_pods_stay_while_new_ones_are_ready_for_too_short(bench: Bench) -> None:
    strategy = rolling(1, 0)
    settle(bench, web(replicas=1, strategy=strategy), 1)
    bench.apply(web("v2", replicas=1, strategy=strategy, minReadySeconds=3))
    bench.until("the new one is ready", lambda: sum(map(is_ready, pods(bench))) == 2)
    assert images(pods(bench)) == ["v1", "v2"]
    bench.until("the old one goes", lambda: images(pods(bench)) == ["v2"])


def test_a_paused_deployment_rolls_out_nothing_and_scales(bench: Bench) -> None:
    settle(bench, web())
    bench.apply(web("v2", paused=True))
    bench.until("seen", lambda: status(bench, web()))
    assert stays(bench, lambda: sets(bench) == {"v1": 2}, 1)
    bench.apply(web("v2", replicas=3, paused=True))
    bench.until("scaled", lambda: images(pods(bench)) == ["v1"] * 3)
    assert condition(bench.must(web()), "Progressing") == "Unknown"
    bench.apply(web("v2", replicas=3, paused=False))
    bench.until("rolled out", lambda: images(pods(bench)) == ["v2"] * 3)


def test_a_rollback_uses_the_old_replicaset_again(bench: Bench) -> None:
    settle(bench, web())
    first = {one["metadata"]["uid"] for one in listed(bench, "apps", "ReplicaSet")}
    settle(bench, web("v2"))
    settle(bench, web("v1"))
    assert sets(bench) == {"v1": 2, "v2": 0}
    live = bench.must(web())
    assert live["metadata"]["annotations"][REVISION] == "3"
    used = {one["metadata"]["uid"] for one in listed(bench, "apps", "ReplicaSet") if one["spec"]["replicas"]}
    assert used == first


def test_a_rollback_of_a_stuck_rollout_ends_the_new_pods(bench: Bench) -> None:
    settle(bench, web())
    before = names(pods(bench))
    bench.apply(web("v2", knobs=NEVER))
    bench.until("a new pod", lambda: "v2" in images(pods(bench)))
    bench.apply(web())
    bench.until("it is gone", lambda: images(pods(bench)) == ["v1"] * 2)
    assert set(names(pods(bench))) & set(before)


def test_a_change_of_size_alone_is_no_rollout(bench: Bench) -> None:
    settle(bench, web(replicas=1), 1)
    settle(bench, web(replicas=3), 3)
    assert sets(bench) == {"v1": 3}
    settle(bench, web(replicas=0), 0)
    assert sets(bench) == {"v1": 0}
    assert condition(bench.must(web()), "Available") == "True"


def test_history_is_kept_up_to_its_limit(bench: Bench) -> None:
    for version in ("v1", "v2", "v3", "v4"):
        settle(bench, web(version, replicas=1, revisionHistoryLimit=1), 1)
    bench.until("two are left", lambda: sorted(sets(bench)) == ["v3", "v4"])


def test_a_rollout_without_progress_fails_after_its_deadline(bench: Bench) -> None:
    body = web(replicas=1, knobs=NEVER, progressDeadlineSeconds=2)
    bench.apply(body)
    bench.until("failed", lambda: condition(bench.must(body), "Progressing") == "False")
    rows = {row["type"]: row["reason"] for row in bench.must(body)["status"]["conditions"]}
    assert rows["Progressing"] == "ProgressDeadlineExceeded"


def test_a_pod_of_a_replicaset_that_is_deleted_comes_again(bench: Bench) -> None:
    settle(bench, web(replicas=1), 1)
    (one,) = pods(bench)
    bench.delete_soon(one)
    bench.until("another", lambda: names(pods(bench)) not in ([], names([one])))


def replicaset(replicas: int = 1, name: str = "set") -> Body:
    return workload("ReplicaSet", template(), name, replicas=replicas)


def test_a_replicaset_adopts_the_pods_that_it_selects(bench: Bench) -> None:
    bench.apply(pod("orphan"))
    bench.until("ready", lambda: is_ready(bench.live(pod("orphan"))))
    uid = bench.apply(replicaset())["metadata"]["uid"]
    bench.until("adopted", lambda: bench.must(pod("orphan"))["metadata"].get("ownerReferences"))
    (owner,) = bench.must(pod("orphan"))["metadata"]["ownerReferences"]
    assert (owner["uid"], owner["controller"]) == (uid, True)
    assert stays(bench, lambda: names(pods(bench)) == ["orphan"], 1)


def test_a_replicaset_lets_go_of_a_pod_whose_label_changes(bench: Bench) -> None:
    bench.apply(replicaset())
    bench.until("a pod", lambda: sum(map(is_ready, pods(bench))) == 1)
    (one,) = pods(bench)
    changed = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": one["metadata"]["name"], "namespace": "shop"},
    }
    changed["metadata"]["labels"] = {"app": "debug"}  # type: ignore[index]  # the dictionary of the line above
    bench.apply(changed, take_over=True)
    bench.until("released", lambda: not bench.must(one)["metadata"].get("ownerReferences"))
    bench.until("another", lambda: len(pods(bench)) == 1)


def test_a_replicaset_with_too_many_pods_ends_those_that_are_not_ready(bench: Bench) -> None:
    bench.apply(pod("good"))
    bench.apply(pod("bad", never_ready="true"))
    bench.until("one is ready", lambda: is_ready(bench.live(pod("good"))))
    bench.until("one runs", lambda: (bench.must(pod("bad")).get("status") or {}).get("phase") == "Running")
    bench.apply(replicaset())
    bench.until("one is left", lambda: names(pods(bench)) == ["good"])


def test_a_replicaset_does_not_touch_pods_of_another(bench: Bench) -> None:
    bench.apply(replicaset())
    bench.until("a pod", lambda: len(pods(bench)) == 1)
    bench.apply(replicaset(name="second"))
    bench.until("one each", lambda: len(pods(bench)) == 2)
    owners = {one["metadata"]["ownerReferences"][0]["name"] for one in pods(bench)}
    assert owners == {"set", "second"}


def test_a_pod_that_the_server_refuses_is_told_by_the_replicaset(bench: Bench) -> None:
    body = replicaset()
    body["spec"]["template"]["spec"]["serviceAccountName"] = "nobody"
    bench.apply(body)
    bench.until("told", lambda: condition(bench.must(body), "ReplicaFailure") == "True")
    assert pods(bench) == []


def test_a_selector_that_does_not_fit_the_template_is_refused(bench: Bench) -> None:
    body = replicaset()
    body["spec"]["selector"] = {"matchLabels": {"app": "other"}}
    assert refusal(lambda: bench.apply(body)) is not None
