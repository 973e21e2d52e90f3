"""What stands behind a change: who selects the pods of a rollout, and whom a selector really selects.

A template can change while the Service's own text stays the same: pods that carry other labels, or have
other ports, leave the Service one by one as the rollout goes on. And a selector can be written otherwise
and select the very same pods: then it is free to change before they do.
Source: kubernetes.io/docs/concepts/services-networking/service (selectors, named target ports).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent.core.facet import Facet, FacetKind
from agent.core.few import SHOWN
from agent.core.model import Body, Category, FieldChange, LiveObject, Manifest, ObjectId
from agent.core.policy import PODS
from agent.core.references import pod_template
from agent.core.situation import Situation
from agent.core.targets import Target, pointers_of
from agent.core.workloads import labels_of_template


def reached(
    situation: Situation, manifest: Manifest, live: LiveObject, facets: tuple[Facet, ...]
) -> tuple[Facet, ...]:
    """The facets of one object's change, seen from the objects that it selects or that select it now."""
    if any(facet.kind is FacetKind.IMMUTABLE for facet in facets):
        return facets
    facets = tuple(_as_they_stand(situation, facet) for facet in facets)
    old, new = (pod_template(body, situation.policy) for body in (live.body, manifest.body))
    if old is None or new is None:
        return facets
    rollout = _Rollout(situation, live, old, new)
    left, shut = tuple(rollout.left()), tuple(rollout.shut())
    if left:
        reason = f"the new pods leave a Service: {'; '.join(left)}"
        facets = _with(facets, FacetKind.ADDS, reason, _is_label)
    if shut:
        reason = f"the rollout in place leaves a Service without its ports: {'; '.join(shut)}"
        facets = _with(facets, FacetKind.DOWNTIME, reason, _is_port)
    return facets


def _as_they_stand(situation: Situation, facet: Facet) -> Facet:
    """A selector that takes the same objects by other labels moves nothing: it is set at once."""
    old, new = facet.old, facet.new
    if facet.kind is not FacetKind.POINTS or old is None or new is None or old.name or new.name:
        return facet
    taken = _taken(situation, old)
    if old == new or not taken or taken != _taken(situation, new):
        return facet
    reason = f"{facet.reason}; they are the same now ({', '.join(sorted(map(str, taken))[:SHOWN])})"
    return replace(facet, kind=FacetKind.ADDS, reason=reason)


def _taken(situation: Situation, target: Target) -> frozenset[ObjectId]:
    """What a selector takes now: for pods, those that run and the workloads that make them."""
    if target.kind != PODS:
        objects = situation.live.of_kind(*target.kind)
        return frozenset(obj.id for obj in objects if target.takes(obj.id.namespace, obj.labels))
    workloads = (
        obj.id
        for obj in situation.workloads.templated
        if target.takes(obj.id.namespace, labels_of_template(situation.policy, obj.body))
    )
    running = situation.workloads.running
    pods = (pod.id for pod in running if target.takes(pod.id.namespace, pod.labels))
    return frozenset((*workloads, *pods))


@dataclass(frozen=True)
class _Rollout:
    """One workload's template before and after."""

    situation: Situation
    live: LiveObject
    old: Body
    new: Body

    def before(self) -> Iterator[tuple[LiveObject, Target, Manifest | None]]:
        """Who selects the old pods now, by which labels, and what Git wants of it; what Git drops is out."""
        situation = self.situation
        for service in situation.live.of_kind("", "Service"):
            wanted = situation.desired.manifests.get(service.id)
            if wanted is None and service.id in situation.ledger.entries:
                continue
            for pointer in pointers_of(service.body, situation.policy):
                if pointer.target.takes(self.live.id.namespace, _labels(self.old)):
                    yield service, pointer.target, wanted

    def left(self) -> Iterator[str]:
        """Who selects the old pods and not the new ones."""
        for service, target, _ in self.before():
            if not self._takes_new(target):
                yield f"{service.id} selects {target.labels}"

    def shut(self) -> Iterator[str]:
        """Ports that lead to the old pods, and would lead nowhere with the new ones."""
        for service, target, wanted in self.before():
            kept = _service_ports(wanted.body) if wanted else None
            for port, at in _service_ports(service.body).items():
                is_kept = self._takes_new(target) and (kept is None or port in kept)
                if is_kept and _answers(at, self.old) and not _answers(at, self.new):
                    yield f"{service.id} sends port {port[0]} to {at}, which the new pods do not have"

    def _takes_new(self, target: Target) -> bool:
        return target.takes(self.live.id.namespace, _labels(self.new))


def _with(
    facets: tuple[Facet, ...], kind: FacetKind, reason: str, belongs: Callable[[FieldChange], bool]
) -> tuple[Facet, ...]:
    """With a facet of its own for the fields that do this; they leave the one that takes nothing away."""
    out: list[Facet] = []
    for facet in facets:
        taken = tuple(filter(belongs, facet.fields)) if facet.category is Category.ADDITIVE else ()
        if not taken:
            out.append(facet)
            continue
        out.append(Facet(kind, Category.REPOINT, taken, reason, taken[0].path))
        rest = tuple(change for change in facet.fields if change not in taken)
        out += [replace(facet, fields=rest, path=rest[0].path)] if rest else []
    return tuple(sorted(out, key=lambda facet: -facet.category.severity))


def _is_label(change: FieldChange) -> bool:
    return "template" in change.path and "labels" in change.path


def _is_port(change: FieldChange) -> bool:
    return "template" in change.path and not _is_label(change)


def _labels(template: Body) -> Mapping[str, str]:
    return (template.get("metadata") or {}).get("labels") or {}


def _ports(template: Body) -> frozenset[tuple[Any, Any]]:
    """Name and number of every container port."""
    spec = template.get("spec") or {}
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    ports = [port for container in containers for port in container.get("ports") or ()]
    return frozenset((port.get("name"), port.get("containerPort")) for port in ports)


def _service_ports(service: Body) -> dict[tuple[Any, str], Any]:
    """Where each port of a Service leads: a name or a number of the pods' ports."""
    ports = (service.get("spec") or {}).get("ports") or ()
    return {
        (port.get("port"), port.get("protocol") or "TCP"): port.get("targetPort") or port.get("port")
        for port in ports
    }


def _answers(at: Any, template: Body) -> bool:
    """Whether pods of the template have the port, as far as they say what they have."""
    return any(at in port for port in _ports(template))
