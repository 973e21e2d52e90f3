"""How StatefulSets and DaemonSets come from one template to the next, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.model import Body
from tests.contract.bench import Bench, named
from tests.contract.looks import (
    all_of,
    images,
    is_ready,
    listed,
    names,
    number,
    pods,
    stays,
    template,
    workload,
)


def stateful(
    version: str = "v1", *, replicas: int = 2, knobs: dict[str, str] | None = None, **spec: Any
) -> Body:
    return workload(
        "StatefulSet", template(version, **(knobs or {})), "db", replicas=replicas, serviceName="db", **spec
    )


def daemon(version: str = "v1", *, knobs: dict[str, str] | None = None, **spec: Any) -> Body:
    return workload("DaemonSet", template(version, **(knobs or {})), "agent", **spec)


def settle(bench: Bench, body: Body, replicas: int) -> None:
    bench.apply(body)
    bench.until("all pods", all_of(bench, body, replicas))


def versions(bench: Bench) -> dict[str, str]:
    found = pods(bench)
    return {one["metadata"]["name"]: images([one])[0] for one in found}


NEVER = {"never_ready": "true"}
ON_DELETE: dict[str, Any] = {"updateStrategy": {"type": "OnDelete"}}


def test_pods_of_a_stateful_set_have_their_numbers(bench: Bench) -> None:
    settle(bench, stateful(), 2)
    assert names(pods(bench)) == ["db-0", "db-1"]


def test_with_ordered_ready_the_second_pod_waits_for_the_first(bench: Bench) -> None:
    bench.apply(stateful(knobs=NEVER))
    bench.until("the first", lambda: names(pods(bench)) == ["db-0"])
    assert stays(bench, lambda: names(pods(bench)) == ["db-0"], 1.5)


def test_with_parallel_all_pods_start_at_once(bench: Bench) -> None:
    bench.apply(stateful(knobs=NEVER, podManagementPolicy="Parallel"))
    bench.until("both", lambda: names(pods(bench)) == ["db-0", "db-1"])


def test_a_rolling_update_goes_from_the_highest_number_down(bench: Bench) -> None:
    settle(bench, stateful(), 2)
    bench.apply(stateful("v2", knobs=NEVER))
    bench.until("the highest", lambda: versions(bench) == {"db-0": "v1", "db-1": "v2"})
    assert stays(bench, lambda: versions(bench).get("db-0") == "v1", 1.5)


def test_a_rolling_update_ends_with_all_pods_new(bench: Bench) -> None:
    settle(bench, stateful(), 2)
    settle(bench, stateful("v2"), 2)
    assert versions(bench) == {"db-0": "v2", "db-1": "v2"}
    live = bench.must(stateful())["status"]
    assert live["currentRevision"] == live["updateRevision"]


def test_a_stuck_ordered_update_is_not_mended_by_going_back(bench: Bench) -> None:
    # kubernetes.io/docs/concepts/workloads/controllers/statefulset, "Forced rollback".
    settle(bench, stateful(), 2)
    bench.apply(stateful("v2", knobs=NEVER))
    bench.until("stuck", lambda: versions(bench) == {"db-0": "v1", "db-1": "v2"})
    bench.until("it runs", lambda: (bench.must(pod_of("db-1")).get("status") or {}).get("phase") == "Running")
    bench.apply(stateful())
    stuck = stays(bench, lambda: versions(bench).get("db-1") != "v1", 2)
    bench.delete_soon(pod_of("db-1"))
    bench.until("mended", all_of(bench, stateful(), 2))
    assert stuck


def pod_of(name: str) -> Body:
    return named("v1", "Pod", name, "shop")


def test_pods_below_the_partition_stay_old(bench: Bench) -> None:
    parted: dict[str, Any] = {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}}
    settle(bench, stateful(**parted), 2)
    bench.apply(stateful("v2", **parted))
    bench.until("the upper one", lambda: versions(bench) == {"db-0": "v1", "db-1": "v2"})
    bench.until(
        "it is ready", lambda: number(bench, stateful(), "readyReplicas", "updatedReplicas") == (2, 1)
    )
    assert stays(bench, lambda: versions(bench)["db-0"] == "v1", 1)


def test_a_pod_below_the_partition_comes_again_as_it_was(bench: Bench) -> None:
    parted: dict[str, Any] = {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}}
    settle(bench, stateful(**parted), 2)
    bench.apply(stateful("v2", **parted))
    bench.until(
        "the upper one", lambda: number(bench, stateful(), "readyReplicas", "updatedReplicas") == (2, 1)
    )
    uid = bench.must(pod_of("db-0"))["metadata"]["uid"]
    bench.delete_soon(pod_of("db-0"))
    bench.until(
        "another", lambda: (bench.live(pod_of("db-0")) or {}).get("metadata", {}).get("uid", uid) != uid
    )
    assert versions(bench)["db-0"] == "v1"


def test_a_stateful_set_on_delete_waits_for_somebody_to_delete(bench: Bench) -> None:
    settle(bench, stateful(replicas=1, **ON_DELETE), 1)
    bench.apply(stateful("v2", replicas=1, **ON_DELETE))
    bench.until("seen", lambda: number(bench, stateful(), "readyReplicas", "updatedReplicas") == (1, 0))
    assert stays(bench, lambda: versions(bench) == {"db-0": "v1"}, 1)
    bench.delete_soon(pod_of("db-0"))
    bench.until("the new one", lambda: versions(bench) == {"db-0": "v2"})


def test_a_smaller_stateful_set_ends_the_highest_numbers(bench: Bench) -> None:
    settle(bench, stateful(replicas=3), 3)
    settle(bench, stateful(replicas=1), 1)
    bench.until("one is left", lambda: names(listed(bench, "", "Pod")) == ["db-0"])


def test_claims_stay_when_the_stateful_set_goes(bench: Bench) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    body = stateful(replicas=1, volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": spec}])
    bench.apply(body)
    bench.until("a claim", lambda: names(listed(bench, "", "PersistentVolumeClaim")) == ["data-db-0"])
    bench.delete_soon(body)
    bench.until("no pods", lambda: bench.live(body) is None and not listed(bench, "", "Pod"))
    assert names(listed(bench, "", "PersistentVolumeClaim")) == ["data-db-0"]


def test_a_daemon_set_has_one_pod_on_the_node(bench: Bench) -> None:
    settle(bench, daemon(), 1)
    assert number(bench, daemon(), "desiredNumberScheduled", "numberAvailable") == (1, 1)


def test_a_daemon_set_ends_the_old_pod_first(bench: Bench) -> None:
    settle(bench, daemon(), 1)
    bench.apply(daemon("v2", knobs=NEVER))
    bench.until("the old one is gone", lambda: images(pods(bench)) == ["v2"])
    bench.until("none is ready", lambda: number(bench, daemon(), "numberReady") == (0,))


def test_a_daemon_set_with_surge_keeps_the_old_pod_until_the_new_one_is_ready(bench: Bench) -> None:
    surging: dict[str, Any] = {
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    }
    settle(bench, daemon(**surging), 1)
    bench.apply(daemon("v2", knobs=NEVER, **surging))
    bench.until("both", lambda: images(pods(bench)) == ["v1", "v2"])
    assert stays(bench, lambda: images(pods(bench)) == ["v1", "v2"], 1)
    bench.apply(daemon("v3", **surging))
    bench.until("the newest alone", lambda: images(pods(bench)) == ["v3"])


def test_a_daemon_set_on_delete_waits_for_somebody_to_delete(bench: Bench) -> None:
    settle(bench, daemon(**ON_DELETE), 1)
    bench.apply(daemon("v2", **ON_DELETE))
    bench.until("seen", lambda: number(bench, daemon(), "numberReady", "updatedNumberScheduled") == (1, 0))
    assert stays(bench, lambda: images(pods(bench)) == ["v1"], 1)
    (one,) = pods(bench)
    bench.delete_soon(one)
    bench.until("the new one", lambda: images(pods(bench)) == ["v2"])


@pytest.mark.parametrize(("labels", "count"), [({"kubernetes.io/os": "linux"}, 1), ({"disk": "fast"}, 0)])
def test_a_daemon_set_counts_the_nodes_that_its_selector_fits(
    bench: Bench, labels: dict[str, str], count: int
) -> None:
    body = daemon()
    body["spec"]["template"]["spec"]["nodeSelector"] = labels
    bench.apply(body)
    bench.until("seen", lambda: number(bench, body, "observedGeneration") != (0,))
    bench.until("counted", lambda: number(bench, body, "desiredNumberScheduled") == (count,))
    bench.until("its pods", lambda: sum(map(is_ready, pods(bench))) == count)


def test_a_daemon_set_with_min_ready_seconds_is_available_later(bench: Bench) -> None:
    body = daemon(minReadySeconds=3)
    bench.apply(body)
    bench.until("ready", lambda: number(bench, body, "numberReady") == (1,))
    assert number(bench, body, "numberAvailable") == (0,)
    bench.until("available", lambda: number(bench, body, "numberAvailable") == (1,))
