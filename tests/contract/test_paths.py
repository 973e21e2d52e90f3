"""Paths and what stands beside them: APIServices, network policies, autoscalers, the mirror of endpoints."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.model import Body
from tests.contract.bench import Bench, condition, named, service
from tests.contract.looks import endpoints, is_ready, pod, refusal, stays, template, workload

READY = (True, True, False)


def api(name: str = "v1.example.org", **spec: Any) -> Body:
    version, _, group = name.partition(".")
    where = {"namespace": "shop", "name": "web", "port": 80}
    rest = {"groupPriorityMinimum": 10, "versionPriority": 10, "insecureSkipTLSVerify": True}
    body = {"group": group, "version": version, "service": where, **rest, **spec}
    return named("apiregistration.k8s.io/v1", "APIService", name, spec=body)


def reason(bench: Bench, body: Body) -> str:
    rows = (bench.must(body).get("status") or {}).get("conditions") or ()
    return next((str(row["reason"]) for row in rows if row["type"] == "Available"), "")


def because(bench: Bench, body: Body, words: str) -> None:
    bench.until(words, lambda: reason(bench, body) == words)
    assert condition(bench.must(body), "Available") == "False"


def test_an_apiservice_without_its_service_is_unavailable(bench: Bench) -> None:
    bench.apply(api())
    because(bench, api(), "ServiceNotFound")


def test_an_apiservice_whose_port_is_not_there_is_unavailable(bench: Bench) -> None:
    bench.apply(service())
    bench.apply(api(service={"namespace": "shop", "name": "web", "port": 443}))
    because(bench, api(), "ServicePortError")


def test_an_apiservice_without_endpoints_is_unavailable(bench: Bench) -> None:
    bench.apply(service())
    bench.apply(api())
    because(bench, api(), "MissingEndpoints")


def test_an_apiservice_whose_pods_are_not_ready_is_unavailable(bench: Bench) -> None:
    bench.apply(service())
    bench.apply(pod(never_ready="true"))
    bench.until("listed", lambda: endpoints(bench))
    bench.apply(api())
    because(bench, api(), "MissingEndpoints")


def test_an_apiservice_before_pods_that_serve_something_else_is_unavailable(bench: Bench) -> None:
    bench.apply(service())
    bench.apply(pod())
    bench.until("ready", lambda: endpoints(bench) == {"web": READY})
    bench.apply(api())
    because(bench, api(), "FailedDiscoveryCheck")
    assert bench.cluster.read("/apis/example.org/v1") >= 500


def test_a_local_group_is_available(bench: Bench) -> None:
    local = named("apiregistration.k8s.io/v1", "APIService", "v1.apps")
    assert condition(bench.must(local), "Available") == "True"
    assert reason(bench, local) == "Local"


def test_an_apiservice_is_named_after_version_and_group(bench: Bench) -> None:
    body = api()
    body["metadata"]["name"] = "example"
    assert refusal(lambda: bench.apply(body)) is not None


def test_a_network_policy_changes_no_endpoints(bench: Bench) -> None:
    """Nothing enforces policies on the rig: what one closes shows nowhere in the API, on either cluster."""
    bench.apply(service())
    bench.apply(pod())
    bench.until("ready", lambda: endpoints(bench) == {"web": READY})
    nothing = {"podSelector": {}, "policyTypes": ["Ingress"]}
    bench.apply(named("networking.k8s.io/v1", "NetworkPolicy", "closed", "shop", spec=nothing))
    assert stays(bench, lambda: endpoints(bench) == {"web": READY} and is_ready(bench.live(pod())), 1.5)


def scaler(**spec: Any) -> Body:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    body = {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 4, **spec}
    return named("autoscaling/v2", "HorizontalPodAutoscaler", "web", "shop", spec=body)


def replicas(bench: Bench) -> int:
    return int(bench.must(workload("Deployment", template()))["spec"]["replicas"])


@pytest.mark.parametrize(("given", "wanted"), [(1, 2), (6, 4), (3, 3), (0, 0)])
def test_an_autoscaler_keeps_replicas_within_its_bounds_without_metrics(
    bench: Bench, given: int, wanted: int
) -> None:
    bench.apply(workload("Deployment", template(), replicas=given))
    bench.apply(scaler())
    bench.until("scaled", lambda: replicas(bench) == wanted, 40)
    assert stays(bench, lambda: replicas(bench) == wanted, 1)


def test_an_autoscaler_takes_the_replicas_over_from_whoever_applied_them(bench: Bench) -> None:
    body = workload("Deployment", template(), replicas=1)
    bench.apply(body)
    bench.apply(scaler())
    bench.until("scaled", lambda: replicas(bench) == 2, 40)
    rows = bench.must(body)["metadata"]["managedFields"]
    owners = {row["manager"] for row in rows if "f:replicas" in (row["fieldsV1"].get("f:spec") or {})}
    assert owners == {"kube-controller-manager"}
