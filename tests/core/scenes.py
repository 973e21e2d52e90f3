"""Situations for the tests of the core's judges: what Git wants as text, what lives as small bodies.

``scene(base, head, *live)`` is an observed upgrade: what ``base`` wants stands, with ``live`` added or in its
place. The bodies come from tests/core/histories.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from agent.core.gates import Gates
from agent.core.ledger import Entry
from agent.core.model import SET_LABEL, Body, GroupKind, LiveObject, ObjectId
from agent.core.plan import Maker
from agent.core.policy import id_of
from agent.core.preview import between
from agent.core.refused import checked
from agent.core.situation import Rules, Situation
from agent.core.steps import Access, Answer, Answers, Gate, GateState, Plan, Question
from agent.core.targets import Target
from tests.core.bodies import RULES
from tests.core.casefiles import shipped
from tests.core.histories import endpoints, obj
from tests.core.upgrades import MANAGER, release

NOW = 1_767_225_600.0
"""2026-01-01T00:00:00Z."""

WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i}]}
"""
"""A workload that the judges' tests stand around."""

READY = {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2025-12-31T23:00:00Z"}]}


def scene(base: str, head: str, *live: Body, **rules: Any) -> Situation:
    """An observed upgrade at ``NOW``; ``rules`` are the set's configuration."""
    before = release(base, "base") if base else None
    made = between(before, release(head), shipped(), RULES, Rules(MANAGER, **rules))
    more = {id_of(body): LiveObject(id_of(body), body) for body in live}
    there = replace(made.live, objects={**made.live.objects, **more})
    return replace(made, live=there, now=NOW, is_observed=True)


def without(situation: Situation, *gone: ObjectId) -> Situation:
    """The situation in which these are absent from the cluster."""
    objects = {key: obj for key, obj in situation.live.objects.items() if key not in gone}
    return replace(situation, live=replace(situation.live, objects=objects))


def unread(situation: Situation, *kinds: str, why: str = "the server answers 503") -> Situation:
    """The situation in which these kinds (``Kind.group``) could not be read."""
    unknown = {}
    for kind in kinds:
        name, _, group = kind.partition(".")
        unknown[GroupKind(group, name)] = why
    objects = {key: obj for key, obj in situation.live.objects.items() if key.group_kind not in unknown}
    return replace(situation, live=replace(situation.live, unknown=unknown, objects=objects))


def answered(situation: Situation, answers: Answers) -> Situation:
    """The situation with these answers."""
    return replace(situation, answers={**situation.answers, **answers})


def moved(situation: Situation, key: ObjectId, seconds_ago: float, **more: Any) -> Situation:
    """The situation in which the pointer ``key`` was moved then, and stands between two bases."""
    old = situation.ledger.entries[key]
    bases = (*old.bases, old.bases[-1]._replace(commit="head"))
    entry = replace(old, cutover_at=situation.now - seconds_ago, bases=bases, **more)
    return with_entry(situation, entry)


def with_entry(situation: Situation, entry: Entry) -> Situation:
    """The situation with this member in its ledger."""
    entries = {**situation.ledger.entries, entry.id: entry}
    return replace(situation, ledger=replace(situation.ledger, entries=entries))


def gates(
    situation: Situation,
    *,
    pending: Mapping[ObjectId, str] | None = None,
    moving: Mapping[ObjectId, str] | None = None,
    leaving: Iterable[ObjectId] = (),
) -> Gates:
    """The judge of a situation, with what a plan would tell it."""
    return Gates(checked(situation), pending or {}, moving or {}, frozenset(leaving))


def planned(situation: Situation) -> Plan:
    """The plan of the situation, with every request permitted."""
    asked = Maker(checked(situation)).plan().questions
    allowed: dict[Question, Answer] = {
        question: Answer(GateState.OPEN) for question in asked if isinstance(question, Access)
    }
    return Maker(checked(answered(situation, allowed))).plan()


def said(gate: Gate | None) -> str:
    """``state name: reason`` of a gate; ``none`` where the rule does not speak."""
    return f"{gate.state.value} {gate.name}: {gate.reason}" if gate else "none"


def closed(plan: Plan, key: str) -> list[str]:
    """What is said by the closed gates of a step; fails where the plan has no such step."""
    (step,) = (step for step in plan.steps if step.key == key)
    return [said(gate) for gate in step.closed_gates]


def labelled(body: Body, **metadata: Any) -> Body:
    """The body as our set wrote it, with other metadata."""
    labels = {**(body["metadata"].get("labels") or {}), SET_LABEL: "shop"}
    return {**body, "metadata": {**body["metadata"], "labels": labels, **metadata}}


def workload(name: str = "web", replicas: int = 2, ready: int | None = None, **status: Any) -> Body:
    """A live Deployment of shop that is rolled out, with ``ready`` of its replicas available."""
    ready = replicas if ready is None else ready
    counts = {"replicas": replicas, "updatedReplicas": replicas, "observedGeneration": 1}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "uid": f"Deployment-shop-{name}",
            "generation": 1,
            "labels": {SET_LABEL: "shop"},
        },
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template},
        "status": {**counts, "readyReplicas": ready, "availableReplicas": ready, **status},
    }


def pod_of(workload_: Body, name: str, status: Any = None, **metadata: Any) -> Body:
    """A pod of the workload's template, owned by it directly; ready unless ``status`` says otherwise."""
    meta = workload_["metadata"]
    owner = {"uid": meta["uid"], "controller": True, "kind": workload_["kind"], "name": meta["name"]}
    template = workload_["spec"]["template"]
    own = {"name": name, "namespace": meta["namespace"], "ownerReferences": [owner]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**own, "uid": f"Pod-shop-{name}", "labels": template["metadata"]["labels"], **metadata},
        "spec": template["spec"],
        "status": {"phase": "Running", **READY} if status is None else status,
    }


def app(name: str, replicas: int = 2) -> str:
    """A Deployment of shop and its Service, both called ``name``."""
    return f"""
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: shop}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {{containers: [{{name: c, image: i}}]}}
---
apiVersion: v1
kind: Service
metadata: {{name: {name}, namespace: shop}}
spec: {{selector: {{app: {name}}}, ports: [{{port: 80}}]}}
"""


def ingress(name: str) -> str:
    """An Ingress of shop that points at the Service ``name``."""
    return f"""
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: front, namespace: shop}}
spec: {{defaultBackend: {{service: {{name: {name}, port: {{number: 80}}}}}}}}
"""


def running(name: str, ready: int = 2, replicas: int = 2) -> tuple[Body, ...]:
    """What lives of an app: workload, Service, pods, and the ready ones in an EndpointSlice."""
    live = workload(name, replicas, ready)
    waiting = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}
    names = [f"{name}-{number}" for number in range(replicas)]
    pods = [pod_of(live, each, None if n < ready else waiting) for n, each in enumerate(names)]
    selector = {"selector": {"app": name}, "ports": [{"port": 80}]}
    service = obj("v1", "Service", name, "shop", meta={"labels": {SET_LABEL: "shop"}}, spec=selector)
    return (live, service, *pods, endpoints(name, *names[:ready]))


BLUE = Target(GroupKind("", "Service"), "shop", "blue")
GREEN = Target(GroupKind("", "Service"), "shop", "green")
FRONT = ObjectId("networking.k8s.io", "Ingress", "shop", "front")
