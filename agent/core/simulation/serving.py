"""Serving paths, walked as a request would: pointer -> Service -> endpoints -> pod -> its rights.

A path is as good as its worst endpoint: a right answer from one pod of two is luck.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from agent.core.model import Body, ObjectId
from agent.core.simulation.standins import ANY_PATH, Reply, Visit, answer, kinds_of, refusal
from agent.core.simulation.tables import Served, dig
from agent.core.simulation.world import State

UNAVAILABLE: Final = 503
SERVICE_NAME: Final = "kubernetes.io/service-name"
HTTPS: Final = 443


def condition(body: Body, kind: str) -> str:
    """The status of a condition: True, False, Unknown, or empty where it is not there."""
    rows = dig(body, ("status", "conditions")) or ()
    return next((str(row["status"]) for row in rows if row["type"] == kind), "")


def endpoints(state: State, namespace: str, service: str) -> Iterator[Body]:
    """The endpoints in the EndpointSlices of a Service."""
    for key, piece in state.of("discovery.k8s.io", "EndpointSlice").items():
        labels = piece["metadata"].get("labels") or {}
        if key.namespace == namespace and labels.get(SERVICE_NAME) == service:
            yield from piece.get("endpoints") or ()


def through_service(
    state: State, namespace: str, name: str, visit: Visit = ANY_PATH, port: Any = None
) -> Reply:
    """A request to a Service as kube-proxy sends it.

    To ready endpoints; where there is none, to those that still serve while terminating (KEP-1669).
    """
    return _through(state, namespace, name, visit, port, may_terminate=True)


def through_resolver(state: State, ref: Body, visit: Visit = ANY_PATH) -> Reply:
    """A request of the API server to a Service that a pointer names: to ready endpoints only.

    ``ref`` has namespace, name and port. That is kube-apiserver with --enable-aggregator-routing; without it
    kube-proxy decides, which is never worse.
    """
    port = ref.get("port", HTTPS)
    return _through(state, ref["namespace"], ref["name"], visit, port, may_terminate=False)


def _through(
    state: State, namespace: str, name: str, visit: Visit, port: Any, *, may_terminate: bool
) -> Reply:
    service = state.get(ObjectId("", "Service", namespace, name))
    if service is None:
        return Reply(UNAVAILABLE, f"service {namespace}/{name} is not there")
    if port is not None and port not in served_ports(service):
        return Reply(UNAVAILABLE, f"service {namespace}/{name} has no port {port}")
    rows = list(endpoints(state, namespace, name))
    chosen = [row for row in rows if row["conditions"]["ready"]]
    if not chosen and may_terminate:
        chosen = [row for row in rows if row["conditions"]["serving"]]
    if not chosen:
        return Reply(UNAVAILABLE, f"service {namespace}/{name} has no ready endpoints")
    replies = [_of_endpoint(state, row, visit) for row in chosen]
    return next((reply for reply in replies if not reply.is_right), replies[0])


def served_ports(service: Body) -> list[Any]:
    """Numbers and names of a Service's ports."""
    ports = service["spec"].get("ports") or ()
    return [port["port"] for port in ports] + [port["name"] for port in ports if port.get("name")]


def _of_endpoint(state: State, row: Body, visit: Visit) -> Reply:
    target = row.get("targetRef")
    if target is None:
        # No pod stands behind it (the API server itself, an address outside): no release can take it away.
        return Reply(200)
    pod = state.get(ObjectId("", "Pod", target.get("namespace", ""), target.get("name", "")))
    if pod is None or pod["metadata"]["uid"] != target["uid"]:
        return Reply(UNAVAILABLE, f"pod {target.get('name')} is gone")
    if reason := refusal(state, pod):
        return Reply(UNAVAILABLE, f"pod {target['name']}: {reason}")
    return answer(state, pod, visit)


def backends(state: State, namespace: str, service: str) -> list[Body]:
    """The pods behind the ready endpoints of a Service."""
    pods = []
    for row in endpoints(state, namespace, service):
        target = row.get("targetRef") or {}
        pod = state.get(ObjectId("", "Pod", target.get("namespace", ""), target.get("name", "")))
        if pod is not None and row["conditions"]["ready"]:
            pods.append(pod)
    return pods


def through_apiservice(state: State, api: Body, visit: Visit = ANY_PATH) -> Reply:
    """A request through the aggregator: while Available is not True it answers 503 without trying.

    kube-aggregator, pkg/apiserver/handler_proxy.go.
    """
    if condition(api, "Available") != "True":
        return Reply(UNAVAILABLE, f"APIService {api['metadata']['name']} is not available")
    ref = api["spec"].get("service")
    return through_resolver(state, ref, visit) if ref else Reply(200)


def through_pointer(state: State, pointer: ObjectId) -> Reply:
    """Does a request through this APIService, Service, Ingress, webhook or CRD get a right answer now?

    Where a pointer names several backends, each must answer. Kinds that point nowhere answer 404.
    """
    body = state.get(pointer)
    if body is None:
        return Reply(404, f"{pointer} is not there")
    match pointer.group_kind:
        case ("apiregistration.k8s.io", "APIService"):
            spec = body["spec"]
            kinds = aggregated(state, body) if spec.get("service") else ()
            replies = [through_apiservice(state, body, Visit("list", served.plural)) for served in kinds]
            return _worst([*replies, through_apiservice(state, body)])
        case ("", "Service"):
            return through_service(state, pointer.namespace, pointer.name)
        case ("networking.k8s.io", "Ingress"):
            return _worst(
                [
                    through_service(state, pointer.namespace, ref["name"], port=_port(ref))
                    for ref in _ingress_services(body)
                ]
            )
    refs = list(webhook_services(body))
    return _worst([through_resolver(state, ref) for ref in refs]) if refs else Reply(404, "points nowhere")


def _worst(replies: list[Reply]) -> Reply:
    return max(replies, key=lambda reply: reply.status, default=Reply(404, "points nowhere"))


def _port(ref: Body) -> Any:
    port = ref.get("port") or {}
    return port.get("number") or port.get("name")


def _ingress_services(body: Body) -> Iterator[Body]:
    default = dig(body, ("spec", "defaultBackend", "service"))
    if default:
        yield default
    for rule in body["spec"].get("rules") or ():
        for path in dig(rule, ("http", "paths")) or ():
            if dig(path, ("backend", "service")):
                yield path["backend"]["service"]


def webhook_services(body: Body) -> Iterator[Body]:
    """The Services that a webhook configuration, or a CRD's conversion, calls."""
    hooks = [*(body.get("webhooks") or ()), dig(body, ("spec", "conversion", "webhook")) or {}]
    for hook in hooks:
        ref = dig(hook, ("clientConfig", "service"))
        if ref:
            yield ref


def aggregated(state: State, api: Body) -> tuple[Served, ...]:
    """The kinds that the pods behind an APIService serve for it."""
    spec = api["spec"]
    ref = spec["service"]
    for pod in backends(state, ref["namespace"], ref["name"]):
        kinds = kinds_of(pod).get(f"{spec['group']}/{spec['version']}")
        if kinds:
            return kinds
    return ()
