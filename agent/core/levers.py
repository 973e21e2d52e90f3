"""What people decided, as the plan goes by it: a suspension, approvals, overrides, the say over members.

An approval or an override is bound to its step, to the uid of the object and to what the step would do to it.
When one of these is another by now it is stale: it opens nothing, and the gate says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from agent.core.acts import Act, ActKind, standing, suspended
from agent.core.ledger import How
from agent.core.model import COMMIT_ANNOTATION, GENERATION_LABEL, Body
from agent.core.redact import SECRETS
from agent.core.situation import Situation
from agent.core.stamps import digest_of
from agent.core.steps import Gate, GateState, Step, Verb

APPROVABLE: Final = frozenset({"approved", "agreed"})
"""Gates that an approval of their step opens."""

NEVER_OVERRIDDEN: Final = frozenset(
    {"allowed", "asked", "gone", "in-place", "ours", "owner", "owning", "protected", "suspended", "there"}
)
"""Gates that tell of what cannot be done, of what is not ours, or of what another command lifts."""

PRUNES: Final = "prunes"
"""What ``trapeze approve`` is told to agree to the prune of members that were rebuilt or adopted."""

_TAKES: Final = (Verb.DELETE, Verb.ABANDON, Verb.REPLACE)
_STAMPS: Final = (("labels", GENERATION_LABEL), ("annotations", COMMIT_ANNOTATION))


def pulled(situation: Situation, steps: Iterable[Step]) -> tuple[Step, ...]:
    """The steps with what people decided: gates that they closed, gates that they opened."""
    return tuple(_pulled(situation, step) for step in steps)


def binding_of(situation: Situation, step: Step) -> tuple[str, str]:
    """What an approval of ``step`` is bound to: the object's uid, and a digest of what is done to what.

    Where the step is written from and which generation it belongs to does not count. Of a Secret there is no
    digest, which could be guessed: its resourceVersion and the source of what is written stand in.
    """
    if step.id.group_kind in SECRETS:
        return step.uid, f"version {step.resource_version} {' '.join(map(str, step.bases[-1:]))}".strip()
    live = situation.live.get(step.id)
    had = {key: value for key, value in live.body.items() if key not in _NOT_CONTENT} if live else {}
    return step.uid, digest_of({"had": had, "writes": _unstamped(step.body) if step.body else None})


_NOT_CONTENT: Final = ("metadata", "status")


def _unstamped(body: Body) -> Body:
    metadata = dict(body.get("metadata") or {})
    for place, key in _STAMPS:
        metadata[place] = {k: v for k, v in (metadata.get(place) or {}).items() if k != key}
    return {**body, "metadata": metadata}


def _pulled(situation: Situation, step: Step) -> Step:
    gates = [*step.gates, *_own_gates(situation, step)]
    if all(gate.is_open for gate in gates):
        return replace(step, gates=tuple(gates))
    acts = [act for act in standing(situation.ledger.acts) if act.step == step.key]
    binding = binding_of(situation, step) if acts else ("", "")
    return replace(step, gates=tuple(_judged(situation, step, gate, acts, binding) for gate in gates))


def _own_gates(situation: Situation, step: Step) -> Iterator[Gate]:
    by = suspended(situation.ledger.acts)
    if by is not None:
        reason = f"suspended by {by.by}{_because(by)}; `trapeze resume {situation.desired.set_name}`"
        yield Gate("suspended", "the set is not suspended", GateState.HELD, reason)
    entry = situation.ledger.entries.get(step.id)
    if entry is not None and entry.how is not How.MADE and step.verb in _TAKES:
        reason = (
            f"it was {entry.how.value}, not made by this set; if all that was may be pruned: "
            f"`trapeze approve {situation.desired.set_name} {PRUNES}`"
        )
        yield Gate("agreed", "a person says that it may be pruned", GateState.HELD, reason)


def _judged(
    situation: Situation, step: Step, gate: Gate, acts: Iterable[Act], binding: tuple[str, str]
) -> Gate:
    """The gate, opened by the act that is bound to all this; else with the command that would open it."""
    if gate.is_open or (gate.name in NEVER_OVERRIDDEN):
        return gate
    meant = [act for act in acts if _means(act, gate)]
    for act in meant:
        if (act.uid, act.digest) == binding:
            said = f"{_PAST[act.kind]} by {act.by}{_because(act)}"
            return replace(gate, state=GateState.OPEN, reason=f"{said} (it was held: {gate.reason})")
    reason = gate.reason
    if gate.name in APPROVABLE and situation.is_observed:
        reason += f"; or `trapeze approve {situation.desired.set_name} '{step.key}'`"
    if meant:
        last = meant[-1]
        why = "the object was made anew" if last.uid != binding[0] else "what it was bound to has changed"
        reason += f"; {_NOUN[last.kind]} by {last.by} is stale: {why}"
    return replace(gate, reason=reason)


_PAST: Final = {ActKind.APPROVE: "approved", ActKind.OVERRIDE: "overridden"}
_NOUN: Final = {ActKind.APPROVE: "the approval", ActKind.OVERRIDE: "the override"}


def _means(act: Act, gate: Gate) -> bool:
    if act.kind is ActKind.APPROVE:
        return gate.name in APPROVABLE
    return act.kind is ActKind.OVERRIDE and act.gate == gate.name


def _because(act: Act) -> str:
    return f": {act.reason}" if act.reason else ""
