"""What stands behind a change: who selects the pods of a rollout, and whom a selector really selects.

A template can change while the Service's own text stays the same: pods that carry other labels, or have
other ports, leave the Service one by one as the rollout goes on. And a selector can be written otherwise
and select the very same pods: then it is free to change before they do.
Source: kubernetes.io/docs/concepts/services-networking/service (selectors, named target ports).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from agent.core.facet import SHOWN, Facet, FacetKind
from agent.core.model import Body, Category, LiveObject, Manifest, ObjectId
from agent.core.policy import PODS
from agent.core.references import pod_template
from agent.core.situation import Situation
from agent.core.steps import Gate, GateState
from agent.core.targets import Target, pointers_of
from agent.core.workloads import labels_of_template

SELECTED = "selected"
"""The gate of a rollout that waits for a pointer to select its new pods."""


class Reached(NamedTuple):
    """The facets of a change with what it does to those in front of it, and what it has to wait for."""

    facets: tuple[Facet, ...]
    gates: tuple[Gate, ...] = ()


def reached(situation: Situation, manifest: Manifest, live: LiveObject, facets: tuple[Facet, ...]) -> Reached:
    """The facets of one object's change, seen from the objects that it selects or that select it now."""
    if any(facet.kind is FacetKind.IMMUTABLE for facet in facets):
        return Reached(facets)
    facets = tuple(_as_they_stand(situation, facet) for facet in facets)
    old, new = (pod_template(body, situation.policy) for body in (live.body, manifest.body))
    if old is None or new is None:
        return Reached(facets)
    rollout = _Rollout(situation, live, old, new)
    if rollout.old_labels == rollout.new_labels and _ports(old) == _ports(new):
        return Reached(facets)
    lost = tuple(dict.fromkeys(rollout.lost()))
    return Reached(_with(facets, lost) if lost else facets, tuple(rollout.waits()))


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

    @property
    def old_labels(self) -> Mapping[str, str]:
        return _labels(self.old)

    @property
    def new_labels(self) -> Mapping[str, str]:
        return _labels(self.new)

    def before(self) -> Iterator[tuple[LiveObject, Target, Manifest | None]]:
        """Who selects the old pods now, by which labels, and what Git wants of it; what Git drops is out."""
        situation = self.situation
        for service in situation.live.of_kind("", "Service"):
            wanted = situation.desired.manifests.get(service.id)
            if wanted is None and service.id in situation.ledger.entries:
                continue
            for pointer in pointers_of(service.body, situation.policy):
                if pointer.target.takes(self.live.id.namespace, self.old_labels):
                    yield service, pointer.target, wanted

    def _takes_new(self, target: Target) -> bool:
        return target.takes(self.live.id.namespace, self.new_labels)

    def _takes_both(self, wanted: Manifest | None) -> bool:
        targets = pointers_of(wanted.body, self.situation.policy) if wanted else ()
        namespace = self.live.id.namespace
        return any(
            self._takes_new(pointer.target) and pointer.target.takes(namespace, self.old_labels)
            for pointer in targets
        )

    def waits(self) -> Iterator[Gate]:
        """A Service that is to select the pods of both does so before the first new pod starts."""
        for service, target, wanted in self.before():
            if not self._takes_new(target) and self._takes_both(wanted):
                reason = f"{service.id} still selects {target.labels} alone"
                yield Gate(SELECTED, f"{service.id} selects the new pods too", GateState.HELD, reason)

    def lost(self) -> Iterator[str]:
        """What no order of two writes can keep, in words."""
        for service, target, wanted in self.before():
            if not self._takes_new(target):
                if not self._takes_both(wanted):
                    yield f"{service.id} selects {target.labels}, which the new pods do not carry"
                continue
            kept = _service_ports(wanted.body) if wanted else None
            for port, at in _service_ports(service.body).items():
                if (kept is None or port in kept) and _answers(at, self.old) and not _answers(at, self.new):
                    yield f"{service.id} sends port {port[0]} to {at}, which the new pods do not have"


def _with(facets: tuple[Facet, ...], lost: tuple[str, ...]) -> tuple[Facet, ...]:
    """The rollout as downtime: its fields leave the facet that says that nothing is taken away."""
    reason = f"the rollout in place leaves a Service without its pods: {'; '.join(lost)}"
    out: list[Facet] = []
    for facet in facets:
        if facet.kind is FacetKind.ADDS:
            moved = tuple(c for c in facet.fields if "template" in c.path)
            rest = tuple(c for c in facet.fields if c not in moved)
            out.append(
                Facet(FacetKind.DOWNTIME, Category.REPOINT, moved, reason, moved[0].path if moved else ())
            )
            out += [replace(facet, fields=rest, path=rest[0].path)] if rest else []
        else:
            out.append(facet)
    return tuple(sorted(out, key=lambda facet: -facet.category.severity))


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
