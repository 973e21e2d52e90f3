"""What a step waits for that changes a NetworkPolicy: a pod that serves and was open keeps a way in.

Of several policies that change together, those that let in go first. Where no order of them keeps every such
port open, a person must want it. What was shut before the handoff and is open for a moment of it may be shut
again: nobody was promised it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from agent.core.few import few
from agent.core.idle import is_desired_pod, is_old_pod
from agent.core.model import Body, GroupKind, ObjectId
from agent.core.network import NETWORK_POLICY, Door, doors, is_shut, selecting
from agent.core.policy import PODS, id_of
from agent.core.references import pod_template
from agent.core.situation import Situation, is_listed
from agent.core.steps import Gate, GateState, Step, Verb

_SERVICE = GroupKind("", "Service")
_SLICE = GroupKind("discovery.k8s.io", "EndpointSlice")
_SLICE_OF = "kubernetes.io/service-name"

_LATE = (Verb.NARROW, Verb.DELETE, Verb.ABANDON)

Policies = Mapping[ObjectId, Body]


class Entry:
    """Judges the steps of one plan; what a namespace's policies come to is worked out once."""

    def __init__(self, situation: Situation) -> None:
        self._situation = situation
        self._networks: dict[tuple[str, bool], _Network] = {}

    def of(self, step: Step) -> tuple[Gate, ...]:
        """The gate of a step on a NetworkPolicy that shuts what serves; none of any other step."""
        is_allowed = is_listed(step.id, self._situation.rules.allow_downtime)
        if step.id.group_kind != NETWORK_POLICY or is_allowed:
            return ()
        wants = "somebody is let in to every pod that serves"
        unknown = self._situation.live.why_unknown((NETWORK_POLICY, _SERVICE, _SLICE, PODS))
        if unknown:
            return (Gate("entry", wants, GateState.UNKNOWN, unknown),)
        network = self._network(step.id.namespace, is_late=step.verb in _LATE)
        if step.verb is Verb.CUTOVER and (lost := list(network.let_go(step))):
            lets = f"{few(lost)} would lose what it lets in"
            return (_asking(step, f"{lets}; give the policy of the new pods a name of its own"),)
        order, left = network.order
        if step.id in left:
            told = few([str(door) for door in left[step.id]])
            way_out = "let in who calls it by a policy of this release"
            return (_asking(step, f"{told} would be shut: no policy lets anybody in; {way_out}"),)
        shut = network.shut(_with(network.now, step.id, step.body))
        if not shut:
            return ()
        first = few([str(key) for key in order[: order.index(step.id)]])
        told = few([str(door) for door in shut])
        return (Gate("entry", wants, GateState.HELD, f"{told} would be shut; {first} first"),)

    def _network(self, namespace: str, *, is_late: bool) -> _Network:
        key = (namespace, is_late)
        if key not in self._networks:
            self._networks[key] = _Network(self._situation, namespace, is_late=is_late)
        return self._networks[key]


def _asking(step: Step, trouble: str) -> Gate:
    reason = f"{trouble}, or allow it by allow_downtime: [{step.id}]"
    return Gate("approved", "the downtime is allowed", GateState.HELD, reason)


@dataclass(frozen=True)
class _Network:
    """The policies of one namespace, as they are and as they are to be, and the doors left open by them."""

    situation: Situation
    namespace: str
    is_late: bool
    """For what comes once old pods have gone: these are waited for by other gates, and have no doors here."""

    @cached_property
    def now(self) -> Policies:
        live = self.situation.live.of_kind(*NETWORK_POLICY)
        return {obj.id: obj.body for obj in live if obj.id.namespace == self.namespace}

    @cached_property
    def pending(self) -> Mapping[ObjectId, Body | None]:
        """What becomes of the set's policies: first those that stand at the end, then those that go."""
        wanted = self.situation.desired.manifests
        near = {
            key
            for key in (*wanted, *self.situation.ledger.entries)
            if key.group_kind == NETWORK_POLICY and key.namespace == self.namespace
        }
        changed: dict[ObjectId, Body | None] = {key: wanted[key].body for key in sorted(near & wanted.keys())}
        going = sorted(near - wanted.keys(), key=lambda key: (not self._unblocks(key), key))
        return changed | dict.fromkeys(going)

    def _unblocks(self, key: ObjectId) -> bool:
        return key in self.now and bool(self.situation.policy.unblocks(self.now[key]))

    @cached_property
    def before(self) -> Policies:
        """The policies as they were when the handoff began, as far as the ledger tells."""
        found = dict(self.now)
        for key in self.now:
            entry = self.situation.ledger.entries.get(key)
            bases = self.situation.applied.get(key, ())
            if entry is not None and len(entry.bases) > 1 and bases:
                found[key] = bases[0]
        return found

    @cached_property
    def open(self) -> tuple[tuple[Door, Body], ...]:
        """The doors that were open and are."""
        found = (*self._live_doors(), *self._wanted_doors())
        return tuple(
            (door, pod)
            for door, pod in found
            if not is_shut(door, pod, self.before.values()) and not is_shut(door, pod, self.now.values())
        )

    def shut(self, policies: Policies) -> list[Door]:
        """The open doors that these policies would leave shut."""
        return [door for door, pod in self.open if is_shut(door, pod, policies.values())]

    @cached_property
    def order(self) -> tuple[list[ObjectId], Mapping[ObjectId, list[Door]]]:
        """The policies in an order that shuts no door; those with no place in it, with what they shut."""
        pending, standing = dict(self.pending), self.now
        order: list[ObjectId] = []
        # What stands at the end comes before what goes, as in the plan.
        for may_go in (False, True):
            placed = True
            while placed:
                placed = False
                for key in [key for key, body in pending.items() if may_go or body is not None]:
                    after = _with(standing, key, pending[key])
                    if not self.shut(after):
                        standing, placed = after, True
                        order.append(key)
                        del pending[key]
        return order, {key: self.shut(_with(standing, key, body)) for key, body in pending.items()}

    def let_go(self, step: Step) -> Iterator[str]:
        """Pods of no new template that it lets somebody in to, selects no more, and others isolate."""
        live, after = self.now.get(step.id), _with(self.now, step.id, step.body)
        if live is None:
            return
        for pod in self.situation.workloads.running:
            if is_desired_pod(self.situation, pod):
                continue
            for direction, rules in (("Ingress", "ingress"), ("Egress", "egress")):
                is_let = (live["spec"].get(rules)) and selecting([live], pod.body, direction)
                still = selecting(after.values(), pod.body, direction)
                if is_let and still and step.id not in {id_of(policy) for policy in still}:
                    yield str(pod.id)
                    break

    def _live_doors(self) -> Iterator[tuple[Door, Body]]:
        for piece in self.situation.live.of_kind(*_SLICE):
            service = ObjectId(*_SERVICE, piece.id.namespace, piece.labels.get(_SLICE_OF, ""))
            for door in doors(service, (piece.body,)) if piece.id.namespace == self.namespace else ():
                pod = self.situation.live.get(door.pod)
                if pod is None or pod.is_deleting or (self.is_late and is_old_pod(self.situation, pod)):
                    continue
                yield door, pod.body

    def _wanted_doors(self) -> Iterator[tuple[Door, Body]]:
        """Doors of pods that are still to come, where the release itself lets somebody in."""
        final = self.now
        for key, body in self.pending.items():
            final = _with(final, key, body)
        wanted = self.situation.desired.manifests
        services = [key for key in wanted if key.group_kind == _SERVICE and key.namespace == self.namespace]
        for key, manifest in wanted.items():
            template = pod_template(manifest.body, self.situation.policy)
            if template is None or key.namespace != self.namespace or key in self.situation.live.objects:
                continue
            pod = {
                "metadata": {**(template.get("metadata") or {}), "namespace": key.namespace},
                "spec": template.get("spec") or {},
            }
            for service in services:
                for door in _to_come(service, wanted[service].body, key, pod):
                    if not is_shut(door, pod, final.values()):
                        yield door, pod


def _to_come(service: ObjectId, body: Body, workload: ObjectId, pod: Body) -> Iterator[Door]:
    spec = body.get("spec") or {}
    selector, labels = spec.get("selector") or {}, pod["metadata"].get("labels") or {}
    if not selector or not selector.items() <= labels.items():
        return
    for port in spec.get("ports") or ():
        target = port.get("targetPort", port.get("port"))
        if isinstance(target, int):
            yield Door(service, workload, target, port.get("protocol") or "TCP")


def _with(policies: Policies, key: ObjectId, body: Body | None) -> Policies:
    """The policies with this one in its place, or without it where it goes."""
    rest = {other: policy for other, policy in policies.items() if other != key}
    return rest if body is None else {**rest, key: body}
