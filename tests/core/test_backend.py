"""Whether a target serves: ready endpoints are counted against the capacity, and unknown is not lost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.core.backend import backend, capacity, wanted_behind
from agent.core.model import Body, LiveObject
from agent.core.policy import PODS, id_of
from agent.core.situation import Situation
from agent.core.steps import GateState
from agent.core.targets import Target
from tests.core.histories import deleting, endpoints
from tests.core.scenes import GREEN, NOW, app, pod_of, running, scene, unread, without, workload

OPEN, HELD, UNKNOWN = GateState.OPEN, GateState.HELD, GateState.UNKNOWN
APP = app("green")


def seen(situation: Situation, target: Target = GREEN) -> tuple[GateState, str]:
    found = backend(situation, target)
    return found.state, found.reason


def test_all_endpoints_ready_is_open_since_the_youngest() -> None:
    found = backend(scene(APP, APP, *running("green")), GREEN)
    assert (found.state, found.reason) == (OPEN, "2 of 2 endpoints ready")
    assert found.since == NOW - 3600


def test_fewer_than_the_capacity_is_held_with_what_the_pods_lack() -> None:
    situation = scene(APP, APP, *running("green", ready=1))
    reason = (
        "1 of 2 endpoints ready; Deployment shop/green: 1 of 2 replicas available; 1 pod not ready (green-1)"
    )
    assert seen(situation) == (HELD, reason)


def test_a_ready_pod_that_no_slice_lists_does_not_serve() -> None:
    live = [body for body in running("green") if body["kind"] != "EndpointSlice"]
    assert seen(scene(APP, APP, *live)) == (HELD, "0 of 2 endpoints ready")
    assert seen(scene(APP, APP, *live, endpoints("green", "green-0"))) == (HELD, "1 of 2 endpoints ready")


def test_a_pod_that_is_terminating_or_of_an_old_template_does_not_count() -> None:
    live = running("green")
    going = [deleting(body) if body["metadata"]["name"] == "green-1" else body for body in live]
    assert seen(scene(APP, APP, *going)) == (HELD, "1 of 2 endpoints ready; 1 pod terminating (green-1)")
    unseen = [workload("green", observedGeneration=0), *live[1:]]
    state, reason = seen(scene(APP, APP, *unseen))
    assert (state, reason.partition(";")[0]) == (HELD, "0 of 2 endpoints ready")


def test_a_service_that_is_absent_or_that_no_workload_stands_behind() -> None:
    absent = scene("", APP, *[body for body in running("green") if body["kind"] != "Service"])
    assert seen(absent) == (HELD, "Service shop/green does not exist")
    alone = scene("", APP, *[body for body in running("green") if body["kind"] == "Service"])
    assert seen(alone) == (HELD, "no workload makes pods app=green in shop")


@pytest.mark.parametrize("kind", ["Service", "Pod", "EndpointSlice.discovery.k8s.io", "Deployment.apps"])
def test_a_kind_that_cannot_be_read_is_unknown(kind: str) -> None:
    situation = unread(scene(APP, APP, *running("green")), kind)
    assert seen(situation) == (UNKNOWN, f"{kind}: the server answers 503")


def test_a_workload_that_git_scales_to_nothing_is_at_rest() -> None:
    none = app("green", replicas=0)
    found = backend(scene(none, none, *running("green", 0, 0)), GREEN)
    assert (found.state, found.is_at_rest, found.reason) == (HELD, True, "Git wants no pods there")


def service(**spec: Any) -> Body:
    meta = {"name": "green", "namespace": "shop", "uid": "s"}
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}


def test_a_name_outside_of_the_cluster_is_taken_at_its_word() -> None:
    outside = service(type="ExternalName", externalName="api.example.com")
    assert seen(scene("", APP, outside)) == (OPEN, "api.example.com is outside of the cluster")


def test_a_name_of_the_cluster_serves_as_what_it_names_does() -> None:
    named = service(type="ExternalName", externalName="blue.shop.svc.cluster.local")
    assert seen(scene("", APP, named, *running("blue"))) == (OPEN, "2 of 2 endpoints ready")
    assert seen(scene("", APP, named)) == (HELD, "Service shop/blue does not exist")


def test_a_service_without_selector_counts_its_addresses() -> None:
    live = service(ports=[{"port": 80}])
    assert seen(scene("", APP, live, endpoints("green", "x"))) == (
        OPEN,
        "1 of 1 endpoints ready (no selector)",
    )
    unready = endpoints("green", "x", ready=False)
    assert seen(scene("", APP, live, unready)) == (HELD, "0 of 1 endpoints ready (no selector)")


def test_an_object_serves_while_it_is_ready() -> None:
    target = Target(id_of(workload("green")).group_kind, "shop", "green")
    assert seen(scene(APP, APP, workload("green")), target) == (
        OPEN,
        "Deployment shop/green: 2 of 2 replicas available",
    )
    short = "Deployment shop/green: 1 of 2 replicas available"
    assert seen(scene(APP, APP, workload("green", ready=1)), target) == (HELD, short)
    gone = without(scene(APP, APP), id_of(workload("green")))
    assert seen(gone, target) == (HELD, "Deployment shop/green does not exist")


def test_pods_that_are_only_watched_may_be_none() -> None:
    watched = Target(PODS, "shop", "", (("app", "other"),), is_watched=True)
    assert seen(scene("", "", workload("green")), watched)[0] is OPEN
    assert seen(scene("", "", workload("green")), watched._replace(is_watched=False))[0] is HELD


def test_bare_pods_of_the_set_count_by_name() -> None:
    text = """
apiVersion: v1
kind: Pod
metadata: {name: green-0, namespace: shop, labels: {app: green}}
spec: {containers: [{name: c, image: i}]}
"""
    body = pod_of(workload("green"), "green-0")
    alone = {**body, "metadata": {**body["metadata"], "ownerReferences": []}}
    live = service(selector={"app": "green"}, ports=[{"port": 80}])
    situation = scene(text, text, alone, live, endpoints("green", "green-0"))
    assert seen(situation) == (OPEN, "1 of 1 endpoints ready")


@pytest.mark.parametrize(("replicas", "wanted"), [(1, "1 endpoint"), (3, "3 endpoints"), (0, "1 endpoint")])
def test_what_a_preview_says_is_wanted(replicas: int, wanted: str) -> None:
    assert wanted_behind(scene("", app("green", replicas)), GREEN) == wanted


def test_capacity_is_what_the_tables_say_of_the_kind() -> None:
    situation = scene("", APP)
    spec = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
    assert capacity(situation, spec) == 1, "absent replicas are one"
    daemons = {"apiVersion": "apps/v1", "kind": "DaemonSet", "spec": {}}
    assert capacity(situation, {**daemons, "status": {"desiredNumberScheduled": 4}}) == 4


def test_a_slice_of_another_namespace_lists_nothing_here() -> None:
    live = [body for body in running("green") if body["kind"] != "EndpointSlice"]
    other = endpoints("green", "green-0", "green-1")
    other = {**other, "metadata": {**other["metadata"], "namespace": "elsewhere"}}
    situation = scene(APP, APP, *live)
    key = id_of(other)
    objects = {**situation.live.objects, key: LiveObject(key, other)}
    assert seen(replace(situation, live=replace(situation.live, objects=objects)))[0] is HELD
