"""Taking over what others installed: how it compares with a revision, who manages each field, what is taken.

What matches is taken over without changing a field: an apply of equal values makes our field manager one more
owner (Kubernetes: server-side apply, shared ownership). So it can be undone, by giving that ownership up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from agent.core.acts import Act, ActKind
from agent.core.claims import part_of
from agent.core.fields import get
from agent.core.ledger import Entry, How, Ledger
from agent.core.model import SET_LABEL, Body, Category, FieldPath, Form, Live, LiveObject, ObjectId
from agent.core.rules import MISSING, Rule
from agent.core.situation import Situation
from agent.core.steps import Change, Plan, Step, Verb


class Match(Enum):
    """How a desired object compares with what is there; the value is what is printed."""

    MATCHES = "matches"
    DIFFERS = "differs"
    MISSING = "missing"
    HELD = "held"
    MEMBER = "member"
    """It is the set's already."""


@dataclass(frozen=True)
class Adoptee:
    """One object of the revision. ``owners`` names the field managers of each declared field that has one.

    ``differs`` are the paths that are not as the revision has them; ``reason`` says why it is held.
    """

    id: ObjectId
    match: Match
    owners: Mapping[FieldPath, tuple[str, ...]]
    differs: tuple[FieldPath, ...] = ()
    reason: str = ""


def adoptees(situation: Situation, plan: Plan) -> tuple[Adoptee, ...]:
    """Every object of the revision that ``plan`` is for."""
    changes = {change.id: change for change in plan.changes}
    steps: dict[ObjectId, list[Step]] = {}
    for step in plan.steps:
        steps.setdefault(step.id, []).append(step)
    return tuple(
        _adoptee(situation, key, changes.get(key), steps.get(key, []))
        for key in sorted(situation.desired.manifests)
    )


def adoptable(plan: Plan, found: Iterable[Adoptee]) -> list[Step]:
    """The steps that take over what matches: they write our stamps, and nothing else that is new."""
    matching = {adoptee.id for adoptee in found if adoptee.match is Match.MATCHES}
    return [step for step in plan.steps if step.id in matching]


def given_back(ledger: Ledger, live: Live) -> tuple[list[Step], tuple[ObjectId, ...]]:
    """The steps that undo the last adoption, and the members that were written since, which stay.

    An apply that names no field gives up what our manager owns: what others own too stays as it is.
    """
    act = adoption(ledger)
    steps, kept = [], []
    for key, entry in sorted(ledger.entries.items()):
        obj = live.get(key)
        if act is None or obj is None or not _is_untouched(entry, act, obj):
            kept.append(key)
        else:
            steps.append(_giving_back(obj))
    return steps, tuple(kept)


def adoption(ledger: Ledger) -> Act | None:
    """The adoption that was not undone, or None."""
    kinds = (ActKind.ADOPT, ActKind.UNADOPT)
    last = next((act for act in reversed(ledger.acts) if act.kind in kinds), None)
    return last if last and last.kind is ActKind.ADOPT else None


def _is_untouched(entry: Entry, act: Act, obj: LiveObject) -> bool:
    commits = {base.commit for base in entry.bases}
    return entry.how is How.ADOPTED and entry.uid == obj.uid and commits == {act.revision}


def _giving_back(obj: LiveObject) -> Step:
    metadata = {key: obj.metadata[key] for key in ("name", "namespace") if key in obj.metadata}
    return Step(
        id=obj.id,
        verb=Verb.ABANDON,
        category=Category.PRUNE,
        form=Form.BASE,
        says="the adoption is undone; our labels and fields are taken off",
        body={"apiVersion": obj.body["apiVersion"], "kind": obj.id.kind, "metadata": metadata},
        uid=obj.uid,
        resource_version=obj.resource_version,
    )


def _adoptee(situation: Situation, key: ObjectId, change: Change | None, steps: list[Step]) -> Adoptee:
    live = situation.live.get(key)
    if live is None:
        return Adoptee(key, Match.MISSING, {}, reason=situation.live.why_unknown((key.group_kind,)))
    owners = owners_of(situation, situation.desired.manifests[key].body, live)
    if change is None:
        is_member = live.set_name == situation.desired.set_name
        return Adoptee(key, Match.MEMBER if is_member else Match.HELD, owners)
    label = ("metadata", "labels", SET_LABEL)
    differs = tuple(field.path for field in change.fields if field.path != label)
    closed = [gate.reason for step in steps for gate in step.closed_gates]
    if differs or not steps:
        return Adoptee(key, Match.DIFFERS, owners, differs, "; ".join(dict.fromkeys(closed)))
    is_plain = len(steps) == 1 and steps[0].verb is Verb.UPDATE
    match = Match.MATCHES if is_plain and not closed else Match.HELD
    return Adoptee(key, match, owners, reason="; ".join(dict.fromkeys(closed)))


def owners_of(situation: Situation, wanted: Body, live: LiveObject) -> Mapping[FieldPath, tuple[str, ...]]:
    """The field managers of each field that ``wanted`` declares, by the live object's managedFields."""
    rules = situation.policy.of(live.id.group_kind).rules
    found: dict[FieldPath, list[str]] = {}
    for entry in live.metadata.get("managedFields") or ():
        if not entry.get("subresource"):
            for path in _declared(entry.get("fieldsV1") or {}, wanted, rules, ()):
                managers = found.setdefault(path, [])
                if (manager := str(entry.get("manager"))) not in managers:
                    managers.append(manager)
    return {path: tuple(managers) for path, managers in found.items()}


def _declared(node: Mapping[str, Any], wanted: Any, rule: Rule, path: FieldPath) -> Iterator[FieldPath]:
    for name, below in node.items():
        part = part_of(name)
        value = MISSING if part is None else get(wanted, (part,), rule)
        if part is None or value is MISSING:
            continue
        child = rule.child(part) if isinstance(part, str) else rule.of_item
        if isinstance(value, dict | list) and any(inner != "." for inner in below):
            yield from _declared(below, value, child, (*path, part))
        else:
            yield (*path, part)
