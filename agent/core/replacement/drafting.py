"""The steps by which one object is replaced under its name."""

from __future__ import annotations

from collections.abc import Iterable

from agent.core.classify import classify
from agent.core.facet import Facet, FacetKind
from agent.core.model import Category, Form, LiveObject, Manifest
from agent.core.propagation import Propagation
from agent.core.references import pod_template
from agent.core.replacement.bridges import bridge_of, carries, id_of_bridge, is_bridge
from agent.core.replacement.orphans import owned_sets
from agent.core.replacement.ways import way_of
from agent.core.situation import Situation, is_listed
from agent.core.steps import Answer, Gate, GateState, Step, Verb
from agent.core.table_replacements import ReplacementRow, Way


def replaced(
    situation: Situation,
    generation: int,
    manifest: Manifest,
    live: LiveObject,
    *,
    parts: tuple[Facet, ...],
    answer: Answer | None,
) -> tuple[Step, ...]:
    """What is asked of the server for a change that it refuses in place, in order.

    The delete is a REPLACE; that the object is made anew is the plan of the look after it.
    """
    row = way_of(situation.policy, live, manifest, parts)
    told = answer.reason if answer and answer.immutable else ""
    refused = next((p.reason for p in parts if p.kind is FacetKind.IMMUTABLE), "") or told
    step = Step(
        id=live.id,
        verb=Verb.REPLACE,
        category=classify(parts)[0],
        form=Form.BASE,
        says=_said(row, refused),
        gates=_own_gates(situation, live, row, told or refused),
        uid=live.uid,
        resource_version=live.resource_version,
        way=row.way,
        propagation=_propagation(situation, live, row.way),
        orphans=owned_sets(situation, live) if row.way is Way.ORPHAN else (),
    )
    if row.way is Way.BRIDGE and not live.is_deleting:
        return (*_bridged(situation, live, generation), step)
    return (step,)


def why_leaving(live: LiveObject, *, is_orphan: bool) -> str:
    """Why an object that a replacement has left over goes, or empty for any other."""
    if is_orphan:
        return "orphaned by its Deployment, until the next one serves"
    return "the bridge that held the old role" if is_bridge(live) else ""


def _said(row: ReplacementRow, refused: str) -> str:
    if row.way is Way.HOLD:
        return refused
    how = f"not without downtime: {row.says}" if row.way is Way.DOWNTIME else row.says
    return f"{refused}; {how}; {row.costs}"


def _bridged(situation: Situation, live: LiveObject, generation: int) -> Iterable[Step]:
    bridge = bridge_of(situation, live, generation)
    key = id_of_bridge(live, bridge)
    standing = situation.live.get(key)
    if carries(standing, bridge):
        return
    role = bridge["roleRef"]
    yield Step(
        id=key,
        verb=Verb.CREATE if standing is None else Verb.UPDATE,
        category=Category.ADDITIVE,
        form=Form.FINAL,
        says=f"a bridge: {role.get('kind')} {role.get('name')} for the subjects of {live.id}",
        body=bridge,
        uid=standing.uid if standing else "",
        resource_version=standing.resource_version if standing else "",
    )


def _propagation(situation: Situation, live: LiveObject, way: Way) -> Propagation:
    if way in (Way.ORPHAN, Way.ADOPT):
        return Propagation.ORPHAN
    is_workload = pod_template(live.body, situation.policy) is not None
    return Propagation.FOREGROUND if way is Way.DOWNTIME and is_workload else Propagation.BACKGROUND


def _own_gates(situation: Situation, live: LiveObject, row: ReplacementRow, reason: str) -> tuple[Gate, ...]:
    """The gates that the object alone decides."""
    if row.way is Way.HOLD:
        wants = "the API server takes the change in place"
        return (Gate("in-place", wants, GateState.HELD, f"{reason}; {row.says}"),)
    if live.is_deleting:
        waits = ", ".join(live.metadata.get("finalizers") or ()) or "its grace period"
        reason = f"deleted at {live.metadata['deletionTimestamp']}, waits for {waits}"
        return (Gate("gone", "it is gone", GateState.HELD, reason),)
    gates = []
    own, entry = situation.desired.set_name, situation.ledger.entries.get(live.id)
    if live.set_name != own or entry is None or entry.uid not in ("", live.uid):
        reason = f"it was not made by set {own}, which therefore does not delete it; make it anew by hand"
        gates.append(Gate("ours", "the object is the set's own", GateState.HELD, reason))
    if row.way is Way.DOWNTIME:
        gates.append(_allowed(situation, live, row))
    return tuple(gates)


def _allowed(situation: Situation, live: LiveObject, row: ReplacementRow) -> Gate:
    wants = "the downtime is allowed"
    if is_listed(live.id, situation.rules.allow_downtime):
        return Gate("approved", wants, GateState.OPEN, "allowed by the set's configuration")
    way_out = f"give it a new name in Git, or allow it by allow_downtime: [{live.id}]"
    return Gate("approved", wants, GateState.HELD, f"not without downtime: {row.costs}; {way_out}")
