"""What must be seen before something new is made: its kind, its namespace, and what a pointer points at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agent.core.absence import APISERVICE, CRD
from agent.core.defining import not_served
from agent.core.evidence import ending
from agent.core.gates import Gates, gate
from agent.core.guarding import guarded
from agent.core.model import Finding, GroupKind, Manifest, ObjectId, Severity
from agent.core.steps import Gate, GateState
from agent.core.trust import reachable


@dataclass(frozen=True)
class Creation:
    """Judges the creates of one plan."""

    gates: Gates

    def of(self, manifest: Manifest, *, is_pointer: bool) -> tuple[Gate, ...]:
        """Every gate of a create; a pointer also waits for its backend."""
        gates = [self.served(manifest)]
        if manifest.id.namespace:
            gates.append(self.housed(manifest.id))
        if (guard := guarded(self.gates.situation, manifest, self.gates.pending)) is not None:
            gates.append(guard)
        for pointer in self.gates.serving_pointers(manifest.body) if is_pointer else ():
            target = pointer.target
            is_used = self.gates.is_used(manifest.id)
            gates += [self.gates.serves(target, is_used=is_used), self.gates.granted(target)]
            port = reachable(self.gates.situation, manifest.id, pointer.path, target)
            gates += [port] if port else []
        return tuple(gates)

    def served(self, manifest: Manifest) -> Gate:
        """The cluster serves the kind, in the version that the object is written in."""
        key = manifest.id
        live = self.gates.situation.live
        wants = f"the cluster serves {key.group_kind}"
        unknown = live.why_unknown((key.group_kind,))
        if unknown:
            return Gate("served", wants, GateState.UNKNOWN, unknown)
        trouble = [f"{key.group_kind} is not served yet"] if key.group_kind in live.unserved else []
        trouble += [why] if (why := not_served(self.gates.situation, manifest)) else []
        return gate("served", wants, trouble, wants)

    def housed(self, key: ObjectId) -> Gate:
        """The namespace is there, or the set makes it before."""
        wants = f"namespace {key.namespace} exists"
        namespace = ObjectId("", "Namespace", "", key.namespace)
        live = self.gates.situation.live.get(namespace)
        if ends := ending(self.gates.situation.live, key):
            return gate("housed", wants, [ends], wants)
        unknown = self.gates.situation.live.why_unknown((namespace.group_kind,)) if live is None else ""
        if unknown:
            return Gate("housed", wants, GateState.UNKNOWN, unknown)
        missing = live is None and namespace not in self.gates.situation.desired.manifests
        return gate("housed", wants, [f"namespace {key.namespace} does not exist"] if missing else [], wants)

    def findings(self) -> Iterator[Finding]:
        """Objects that nothing in the set can ever make possible: a person must act."""
        situation = self.gates.situation
        if not situation.is_observed:
            return
        for kind in sorted(situation.live.denied):
            message = f"{kind} cannot be read: {situation.live.unknown[kind]}"
            yield Finding(Severity.OBJECT, message, remedy=f"grant list on {kind} to the agent")
        for key, manifest in sorted(situation.desired.manifests.items()):
            if key.group_kind in situation.live.unserved and not self._is_provided(key.group_kind):
                message = f"the cluster serves no {key.group_kind} ({manifest.api_version}), wanted by {key}"
                remedy = "install its CustomResourceDefinition first, or take the document out"
                yield Finding(Severity.OBJECT, message, manifest.origin, remedy)
            elif (
                key.namespace and situation.live.get(key) is None and self.housed(key).state is GateState.HELD
            ):
                message = f"{self.housed(key).reason}, wanted by {key}"
                remedy = "add the Namespace to the set, or make it"
                yield Finding(Severity.OBJECT, message, manifest.origin, remedy)

    def _is_provided(self, kind: GroupKind) -> bool:
        """Whether a CustomResourceDefinition or an APIService of the set brings the kind."""
        for key, manifest in self.gates.situation.desired.manifests.items():
            if key.group_kind not in (APISERVICE, CRD):
                continue
            spec = manifest.body.get("spec") or {}
            is_meant = key.group_kind == APISERVICE or (spec.get("names") or {}).get("kind") == kind.kind
            if is_meant and spec.get("group") == kind.group:
                return True
        return False
