"""Serving paths: which there are in an object, where each leads, and how many ready endpoints carry it.

A path begins at a pointer (a row of the table ``pointers``), at a port of a Service, or at a version that a
CustomResourceDefinition serves. Its capacity is the number of distinct endpoints that an EndpointSlice calls
ready and whose pod still stands; None where requests need no endpoints (served by the API server itself, by
a URL, by a name outside).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from agent.core.health import HealthRules
from agent.core.model import Body, GroupKind, LiveObject, ObjectId
from agent.core.paths import Pattern, Wild, parse_pattern
from agent.core.policy import Policy, group_kind
from agent.core.states import POD, SERVICE, State, uid_of
from agent.core.tables import PointerRow

CRD: Final = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")
DEPLOYMENT: Final = GroupKind("apps", "Deployment")
REPLICASET: Final = GroupKind("apps", "ReplicaSet")
HASH_LABEL: Final = "pod-template-hash"

BY_LABELS: Final = "pods"
"""The target of pointer rows that choose pods themselves: a Service, whose ports are paths of their own."""


class Path(NamedTuple):
    """One way in: the pointer and, where it has several, which of them."""

    pointer: ObjectId
    slot: str

    def __str__(self) -> str:
        """``APIService v3.example.org``, ``Ingress shop/web [a.test /x]``, ``Service shop/web [port 80]``."""
        return f"{self.pointer} [{self.slot}]" if self.slot else str(self.pointer)


class Target(NamedTuple):
    """Where a path leads; ``port`` is a number or a name as text, empty for any."""

    id: ObjectId
    port: str = ""


class Reading(NamedTuple):
    """What carries a path now: ``capacity`` endpoints (None: it needs none), and why there is none."""

    capacity: int | None
    why: str = ""
    leads_somewhere: bool = False
    """Whether the path has a target of its own; one without (a URL) is not held to anything."""


@dataclass(frozen=True)
class Routes:
    """The tables by which paths are found and judged."""

    policy: Policy
    health: HealthRules

    def of(self, object_id: ObjectId, body: Body) -> dict[Path, Target | None]:
        """Every path that begins at this object, and its target (None: none is needed)."""
        if object_id.group_kind == SERVICE:
            return _ports(object_id, body)
        paths: dict[Path, Target | None] = {}
        rows = [p for p in self.policy.of(object_id.group_kind).pointers if p.row.target.kind != BY_LABELS]
        for placed in rows:
            for slot, value in _places(body, placed.pattern, is_alone=len(rows) == 1):
                paths[Path(object_id, slot)] = _target(object_id, value, placed.row)
        if object_id.group_kind == CRD:
            served = (v["name"] for v in (body.get("spec") or {}).get("versions") or () if v.get("served"))
            paths.update({Path(object_id, f"version {name}"): Target(object_id) for name in served})
        return paths

    def read(self, path: Path, state: State) -> Reading:
        """What a request on this path would find."""
        body = state.get(path.pointer)
        if body is None:
            return Reading(0, f"{path.pointer} is gone")
        paths = self.of(path.pointer, body)
        if path not in paths:
            return Reading(0, f"{path.pointer} has lost {path.slot or 'it'}")
        if self.health.gates_requests(path.pointer.group_kind):
            health = self.health.judge(LiveObject(path.pointer, body))
            if not health.is_ready:
                return Reading(0, f"{path.pointer} is {health.message}")
        target = paths[path]
        return Reading(None) if target is None else carried(target, state)._replace(leads_somewhere=True)


def carried(target: Target, state: State) -> Reading:
    """How many ready endpoints a target has."""
    body = state.get(target.id)
    if target.id.group_kind != SERVICE:
        is_missing = (
            body is None and state.knows(target.id.group_kind) and not _left_running(target.id, state)
        )
        return Reading(0, f"{target.id} is gone") if is_missing else Reading(None)
    if body is None:
        return Reading(0, f"{target.id} is gone")
    spec = body.get("spec") or {}
    if spec.get("type") == "ExternalName":
        return Reading(None)
    names = {str(p.get("name") or "") for p in spec.get("ports") or () if _is_meant(target.port, p)}
    if target.port and not names:
        return Reading(0, f"{target.id} has no port {target.port}")
    count = len(set(_ready(target.id, names, state)))
    return Reading(count, "" if count else f"{target.id} has no ready endpoints")


def _left_running(deployment: ObjectId, state: State) -> bool:
    """Whether ReplicaSets that a Deployment left behind run on: scaled by nobody, they lose no pod either.

    A Deployment's ReplicaSets bear its name and a hash (kubernetes.io/docs/concepts/workloads/controllers/
    deployment, Pod-template-hash label), and lose their owner before it goes with propagation Orphan.
    """
    if deployment.group_kind != DEPLOYMENT:
        return False
    for key, body in state.items():
        if key.group_kind == REPLICASET and key.namespace == deployment.namespace:
            metadata = body["metadata"]
            name, _, hashed = key.name.rpartition("-")
            is_its = name == deployment.name and (metadata.get("labels") or {}).get(HASH_LABEL) == hashed
            is_alone = not any(owner.get("controller") for owner in metadata.get("ownerReferences") or ())
            if is_its and is_alone and (body.get("spec") or {}).get("replicas"):
                return True
    return False


def _is_meant(port: str, row: Body) -> bool:
    return port in ("", str(row.get("port")), str(row.get("name")))


def _ready(service: ObjectId, ports: set[str], state: State) -> Iterator[str]:
    for piece in state.slices_of(service):
        if ports and not ports & {str(port.get("name") or "") for port in piece.get("ports") or ()}:
            continue
        for endpoint in piece.get("endpoints") or ():
            # Kubernetes, EndpointSlice: an unknown (absent) ready condition is read as true.
            if (endpoint.get("conditions") or {}).get("ready") is not False:
                target = endpoint.get("targetRef") or {}
                if target.get("kind") != "Pod" or _stands(service.namespace, target, state):
                    yield str(target.get("uid") or target.get("name") or endpoint.get("addresses"))


def _stands(namespace: str, target: Body, state: State) -> bool:
    pod = state.get(ObjectId(*POD, namespace, str(target.get("name"))))
    return pod is not None and target.get("uid", uid_of(pod)) == uid_of(pod)


def _ports(service: ObjectId, body: Body) -> dict[Path, Target | None]:
    ports = [str(port["port"]) for port in (body.get("spec") or {}).get("ports") or ()]
    slots = {Path(service, f"port {port}"): Target(service, port) for port in ports}
    return dict(slots or {Path(service, ""): Target(service)})


def _places(body: Any, pattern: Pattern, *, is_alone: bool) -> Iterator[tuple[str, Any]]:
    """Each place of the pattern, named by the items on its way; None where only the tail is absent.

    A field outside of lists needs a name only when its kind has other pointers; then its absence is that of
    the path, else (an APIService without a service) that of the target.
    """
    for names, value in _walk(body, pattern):
        if Wild.ITEM in pattern:
            yield " ".join(names), value
        elif is_alone:
            yield "", value
        elif value is not None:
            yield str(pattern[-1]), value


def _walk(body: Any, pattern: Sequence[Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not pattern:
        yield (), body
        return
    first, rest = pattern[0], pattern[1:]
    if first is not Wild.ITEM:
        below = body.get(first) if isinstance(body, dict) else None
        yield from _walk(below, rest)
        return
    for number, item in enumerate(body or ()):
        for names, value in _walk(item, rest):
            yield (item_name(item, number), *names), value


def item_name(item: Any, number: int) -> str:
    """How an item of a list is named: by its name, host or path, else by its index."""
    names = (item.get(key) for key in ("name", "host", "path")) if isinstance(item, dict) else ()
    return next((str(name) for name in names if name), str(number))


def _target(object_id: ObjectId, value: Any, row: PointerRow) -> Target | None:
    name = _text(value, row.target.name)
    if not name:
        return None
    if row.target.kind_from:
        group, slash, _ = _text(value, row.target.group_from).partition("/")
        kind = GroupKind(group if slash else "", _text(value, row.target.kind_from))
    else:
        kind = group_kind(row.target.kind)
    namespace = object_id.namespace
    if row.target.namespace is not None:
        namespace = _text(value, row.target.namespace) or namespace
    beside = row.target.name.rpartition(".")[0]
    port = _field(value, f"{beside}.port" if beside else "port")
    if isinstance(port, dict):
        port = port.get("number") or port.get("name")
    return Target(ObjectId(*kind, namespace, name), str(port or ""))


def _text(value: Any, path: str) -> str:
    return str(_field(value, path) or "")


def _field(value: Any, path: str) -> Any:
    for part in parse_pattern(path):
        value = value.get(part) if isinstance(value, dict) else None
    return value
