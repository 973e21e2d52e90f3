"""Whether a target serves: the evidence for every cutover.

Ready endpoints are counted, not workloads: a Deployment can be Available while no EndpointSlice lists it,
and kube-apiserver's own service resolver takes ready endpoints only. An endpoint counts when its pod runs,
is ready, stays, and is of the template that its workload has now
(kubernetes.io/docs/concepts/services-networking/endpoint-slices).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from agent.core.classify import Target
from agent.core.evidence import ending, troubled
from agent.core.external import external_name, named_service
from agent.core.health import health
from agent.core.model import Body, GroupKind, LiveObject, ObjectId
from agent.core.paths import Wild
from agent.core.policy import PODS, group_kind, group_kind_of, id_of
from agent.core.selectors import labels_wanted
from agent.core.situation import Situation
from agent.core.steps import GateState
from agent.core.workloads import is_ready, labels_of_template, ready_since

SERVICE = GroupKind("", "Service")
_SLICE = GroupKind("discovery.k8s.io", "EndpointSlice")
_SLICE_OF = "kubernetes.io/service-name"


@dataclass(frozen=True, slots=True)
class Backend:
    """What was seen of a target: ``ready`` of ``wanted``, and why not all of them.

    ``since`` is when the youngest of the ready ones became ready, epoch seconds, 0 where none is.
    ``is_at_rest`` says that Git itself wants no pod there (replicas: 0), ``is_ending`` that what serves now
    is being deleted: nothing is to be pointed at it.
    """

    state: GateState
    ready: int
    wanted: int
    reason: str
    since: float = 0.0
    is_at_rest: bool = False
    is_ending: bool = False


def backend(situation: Situation, target: Target) -> Backend:
    """What stands behind ``target`` now; UNKNOWN where a kind that it needs could not be read."""
    makers = (group_kind(row.kind[0]) for row in situation.policy.tables.pod_templates)
    unknown = situation.live.why_unknown((SERVICE, _SLICE, PODS, target.kind, *makers))
    if unknown:
        return Backend(GateState.UNKNOWN, 0, 0, unknown)
    if target.kind == PODS:
        pods = _matching_pods(situation, target)
        if target.is_watched and not pods and not _workloads(situation, target):
            return Backend(GateState.OPEN, 0, 0, f"there are no {target}")
        return _of_pods(situation, target, pods)
    if not target.name:
        return _of_labelled(situation, target)
    seen = _of_service(situation, target) if target.kind == SERVICE else _of_object(situation, target)
    ends = ending(situation.live, target.id) if target.id else ""
    if not ends:
        return seen
    return replace(seen, state=GateState.HELD, reason=f"{ends}; {seen.reason}", is_ending=True)


def wanted_behind(situation: Situation, target: Target) -> str:
    """How many endpoints the target is to have once everything desired stands, in words."""
    labels = target.labels if target.kind == PODS else None
    owner = situation.workloads.owner
    roots = [obj for obj in situation.workloads.templated if owner(obj) is None]
    bodies = [obj.body for obj in roots if obj.id not in situation.desired.manifests]
    bodies += [manifest.body for manifest in situation.desired.manifests.values()]
    for body in bodies:
        if target.kind == SERVICE and id_of(body) == target.id:
            labels = labels_wanted((body.get("spec") or {}).get("selector"), "labels")
    if labels is None:
        return "an endpoint"
    number = sum(
        capacity(situation, body)
        for body in bodies
        if id_of(body).namespace == target.namespace
        and labels.match(labels_of_template(situation.policy, body))
    )
    return "1 endpoint" if number <= 1 else f"{number} endpoints"


def _of_labelled(situation: Situation, target: Target) -> Backend:
    """Objects that are watched by their labels: all of those that are there serve."""
    objects = situation.live.of_kind(*target.kind)
    there = [obj for obj in objects if target.takes(obj.id.namespace, obj.labels)]
    seen = [backend(situation, Target(obj.id.group_kind, obj.id.namespace, obj.id.name)) for obj in there]
    waiting = next((one for one in seen if one.state is not GateState.OPEN), None)
    return waiting or Backend(GateState.OPEN, len(seen), len(seen), f"{len(seen)} {target} serve")


def _of_object(situation: Situation, target: Target) -> Backend:
    obj = situation.live.get(target.id) if target.id else None
    if obj is None:
        return Backend(GateState.HELD, 0, 1, f"{target} does not exist")
    verdict = health(obj, situation.health)
    state = GateState.OPEN if verdict.is_ready else GateState.HELD
    return Backend(state, int(verdict.is_ready), 1, f"{target}: {verdict.message}")


def _of_service(situation: Situation, target: Target) -> Backend:
    service = situation.live.get(ObjectId("", "Service", target.namespace, target.name))
    if service is None:
        return Backend(GateState.HELD, 0, 1, f"{target} does not exist")
    name = external_name(service.body)
    if name:
        return _of_name(situation, service, name)
    selector = (service.body.get("spec") or {}).get("selector") or {}
    listed = listed_pods(situation, service)
    if not selector:
        state = GateState.OPEN if listed.ready else GateState.HELD
        return Backend(state, listed.ready, 1, f"{listed.ready} of 1 endpoints ready (no selector)")
    pods = Target(PODS, target.namespace, "", tuple(sorted(selector.items())))
    matching = _matching_pods(situation, pods)
    return _of_pods(situation, pods, [pod for pod in matching if pod.uid in listed.uids])


def _of_name(situation: Situation, service: LiveObject, name: str) -> Backend:
    """Behind a name of the cluster stands what stands behind that Service; the world outside is not asked."""
    inner = named_service(name)
    if inner is None:
        return Backend(GateState.OPEN, 1, 1, f"{name} is outside of the cluster")
    other = situation.live.get(inner.id) if inner.id else None
    if other is not None and external_name(other.body):
        return Backend(GateState.HELD, 0, 1, f"{service.id} is a name for {inner}, which is a name itself")
    return _of_service(situation, inner)


@dataclass(frozen=True, slots=True)
class Listed:
    """The ready endpoints of a Service by its EndpointSlices: how many addresses, of which pods."""

    ready: int
    uids: frozenset[str]


def listed_pods(situation: Situation, service: LiveObject) -> Listed:
    """What the EndpointSlices of a Service list as ready."""
    addresses: set[str] = set()
    uids: set[str] = set()
    for item in situation.live.of_kind(*_SLICE):
        if item.id.namespace != service.id.namespace or item.labels.get(_SLICE_OF) != service.id.name:
            continue
        for endpoint in item.body.get("endpoints") or ():
            conditions = endpoint.get("conditions") or {}
            if conditions.get("ready", True) is False or conditions.get("terminating"):
                continue
            addresses.update(endpoint.get("addresses") or ())
            uids.add(str((endpoint.get("targetRef") or {}).get("uid", "")))
    return Listed(len(addresses), frozenset(uids))


def _matching_pods(situation: Situation, target: Target) -> list[LiveObject]:
    return [pod for pod in situation.workloads.running if target.takes(pod.id.namespace, pod.labels)]


def _workloads(situation: Situation, target: Target) -> list[LiveObject]:
    """Root workloads whose pods are meant."""
    return [
        workload
        for workload in situation.workloads.templated
        if situation.workloads.owner(workload) is None
        and target.takes(workload.id.namespace, labels_of_template(situation.policy, workload.body))
    ]


def _of_pods(situation: Situation, target: Target, pods: Iterable[LiveObject]) -> Backend:
    """``pods`` are those that are reachable; all that match are looked at for what is wrong."""
    workloads = _workloads(situation, target)
    bare = _wanted_pods(situation, target)
    wanted = max(sum(capacity(situation, workload.body) for workload in workloads) + len(bare), 1)
    current = situation.workloads.is_of_current_template
    ready = [pod for pod in pods if is_ready(pod) and (current(pod) or pod.id in bare or not workloads)]
    since = max((_epoch(ready_since(pod)) for pod in ready), default=0.0)
    counted = f"{len(ready)} of {wanted} endpoints ready"
    if not workloads and not ready:
        return Backend(GateState.HELD, 0, wanted, f"no workload makes {target}")
    for workload in workloads:
        verdict = health(workload, situation.health)
        if not verdict.is_ready:
            reason = f"{counted}; {workload.id}: {verdict.message}" + _troubles(situation, target)
            return Backend(GateState.HELD, len(ready), wanted, reason, since)
    if len(ready) < wanted:
        rests = bool(workloads) and not bare and all(_is_at_rest(situation, item) for item in workloads)
        reason = "Git wants no pods there" if rests else counted + _troubles(situation, target)
        return Backend(GateState.HELD, len(ready), wanted, reason, since, rests)
    return Backend(GateState.OPEN, len(ready), wanted, counted, since)


def _wanted_pods(situation: Situation, target: Target) -> list[ObjectId]:
    """Bare pods of the set that the target takes."""
    return [
        key
        for key, manifest in situation.desired.manifests.items()
        if key.group_kind == PODS
        and target.takes(key.namespace, labels_of_template(situation.policy, manifest.body))
    ]


def _is_at_rest(situation: Situation, workload: LiveObject) -> bool:
    manifest = situation.desired.manifests.get(workload.id)
    return manifest is not None and capacity(situation, manifest.body) == 0


def _troubles(situation: Situation, target: Target) -> str:
    return troubled(_matching_pods(situation, target))


def capacity(situation: Situation, workload: Body) -> int:
    """How many pods the workload shall have: by the capacity table, else what its status says."""
    for placed in situation.policy.of(group_kind_of(workload)).capacity:
        node: Any = workload
        for part in placed.pattern:
            node = node.get(part) if isinstance(node, Mapping) and not isinstance(part, Wild) else None
        if isinstance(node, int):
            return node
        if placed.row.absent is not None:
            return placed.row.absent
    return int((workload.get("status") or {}).get("desiredNumberScheduled", 1))


def _epoch(stamp: str | None) -> float:
    return datetime.fromisoformat(stamp).timestamp() if stamp else 0.0
