"""Rollouts that take pods away from a Service, and selectors that only look different."""

from __future__ import annotations

import pytest

from agent.core.facet import FacetKind
from agent.core.model import Category, ObjectId
from agent.core.steps import Verb
from tests.core.upgrades import steps_of, upgrade

SERVICE = ObjectId("", "Service", "shop", "web")
WORKLOAD = ObjectId("apps", "Deployment", "shop", "web")


def web(
    selector: str, labels: str, *, target: str = "80", ports: str = "{name: http, containerPort: 80}"
) -> str:
    return f"""
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: shop}}
spec: {{selector: {selector}, ports: [{{port: 80, targetPort: {target}}}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {labels}}}
    spec: {{containers: [{{name: web, image: web, ports: [{ports}]}}]}}
"""


OLD = web("{app: web, track: a}", "{app: web, track: a}")
SHUTS_A_PORT = {
    "the port that the Service names": (
        web("{app: web}", "{app: web}", target="http"),
        web("{app: web}", "{app: web}", target="web", ports="{name: web, containerPort: 80}"),
    ),
    "the port that the Service numbers": (
        web("{app: web}", "{app: web}"),
        web("{app: web}", "{app: web}", target="81", ports="{name: http, containerPort: 81}"),
    ),
}


@pytest.mark.parametrize("name", SHUTS_A_PORT)
def test_rollout_that_shuts_a_port_of_a_service_is_announced_and_waits_for_a_person(name: str) -> None:
    made = upgrade(*SHUTS_A_PORT[name])
    (change,) = [change for change in made.plan().changes if change.id == WORKLOAD]
    assert change.category is Category.REPOINT
    assert "Service shop/web" in change.reason
    (step,) = steps_of(made.plan(), WORKLOAD)
    assert [gate.name for gate in step.closed_gates] == ["approved"]
    assert "allow_downtime: [Deployment shop/web]" in step.closed_gates[0].reason


@pytest.mark.parametrize("name", SHUTS_A_PORT)
def test_allowed_downtime_lets_it_go(name: str) -> None:
    allowed = frozenset({"Deployment shop/web"})
    made = upgrade(*SHUTS_A_PORT[name], allow_downtime=allowed)
    assert all(step.is_open for step in steps_of(made.plan(), WORKLOAD))


KEEPS_ITS_PODS = {
    "a label that nobody selects": (OLD, web("{app: web, track: a}", "{app: web, track: a, extra: x}")),
    "a port that no Service names": (
        OLD,
        web(
            "{app: web, track: a}",
            "{app: web, track: a}",
            ports="{name: http, containerPort: 80}, {name: metrics, containerPort: 90}",
        ),
    ),
    "a port that neither template declares": (
        web("{app: web}", "{app: web}", target="8080", ports="{name: x, containerPort: 1}"),
        web("{app: web}", "{app: web}", target="8080", ports="{name: y, containerPort: 2}"),
    ),
}


@pytest.mark.parametrize("name", KEEPS_ITS_PODS)
def test_rollout_that_keeps_its_service_is_additive(name: str) -> None:
    made = upgrade(*KEEPS_ITS_PODS[name])
    (change,) = [change for change in made.plan().changes if change.id == WORKLOAD]
    assert change.category is Category.ADDITIVE
    assert all(step.is_open for step in steps_of(made.plan(), WORKLOAD))


def test_port_that_the_release_gives_up_holds_no_rollout() -> None:
    base = web("{app: web}", "{app: web}", target="http")
    head = base.replace("port: 80,", "port: 90,").replace(
        "name: http, containerPort: 80", "name: other, containerPort: 90"
    )
    (change,) = [change for change in upgrade(base, head).plan().changes if change.id == WORKLOAD]
    assert change.category is Category.ADDITIVE


LEAVES = {
    "the Service goes on selecting the old label": web("{app: web, track: a}", "{app: web, track: b}"),
    "the Service moves too": web("{app: web, track: b}", "{app: web, track: b}"),
}


@pytest.mark.parametrize("name", LEAVES)
def test_rollout_with_pods_that_leave_a_service_is_a_repoint(name: str) -> None:
    """The Service's own text need not change for its pods to go."""
    (change,) = [change for change in upgrade(OLD, LEAVES[name]).plan().changes if change.id == WORKLOAD]
    assert change.category is Category.REPOINT
    assert change.reason == "the new pods leave a Service: Service shop/web selects app=web,track=a"


def test_service_of_somebody_else_counts_too() -> None:
    stranger = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "other", "namespace": "shop"},
        "spec": {"selector": {"track": "a"}, "ports": [{"port": 80}]},
    }
    made = upgrade(OLD, web("{app: web}", "{app: web, track: b}"), stranger)
    (change,) = [change for change in made.plan().changes if change.id == WORKLOAD]
    assert "Service shop/other selects track=a" in change.reason


def test_selector_of_the_pods_of_both_is_written_before_the_labels_change() -> None:
    made = upgrade(OLD, web("{app: web}", "{app: web, track: b}"))
    (moves,) = steps_of(made.plan(), SERVICE)
    assert (moves.verb, moves.is_open) == (Verb.UPDATE, True)
    later = upgrade(web("{app: web}", "{app: web, track: a}"), web("{app: web}", "{app: web, track: b}"))
    assert all(step.is_open for step in steps_of(later.plan(), WORKLOAD))


def test_selector_that_takes_the_same_pods_by_other_labels_is_a_repoint_that_waits_for_nothing() -> None:
    labels = "{app: web, role: web}"
    made = upgrade(web("{app: web}", labels), web("{app: web, role: web}", labels))
    (facet,) = made.drafts[SERVICE].facets
    assert (facet.kind, facet.category) == (FacetKind.ADDS, Category.REPOINT)
    assert facet.reason.endswith("they are the same now (Deployment shop/web)")


def test_target_port_moves_when_the_pods_that_have_it_serve() -> None:
    ports = "{name: http, containerPort: 80}, {name: admin, containerPort: 90}"
    made = upgrade(
        web("{app: web}", "{app: web}", ports=ports),
        web("{app: web}", "{app: web}", target="90", ports=ports),
    )
    (step,) = steps_of(made.plan(), SERVICE)
    assert (step.verb, step.category) == (Verb.CUTOVER, Category.REPOINT)
    assert "spec.ports[80,TCP].targetPort changes with it" in step.says
    assert "serves" in {gate.name for gate in step.gates}
