"""What a replacement waits for, and what waits for it."""

from __future__ import annotations

from collections.abc import Iterator

from agent.core.backend import capacity, listed_pods
from agent.core.facet import Facet, FacetKind
from agent.core.gates import Gates, gate
from agent.core.idle import is_desired_pod, services_selecting
from agent.core.model import LiveObject, Manifest
from agent.core.rbac import RBAC_GROUP
from agent.core.references import pod_template
from agent.core.relabel import left_behind
from agent.core.replacement.bridges import bridge_of, carries, id_of_bridge
from agent.core.replacement.orphans import adopts, of_entry, unreleased
from agent.core.situation import Foreign, Situation
from agent.core.steps import Gate, GateState, KindContents, Step, Verb
from agent.core.storage import kind_defined
from agent.core.table_replacements import Way
from agent.core.workloads import labels_of_template

_ENDED = frozenset({"Complete", "Failed"})


def replacing(gates: Gates, step: Step, facets: tuple[Facet, ...]) -> tuple[Gate, ...]:
    """What the delete of an object waits for that is to be made anew."""
    situation = gates.situation
    live, manifest = situation.live.objects[step.id], situation.desired.manifests[step.id]
    if step.way is Way.HOLD or live.is_deleting:
        return ()
    own: tuple[Gate, ...] = ()
    match step.way:
        case Way.BRIDGE:
            own = (_bridged(situation, live), *_foreign(situation, facets))
        case Way.ORPHAN if adopts(situation.policy, manifest, live):
            own = gates.selected(step.id)
        case Way.ORPHAN:
            own = (_followed(situation, manifest, live),)
        case Way.FINISHED:
            own = (_finished(live),)
        case Way.EMPTY:
            own = (_empty(situation, live),)
    return (gates.complete(), *gates.known(), *own)


def contents_wanted(situation: Situation, step: Step) -> tuple[KindContents, ...]:
    """The kind whose objects a step takes along or rewrites, to be asked for."""
    if step.way is not Way.EMPTY and step.verb is not Verb.MIGRATE:
        return ()
    return (KindContents(kind_defined(situation.live.objects[step.id].body)),)


def beside(gates: Gates, manifest: Manifest) -> tuple[Gate, ...]:
    """What making an object waits for whose predecessor of the same name has left something behind."""
    situation = gates.situation
    entry = situation.ledger.entries.get(manifest.id)
    if entry is None or not entry.orphans:
        return ()
    wants = "what the old one left behind stands on its own"
    out = [gate("released", wants, unreleased(situation, manifest.id), wants)]
    for orphan in of_entry(situation, manifest.id):
        if adopts(situation.policy, manifest, orphan):
            wants = "no Service loses its pods by their new labels"
            lost = (why for _, why in left_behind(situation, orphan, manifest.body))
            out.append(gate("selected", wants, lost, wants))
    return tuple(out)


def granted_first(gates: Gates, step: Step) -> tuple[Gate, ...]:
    """New pods wait for bindings that are being replaced: they start with the rights of their release."""
    if step.body is None or pod_template(step.body, gates.situation.policy) is None:
        return ()
    replaced = {
        key: said
        for key, said in gates.pending.items()
        if key.group == RBAC_GROUP and said.startswith(Verb.REPLACE.value)
    }
    if not replaced:
        return ()
    behind = gates.situation.next_graph.closure(step.id) & replaced.keys()
    wants = "the bindings of its pods have their new role"
    return (gate("granted", wants, (f"{replaced[key]} is pending" for key in sorted(behind)), wants),)


def carried(situation: Situation, orphan: LiveObject) -> Gate:
    """Every Service that sends requests to an orphan's pods has as many ready endpoints of the new ones."""
    wants = "the new pods carry what its pods carried"
    return gate("carried", wants, _not_carried(situation, orphan), wants)


def _not_carried(situation: Situation, orphan: LiveObject) -> Iterator[str]:
    fresh = {pod.uid for pod in situation.workloads.running if is_desired_pod(situation, pod)}
    for service in services_selecting(situation, orphan):
        if service.id not in situation.desired.manifests:
            continue
        selector = (service.body.get("spec") or {}).get("selector") or {}
        behind = situation.workloads.selected(service.id.namespace, selector)
        bodies = [obj.body for obj in behind if obj.id in situation.desired.manifests]
        wanted = sum(capacity(situation, body) for body in bodies)
        ready = len(listed_pods(situation, service).uids & fresh)
        if ready < wanted:
            yield f"{service.id}: {ready} of {wanted} endpoints of the new pods ready"


def _bridged(situation: Situation, live: LiveObject) -> Gate:
    bridge = bridge_of(situation, live, 0)
    key = id_of_bridge(live, bridge)
    is_there = carries(situation.live.get(key), bridge)
    wants = "a bridge binding holds the old rights"
    return gate("bridged", wants, [] if is_there else [f"{key} is not there yet"], wants)


def _foreign(situation: Situation, facets: tuple[Facet, ...]) -> tuple[Gate, ...]:
    """Subjects that no Git version had are not in the binding that is made anew."""
    entries = [entry for facet in facets if facet.kind is FacetKind.UNION for entry in facet.foreign]
    if not entries or situation.rules.foreign is Foreign.DROP:
        return ()
    reason = (
        f"{len(entries)} entries that Git never had would go, e.g. {entries[0]}; say foreign_entries: drop, "
        "or put them into Git"
    )
    return (Gate("foreign", "only entries that Git had are taken away", GateState.HELD, reason),)


def _followed(situation: Situation, manifest: Manifest, live: LiveObject) -> Gate:
    wants = "every Service of the old pods has somebody to move to"
    return gate("followed", wants, _left_alone(situation, manifest, live), wants)


def _left_alone(situation: Situation, manifest: Manifest, live: LiveObject) -> Iterator[str]:
    """Services that select the old pods and that nothing which Git wants would stand behind."""
    templates = [labels_of_template(situation.policy, one.body) for one in _beside(situation, manifest)]
    for service in services_selecting(situation, live):
        wanted = situation.desired.manifests.get(service.id)
        if wanted is None and service.id in situation.ledger.entries:
            continue
        selector = ((wanted.body if wanted else service.body).get("spec") or {}).get("selector") or {}
        if selector and not any(selector.items() <= labels.items() for labels in templates):
            yield f"{service.id} selects none of the new pods; change its selector with them"


def _beside(situation: Situation, manifest: Manifest) -> Iterator[Manifest]:
    """What Git wants in the same namespace."""
    wanted = situation.desired.manifests.values()
    return (other for other in wanted if other.id.namespace == manifest.id.namespace)


def _empty(situation: Situation, live: LiveObject) -> Gate:
    """With its definition every object of a kind goes."""
    kind = kind_defined(live.body)
    wants = f"no {kind} is there, since all would be deleted"
    answer = situation.answers.get(KindContents(kind))
    if answer is None or answer.state is not GateState.OPEN:
        return Gate("empty", wants, GateState.UNKNOWN, answer.reason if answer else "not asked yet")
    count = f"{len(answer.ids)} of {kind} would be deleted; give the kind another name or group in Git"
    return gate("empty", wants, [count] if answer.ids else [], wants)


def _finished(live: LiveObject) -> Gate:
    wants = "the Job that runs has ended"
    status = live.body.get("status") or {}
    conditions = status.get("conditions") or ()
    is_over = any(c.get("type") in _ENDED and c.get("status") == "True" for c in conditions)
    active = int(status.get("active") or 0)
    pods = "1 pod runs" if active == 1 else f"{active} pods run"
    return gate("finished", wants, [] if is_over else [f"{live.id} has not ended: {pods}"], wants)
