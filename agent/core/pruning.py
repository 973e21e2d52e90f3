"""What must be seen before an object is deleted: last of all, users before what they use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from agent.core.absence import APISERVICE, CRD
from agent.core.backend import backend
from agent.core.customs import let_go
from agent.core.gates import Gates, gate
from agent.core.health import health
from agent.core.idle import (
    old_pods_served,
    services_selecting,
    still_named,
    users_by_name,
    users_of_role,
    users_of_subject,
)
from agent.core.model import GroupKind, LiveObject, ObjectId
from agent.core.policy import PODS, Policy
from agent.core.rbac import RBAC_GROUP
from agent.core.references import pod_template, uses
from agent.core.relabel import relabelling
from agent.core.replacement.gating import carried
from agent.core.replacement.orphans import is_orphan
from agent.core.sharing import claim, wanted_of
from agent.core.situation import Situation, is_listed
from agent.core.spared import spared
from agent.core.steps import Gate, GateState, NamespaceContents
from agent.core.storage import kind_defined
from agent.core.targets import pointers_of

NAMESPACE = GroupKind("", "Namespace")


@dataclass(frozen=True)
class Pruning:
    """Judges the deletes of one plan. ``unfinished`` are the objects that other steps still wait for."""

    gates: Gates
    unfinished: frozenset[ObjectId]

    def of(self, live: LiveObject) -> tuple[Gate, ...]:
        """Every gate of the delete of ``live``; one that was asked for already only waits for the end."""
        if live.is_deleting:
            return (self.going(live),)
        if is_orphan(self.gates.situation, live):
            return (*self.gates.taking, self.unreferenced(live), carried(self.gates.situation, live))
        own = tuple(g for g in (self.ours(live), self.approved(live)) if g is not None)
        own += spared(self.gates.situation, live, self.gates.leaving)
        if self.gates.situation.policy.unblocks(live.body) or is_dead_webhook(self.gates.situation, live):
            return (self.gates.complete(), *own)
        gates = [*self._taking(live), *own, self.unreferenced(live)]
        if pod_template(live.body, self.gates.situation.policy) is not None:
            gates.append(let_go(self.gates))
        if live.body.get("subjects"):
            gates.append(self.idle(live))
        if live.body.get("rules") and live.id.group == RBAC_GROUP:
            gates.append(self.ungathered(live))
        if live.id.group_kind == NAMESPACE:
            gates += [self.last(), self.discoverable(), self.empty(live)]
        if live.id.group_kind == CRD:
            gates.append(self.without_objects(live))
        if live.id.group_kind == APISERVICE:
            gates.append(self.without_members(live))
        return tuple(gates)

    def _taking(self, live: LiveObject) -> tuple[Gate, ...]:
        """What all removals wait for, but for what waits itself until this one, or what it names, is gone."""
        if not self._relabelling:
            return self.gates.taking
        services = {live.id, *self.gates.situation.live_graph.used_by(live.id)}
        first = {key for service in services for key in self._relabelling.get(service, ())}
        left = {key: step for key, step in self.gates.pending.items() if key not in first}
        return replace(self.gates, pending=left).taking

    @cached_property
    def _relabelling(self) -> Mapping[ObjectId, frozenset[ObjectId]]:
        return relabelling(self.gates.situation, self.gates.pending)

    def going(self, live: LiveObject) -> Gate:
        """A delete was accepted; it ends when every finalizer is gone."""
        finalizers = [*(live.metadata.get("finalizers") or ()), *_spec_finalizers(live)]
        waits = ", ".join(finalizers) or "its grace period"
        reason = f"deleted at {live.metadata['deletionTimestamp']}, waits for {waits}"
        return Gate("gone", "it is gone", GateState.HELD, reason)

    def ours(self, live: LiveObject) -> Gate | None:
        """Only what carries the set's label is deleted, whatever the ledger says."""
        own = self.gates.situation.desired.set_name
        if live.set_name and claim(self.gates.situation, live) is None:
            return None
        reason = f"the label of set {own} was taken off; put it back, or delete the object by hand"
        return Gate("ours", "the object carries the set's label", GateState.HELD, reason)

    def approved(self, live: LiveObject) -> Gate | None:
        """Kinds that take data or other objects along go only when a person has said so."""
        situation = self.gates.situation
        if not situation.policy.needs_approval(live.id):
            return None
        if is_listed(live.id, situation.rules.allow):
            allowed = "allowed by the set's configuration"
            return Gate("approved", "a person has allowed it", GateState.OPEN, allowed)
        way_out = f"prune: {{allow: [{live.id}]}}"
        return Gate(
            "approved", f"a person allows it by {way_out}", GateState.HELD, f"needs approval: {way_out}"
        )

    def unreferenced(self, live: LiveObject) -> Gate:
        """No live object or pod names it, and no Service lives on its pods.

        Where Git itself wants what names it, no waiting helps: that is a gate of its own.
        """
        situation = self.gates.situation
        named = [str(key) for key in still_named(situation, live.id)]
        if named:
            reason = f"{named[0]} of this revision names it: put it back into Git, or take the name out there"
            return Gate("named", "nothing in this revision names it", GateState.HELD, reason)
        unknown = situation.live.why_unknown(_lookers(situation.policy, live))
        wants = "nothing live uses it"
        if unknown:
            return Gate("unreferenced", wants, GateState.UNKNOWN, unknown)
        let_in = [live.body.get("spec")]
        served = old_pods_served(situation, live.id, let_in)
        users = [*users_by_name(situation, live.id), *self._services(live), *served]
        return gate("unreferenced", wants, (f"used by {user}" for user in users), wants)

    def _services(self, live: LiveObject) -> Iterator[str]:
        situation = self.gates.situation
        if pod_template(live.body, situation.policy) is None:
            return
        for service in services_selecting(situation, live):
            if service.id in self.gates.leaving:
                yield from self._until_gone(service, live)
                continue
            selector = (service.body.get("spec") or {}).get("selector") or {}
            others = situation.workloads.selected(service.id.namespace, selector)
            pods = situation.workloads.matching(service.id.namespace, selector)
            if not any(other.id in situation.desired.manifests for other in (*others, *pods)):
                yield f"{service.id} (nothing else stands behind it)"

    def _until_gone(self, service: LiveObject, live: LiveObject) -> Iterator[str]:
        """A Service goes before its pods, unless their workload names it: then once nobody else does."""
        situation = self.gates.situation
        if not any(reference.target == service.id for reference in uses(live.body, situation.policy)):
            yield f"{service.id} (goes first)"
            return
        leaving = {str(obj.id) for obj in situation.workloads.templated if obj.id in self.gates.leaving}
        others = (user for user in users_by_name(situation, service.id) if user not in leaving)
        yield from (f"{user} through {service.id}" for user in others)

    def idle(self, live: LiveObject) -> Gate:
        """No pod of the old generation works under a subject of the binding."""
        wants = "nothing that runs has rights from it alone"
        users: Iterable[str] = (
            user
            for subject in live.body.get("subjects") or ()
            for user in users_of_subject(self.gates.situation, subject, live.id.namespace)
        )
        return self.gates.unused(live.id, wants, users)

    def ungathered(self, live: LiveObject) -> Gate:
        """No pod of the old generation has the rules of the role through one that gathers them."""
        wants = "nothing that runs has rights from it"
        return self.gates.unused(live.id, wants, users_of_role(self.gates.situation, live.id))

    def last(self) -> Gate:
        """A namespace takes everything in it along: it goes after all else is done."""
        wants = "everything else is done"
        return gate("last", wants, (f"{key} first" for key in sorted(self.unfinished)), wants)

    def discoverable(self) -> Gate:
        """A namespace ends only with discovery of every group whole (kubernetes/kubernetes#60807)."""
        situation = self.gates.situation
        wants = "every APIService is available"
        unknown = situation.live.why_unknown((APISERVICE,))
        if unknown:
            return Gate("discoverable", wants, GateState.UNKNOWN, unknown)
        troubles = []
        for service in situation.live.of_kind(*APISERVICE):
            verdict = health(service, situation.health)
            if not verdict.is_ready:
                troubles.append(f"{service.id}: {verdict.message}")
        return gate("discoverable", wants, troubles, wants)

    def empty(self, live: LiveObject) -> Gate:
        """Nothing of anybody else stands in the namespace."""
        wants = "nothing of others stands in it"
        answer = self.gates.situation.answers.get(NamespaceContents(live.id.name))
        if answer is None or answer.state is not GateState.OPEN:
            state = answer.state if answer else GateState.UNKNOWN
            return Gate("empty", wants, state, answer.reason if answer else "not asked yet")
        return gate("empty", wants, (f"{key} is there" for key in answer.ids), wants)

    def without_objects(self, live: LiveObject) -> Gate:
        """Deleting a CustomResourceDefinition deletes every object of its kind."""
        kind = kind_defined(live.body)
        wants = f"no {kind} is left"
        unknown = self.gates.situation.live.why_unknown((kind,))
        if unknown:
            return Gate("without-objects", wants, GateState.UNKNOWN, unknown)
        objects = self.gates.situation.live.of_kind(*kind)
        count = "1 object" if len(objects) == 1 else f"{len(objects)} objects"
        there = [f"{count} of {kind} would go with it", *map(self._there, objects)] if objects else []
        wanted = (f"set {name} wants {key}" for name, key in wanted_of(self.gates.situation, kind))
        return gate("without-objects", wants, (*there, *wanted), wants)

    def _there(self, obj: LiveObject) -> str:
        """An object that stands in the way, and whose it is where it is not the set's own."""
        own = self.gates.situation.desired.set_name
        whose = f"set {obj.set_name}" if obj.set_name else "no set"
        return f"{obj.id} is there" + ("" if obj.set_name == own else f", of {whose}")

    def without_members(self, live: LiveObject) -> Gate:
        """Objects of an aggregated API can only be deleted through it."""
        group = (live.body.get("spec") or {}).get("group")
        wants = f"no member of {group} is left"
        left = (key for key in sorted(self.gates.leaving) if key.group == group)
        return gate("without-objects", wants, (f"{key} first" for key in left), wants)


def is_dead_webhook(situation: Situation, live: LiveObject) -> bool:
    """Whether a webhook configuration only refuses: each webhook must answer, and behind none does anything.

    What could not be read counts as alive (kubernetes.io/docs/reference/access-authn-authz, failurePolicy).
    """
    hooks = live.body.get("webhooks") or ()
    pointers = pointers_of(live.body, situation.policy)
    if (
        not hooks
        or len(pointers) < len(hooks)
        or any(hook.get("failurePolicy") == "Ignore" for hook in hooks)
    ):
        return False
    seen = [backend(situation, pointer.target) for pointer in pointers]
    return all(one.state is GateState.HELD and one.ready == 0 for one in seen)


def _lookers(policy: Policy, live: LiveObject) -> frozenset[GroupKind]:
    """The kinds that must be read to know who uses the object, itself or by the labels of its pods."""
    is_workload = pod_template(live.body, policy) is not None
    return policy.naming(live.id.group_kind) | (policy.naming(PODS) if is_workload else frozenset())


def _spec_finalizers(live: LiveObject) -> list[str]:
    """A namespace keeps its finalizers in its spec (kubernetes.io/docs, Namespace v1)."""
    return list((live.body.get("spec") or {}).get("finalizers") or ())
