"""Pods that find no place on the node: they wait, say why, and come when there is room."""

from __future__ import annotations

import pytest

from agent.core.model import Body
from tests.contract.bench import Bench, condition, named
from tests.contract.looks import is_ready, pod, stays, template, workload


def asking(name: str = "web", **resources: str) -> Body:
    body = pod(name)
    body["spec"]["containers"][0]["resources"] = {"requests": resources}
    return body


def on_port(name: str, number: int, protocol: str = "TCP") -> Body:
    body = pod(name)
    body["spec"]["containers"][0]["ports"] = [
        {"containerPort": 8080, "hostPort": number, "protocol": protocol}
    ]
    return body


def why(bench: Bench, body: Body) -> str:
    rows = (bench.must(body).get("status") or {}).get("conditions") or ()
    return next((row["message"] for row in rows if row.get("reason") == "Unschedulable"), "")


def waits(bench: Bench, body: Body, words: str) -> None:
    bench.until("it waits", lambda: why(bench, body))
    assert why(bench, body) == f"0/1 nodes are available: 1 {words}"
    live = bench.must(body)
    assert (live["status"]["phase"], condition(live, "PodScheduled")) == ("Pending", "False")
    assert "nodeName" not in live["spec"]


def runs(bench: Bench, body: Body) -> None:
    bench.until("ready", lambda: is_ready(bench.live(body)))
    assert condition(bench.must(body), "PodScheduled") == "True"


def test_a_pod_that_fits_is_bound_to_the_node(bench: Bench) -> None:
    bench.apply(pod())
    runs(bench, pod())
    (node,) = bench.cluster.list(bench.resource("", "Node")).items
    assert bench.must(pod())["spec"]["nodeName"] == node["metadata"]["name"]


@pytest.mark.parametrize(
    ("resources", "words"),
    [({"cpu": "65"}, "Insufficient cpu."), ({"memory": "300Gi"}, "Insufficient memory.")],
    ids=["cpu", "memory"],
)
def test_a_pod_that_asks_for_more_than_there_is_waits(
    bench: Bench, resources: dict[str, str], words: str
) -> None:
    bench.apply(asking(**resources))
    waits(bench, asking(), words)


def test_what_a_pod_asked_for_is_free_when_it_is_gone(bench: Bench) -> None:
    bench.apply(asking("first", cpu="40"))
    runs(bench, asking("first"))
    bench.apply(asking("second", cpu="40"))
    waits(bench, asking("second"), "Insufficient cpu.")
    bench.delete_soon(asking("first"))
    runs(bench, asking("second"))


def test_two_pods_do_not_share_a_host_port(bench: Bench) -> None:
    bench.apply(on_port("first", 7080))
    runs(bench, pod("first"))
    bench.apply(on_port("second", 7080))
    waits(bench, pod("second"), "node(s) didn't have free ports for the requested pod ports.")
    bench.delete_soon(pod("first"))
    runs(bench, pod("second"))


def test_host_ports_of_other_protocols_are_other_ports(bench: Bench) -> None:
    bench.apply(on_port("first", 7080))
    bench.apply(on_port("second", 7080, "UDP"))
    runs(bench, pod("first"))
    bench.until("bound", lambda: bench.must(pod("second"))["spec"].get("nodeName"))


def test_a_pod_that_has_ended_takes_no_place(bench: Bench) -> None:
    done = asking("done", cpu="40")
    done["spec"]["restartPolicy"] = "Never"
    bench.apply(done)
    bench.until("it ended", lambda: (bench.must(done).get("status") or {}).get("phase") == "Succeeded")
    bench.apply(asking("second", cpu="40"))
    runs(bench, asking("second"))


def test_a_node_selector_that_fits_no_node_waits(bench: Bench) -> None:
    body = pod()
    body["spec"]["nodeSelector"] = {"disk": "fast"}
    bench.apply(body)
    waits(bench, body, "node(s) didn't match Pod's node affinity/selector.")


def test_a_node_that_gets_the_label_takes_the_pod(bench: Bench) -> None:
    body = pod()
    body["spec"]["nodeSelector"] = {"disk": "fast"}
    bench.apply(body)
    bench.until("it waits", lambda: why(bench, body))
    (node,) = bench.cluster.list(bench.resource("", "Node")).items
    labelled = named("v1", "Node", node["metadata"]["name"])
    labelled["metadata"]["labels"] = {"disk": "fast"}
    bench.apply(labelled)
    runs(bench, body)


def test_a_rollout_whose_new_pod_finds_no_place_is_stuck(bench: Bench) -> None:
    def web(version: str) -> Body:
        made = template(version)
        made["spec"]["containers"][0]["ports"] = [{"containerPort": 8080, "hostPort": 7081}]
        return workload("Deployment", made, replicas=1)

    bench.apply(web("v1"))
    bench.until("available", lambda: condition(bench.must(web("v1")), "Available") == "True")
    bench.apply(web("v2"))
    bench.until("two", lambda: (bench.must(web("v2"))["status"].get("unavailableReplicas")) == 1)
    assert stays(bench, lambda: condition(bench.must(web("v2")), "Available") == "True", 1)
    assert bench.must(web("v2"))["status"]["updatedReplicas"] == 1
