"""Each knob does what it says."""

from typing import Any

from tests.rig.cluster import Cluster
from tests.rig.test_pods import NAMESPACE, SERVICE, deployment


def pod(name: str = "one", *, spec: dict[str, Any] | None = None, **knobs: str) -> dict[str, Any]:
    """A single pod in the namespace web."""
    template = deployment(**knobs)["spec"]["template"]
    meta = {**template["metadata"], "name": name, "namespace": "web"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {**template["spec"], **(spec or {})}}


def state(cluster: Cluster, name: str = "one") -> dict[str, Any]:
    """The pod's status, or nothing when there is no pod."""
    body = cluster.get("v1", "Pod", name, "web")
    found: dict[str, Any] = body["status"] if body else {}
    return found


def is_ready(cluster: Cluster, name: str = "one") -> bool:
    """Whether the pod is Ready."""
    rows = state(cluster, name).get("conditions", [])
    return any(row["type"] == "Ready" and row["status"] == "True" for row in rows)


def message(cluster: Cluster, condition: str = "Ready", name: str = "one") -> str:
    """The message of a condition of the pod."""
    rows = state(cluster, name).get("conditions", [])
    return next((row.get("message", "") for row in rows if row["type"] == condition), "")


def test_ready_after_two_seconds_not_before(cluster: Cluster) -> None:
    cluster.apply([NAMESPACE, pod(ready_after="2")])
    cluster.wait("the pod's own reason", lambda: "ready 2 s after its start" in message(cluster))
    assert not is_ready(cluster)
    cluster.wait("readiness", lambda: is_ready(cluster))


def test_never_ready_until_the_knob_goes_and_again_when_it_is_back(cluster: Cluster) -> None:
    cluster.apply([NAMESPACE, pod(never_ready="true")])
    cluster.wait("the reason", lambda: "never ready" in message(cluster))
    cluster.turn("web", "app=web", never_ready=None)
    cluster.wait("readiness", lambda: is_ready(cluster))
    cluster.turn("web", "app=web", never_ready="true")
    cluster.wait("readiness lost", lambda: not is_ready(cluster))


def test_lose_ready_after_one_second_ready_then_lost_for_good(cluster: Cluster) -> None:
    cluster.apply([NAMESPACE, pod(lose_ready_after="1")])
    cluster.wait("readiness", lambda: is_ready(cluster))
    cluster.wait("readiness lost", lambda: "readiness lost after 1 s" in message(cluster))


def test_crash_restarts_with_back_off(cluster: Cluster) -> None:
    cluster.apply([NAMESPACE, pod(crash="0.5")])

    def crashed() -> dict[str, Any] | None:
        rows = state(cluster).get("containerStatuses", [])
        waiting = [row for row in rows if row["state"].get("waiting", {}).get("reason") == "CrashLoopBackOff"]
        return waiting[0] if waiting and waiting[0]["restartCount"] >= 2 else None

    assert cluster.wait("a second crash", crashed)["ready"] is False


def test_slow_stop_serves_for_so_long_after_the_deletion(cluster: Cluster) -> None:
    cluster.apply([NAMESPACE, pod(slow_stop="2"), SERVICE])
    cluster.wait("readiness", lambda: is_ready(cluster))
    with cluster.sampling(cluster.through_service("web", "web")) as sampler:
        sampler.wait_samples(10)
        cluster.api.delete("/api/v1/namespaces/web/pods/one")
        sampler.wait_samples(20)
        kept = sampler.so_far()
        cluster.wait("the pod gone", lambda: cluster.get("v1", "Pod", "one", "web") is None)
        sampler.wait_samples(kept.samples + 20)
    # kube-proxy sends to endpoints that serve while terminating when there are no others.
    assert kept.lost == 0, kept
    assert sampler.result.lost > 0


def test_blocked_by_an_object_until_it_is_deleted(cluster: Cluster) -> None:
    wall = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "deny", "namespace": "web"},
        "spec": {"podSelector": {}},
    }
    cluster.apply([NAMESPACE, wall, pod(blocked_by="networking.k8s.io/v1/NetworkPolicy web/deny")])
    cluster.wait("the reason", lambda: "blocked by networking.k8s.io" in message(cluster))
    cluster.delete(wall)
    cluster.wait("readiness", lambda: is_ready(cluster))
    cluster.apply(wall)
    cluster.wait("readiness lost", lambda: not is_ready(cluster))


def test_room_for_one_pod_the_second_waits_for_it(cluster: Cluster) -> None:
    cluster.room(1)
    cluster.apply([NAMESPACE, pod("one"), pod("two")])
    cluster.wait("the scheduler's words", lambda: "Too many pods" in message(cluster, "PodScheduled", "two"))
    assert state(cluster, "two")["phase"] == "Pending"
    cluster.api.delete("/api/v1/namespaces/web/pods/one")
    cluster.wait("the second pod", lambda: is_ready(cluster, "two"))


def test_host_port_taken_the_second_pod_waits(cluster: Cluster) -> None:
    on_host = {"hostNetwork": True}
    cluster.apply([NAMESPACE, pod("one", spec=on_host), pod("two", spec=on_host)])
    cluster.wait("the first pod", lambda: is_ready(cluster, "one"))
    assert state(cluster, "one")["podIP"] == state(cluster, "one")["hostIP"]
    cluster.wait("the scheduler's words", lambda: "free ports" in message(cluster, "PodScheduled", "two"))


def test_unknown_knob_keeps_the_pod_from_serving_and_says_so(cluster: Cluster) -> None:
    cluster.apply([NAMESPACE, pod(redy_after="2")])
    cluster.wait("the reason", lambda: "unknown knobs ['redy-after']" in message(cluster))
    assert not is_ready(cluster)
