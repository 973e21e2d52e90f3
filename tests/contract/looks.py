"""What several contract tests look at, and the workloads that they look at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.core.model import Body
from agent.errors import ClusterError
from tests.contract.bench import Bench, condition, named

SELECTOR = {"matchLabels": {"app": "web"}}


def template(version: str = "v1", *, app: str = "web", **knobs: str) -> Body:
    """A pod template; ``knobs`` are the annotations standin.dev/..., underscores as dashes."""
    annotations = {f"standin.dev/{name.replace('_', '-')}": value for name, value in knobs.items()}
    ports = [{"name": "http", "containerPort": 8080}]
    container = {"name": "web", "image": f"standin/http:{version}", "ports": ports}
    return {
        "metadata": {"labels": {"app": app}, "annotations": annotations},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 5},
    }


def workload(kind: str, pods: Body, name: str = "web", **spec: Any) -> Body:
    """A workload of ``apps`` in ``shop`` that selects its template's app."""
    selector = {"matchLabels": {"app": pods["metadata"]["labels"]["app"]}}
    return named("apps/v1", kind, name, "shop", spec={"selector": selector, "template": pods, **spec})


def pod(name: str = "web", *, app: str = "web", **knobs: str) -> Body:
    """A pod that nobody controls."""
    made = template(app=app, **knobs)
    body = named("v1", "Pod", name, "shop", spec=made["spec"])
    body["metadata"] |= made["metadata"]
    return body


def listed(bench: Bench, group: str, kind: str, selector: str = "") -> list[Body]:
    """The objects of a kind in ``shop``."""
    return list(bench.cluster.list(bench.resource(group, kind), "shop", selector).items)


def pods(bench: Bench, selector: str = "app=web") -> list[Body]:
    """The pods that are not on their way out."""
    return [one for one in listed(bench, "", "Pod", selector) if not is_ending(one)]


def is_ending(body: Body) -> bool:
    """Whether it is deleted and still there."""
    return "deletionTimestamp" in body["metadata"]


def is_ready(body: Body | None) -> bool:
    """Whether the pod is ready."""
    return condition(body, "Ready") == "True"


def names(bodies: list[Body]) -> list[str]:
    """The names, sorted."""
    return sorted(body["metadata"]["name"] for body in bodies)


def images(bodies: list[Body]) -> list[str]:
    """The versions that pods run, sorted."""
    return sorted(body["spec"]["containers"][0]["image"].partition(":")[2] for body in bodies)


def status(bench: Bench, body: Body) -> Body:
    """The status once the controller has seen the spec, else empty."""
    live = bench.must(body)
    found: Body = live.get("status") or {}
    return found if found.get("observedGeneration") == live["metadata"].get("generation") else {}


def number(bench: Bench, body: Body, *fields: str) -> tuple[int, ...]:
    """Counts of a status whose controller has seen the spec; zero where the API leaves one out."""
    found = status(bench, body)
    return tuple(found.get(field, 0) for field in fields)


def all_of(bench: Bench, body: Body, replicas: int) -> Callable[[], bool]:
    """Whether all pods of the newest template are there and ready, and no others."""
    fields = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
    if body["kind"] == "DaemonSet":
        fields = ("currentNumberScheduled", "updatedNumberScheduled", "numberReady", "numberAvailable")
    return lambda: number(bench, body, *fields) == (replicas,) * 4


def endpoints(bench: Bench, service: str = "web") -> dict[str, tuple[bool, bool, bool]]:
    """Endpoint -> ready, serving, terminating; by pod name, or address where no pod stands behind it."""
    found = {}
    for piece in listed(bench, "discovery.k8s.io", "EndpointSlice", f"kubernetes.io/service-name={service}"):
        for row in piece.get("endpoints") or ():
            name = (row.get("targetRef") or {}).get("name") or row["addresses"][0]
            said = row.get("conditions") or {}
            found[name] = tuple(bool(said.get(key)) for key in ("ready", "serving", "terminating"))
    return found  # type: ignore[return-value]  # three values, as the line above makes them


def refusal(ask: Callable[[], Any]) -> ClusterError | None:
    """The error that a request ends in, or None."""
    try:
        ask()
    except ClusterError as error:
        return error
    return None


def stays(bench: Bench, look: Callable[[], bool], seconds: float = 2) -> bool:
    """Whether something is true now and at each look within this time."""
    for _ in range(round(seconds / 0.2)):
        if not look():
            return False
        bench.advance(0.2)
    return look()
