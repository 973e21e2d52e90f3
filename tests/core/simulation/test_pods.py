"""Pods as the kubelet, and what makes them, carry them."""

from __future__ import annotations

import pytest

from agent.core.model import Body, ObjectId
from agent.core.simulation.tables import dig
from agent.core.simulation.world import id_of
from tests.core.simulation.lab import Lab, named, service, template, workload


def is_ready(lab: Lab) -> bool:
    (pod,) = lab.pods()
    rows = dig(pod, ("status", "conditions")) or ()
    return any(row["type"] == "Ready" and row["status"] == "True" for row in rows)


def lab_with(**knobs: str) -> Lab:
    lab = Lab()
    lab.apply(workload("Deployment", template(**knobs)), service())
    return lab


# https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/: Pending, then Running, then Ready.
def test_a_pod_is_ready_as_long_after_its_start_as_its_knob_says() -> None:
    lab = lab_with(ready_after="5")
    lab.advance(0.5)
    assert dig(lab.pods()[0], ("status", "phase")) == "Pending"
    lab.advance(5.4)
    assert dig(lab.pods()[0], ("status", "phase")) == "Running"
    assert not is_ready(lab)
    lab.advance(0.1)
    assert is_ready(lab)


def test_a_pod_that_is_never_ready_stays_so_and_its_service_answers_nothing() -> None:
    lab = lab_with(never_ready="true")
    lab.advance(3600)
    assert not is_ready(lab)
    assert lab.reply(service()).status == 503


def test_readiness_can_be_lost_and_the_endpoint_goes_with_it() -> None:
    lab = lab_with(lose_ready_after="10")
    lab.advance(10.9)
    assert lab.ready(service()) == 1
    lab.advance(0.1)
    assert lab.ready(service()) == 0
    assert not lab.reply(service()).is_right


@pytest.mark.parametrize(
    "blocker",
    [
        named("networking.k8s.io/v1", "NetworkPolicy", "deny", "shop", spec={"podSelector": {}}),
        named("v1", "ConfigMap", "lock", "shop"),
        named("v1", "Namespace", "old"),
    ],
    ids=["policy", "lock", "namespace"],
)
def test_a_pod_is_blocked_while_an_object_stands(blocker: Body) -> None:
    metadata = blocker["metadata"]
    path = f"{metadata['namespace']}/{metadata['name']}" if "namespace" in metadata else metadata["name"]
    lab = lab_with(blocked_by=f"{blocker['apiVersion']}/{blocker['kind']} {path}")
    lab.apply(blocker)
    lab.advance(60)
    assert not is_ready(lab)
    lab.delete(id_of(blocker))
    lab.advance(0)
    assert is_ready(lab)


# https://kubernetes.io/docs/concepts/configuration/secret/: a pod waits for the Secret that it mounts.
@pytest.mark.parametrize(
    "volume",
    [
        {"name": "v", "secret": {"secretName": "needed"}},
        {"name": "v", "configMap": {"name": "needed"}},
        {"name": "v", "projected": {"sources": [{"secret": {"name": "needed"}}]}},
    ],
    ids=["secret", "configMap", "projected"],
)
def test_a_pod_waits_for_what_it_mounts(volume: Body) -> None:
    lab = Lab()
    pods = template()
    pods["spec"]["volumes"] = [volume]
    lab.apply(workload("Deployment", pods))
    lab.advance(60)
    assert dig(lab.pods()[0], ("status", "phase")) == "Pending"
    lab.apply(named("v1", "Secret", "needed", "shop"), named("v1", "ConfigMap", "needed", "shop"))
    lab.advance(0)
    assert is_ready(lab)


# https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#serviceaccount
def test_without_its_service_account_a_pod_is_not_made_until_it_is_there() -> None:
    lab = Lab()
    pods = template()
    pods["spec"]["serviceAccountName"] = "shopkeeper"
    lab.apply(workload("Deployment", pods))
    lab.advance(5)
    assert lab.pods() == []
    (replicaset,) = lab.world.of("apps", "ReplicaSet").values()
    assert replicaset["status"]["conditions"][0]["reason"] == "FailedCreate"
    assert "shopkeeper" in replicaset["status"]["conditions"][0]["message"]
    lab.apply(named("v1", "ServiceAccount", "shopkeeper", "shop"))
    lab.advance(5)
    assert is_ready(lab)


# https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/#terminating
def test_a_deleted_pod_serves_on_for_a_while_but_is_no_ready_endpoint() -> None:
    lab = lab_with(slow_stop="4")
    lab.advance(2)
    (pod,) = lab.pods()
    lab.delete(id_of(pod))
    lab.advance(0)
    old = endpoint_of(lab, pod)
    assert old is not None
    assert old["conditions"] == {"ready": False, "serving": True, "terminating": True}
    assert lab.reply(service()).is_right
    lab.advance(4)
    assert endpoint_of(lab, pod) is None


def endpoint_of(lab: Lab, pod: Body) -> Body | None:
    pieces = lab.world.of("discovery.k8s.io", "EndpointSlice").items()
    rows = [row for key, piece in pieces if key.namespace == "shop" for row in piece["endpoints"]]
    return next((row for row in rows if row["targetRef"]["uid"] == pod["metadata"]["uid"]), None)


# https://kubernetes.io/docs/concepts/workloads/controllers/job/
@pytest.mark.parametrize(("code", "condition"), [("0", "Complete"), ("1", "Failed")])
def test_a_job_is_complete_when_its_pods_have_ended_well(code: str, condition: str) -> None:
    lab = Lab()
    pods = template(run_for="3", exit_code=code)
    pods["spec"]["restartPolicy"] = "Never"
    job = named("batch/v1", "Job", "once", "shop", spec={"template": pods, "backoffLimit": 1})
    lab.apply(job)
    lab.advance(3)
    assert lab.status(job, "active") == 1
    lab.advance(20)
    assert lab.condition(job, condition)[0] == "True"
    assert len(lab.pods()) == (1 if code == "0" else 2)


def test_a_pod_that_somebody_deletes_is_made_anew() -> None:
    lab = lab_with()
    lab.advance(2)
    (pod,) = lab.pods()
    lab.delete(id_of(pod))
    lab.advance(5)
    (again,) = lab.pods()
    assert again["metadata"]["uid"] != pod["metadata"]["uid"]
    assert lab.world.get(ObjectId("", "Pod", "shop", pod["metadata"]["name"])) is None
