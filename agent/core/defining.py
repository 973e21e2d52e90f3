"""A new object that stands before its pointer does: a definition comes before who converts its objects.

What serves a conversion webhook is often the controller of that very kind, which starts only once the kind is
there: a definition that waited for it would wait for ever. So it is made without its conversion and with its
stored version alone, where nothing is to be converted; the other versions come with the cutover
(kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from agent.core.absence import CRD
from agent.core.backend import backend
from agent.core.classify import Facet, FacetKind, facets
from agent.core.diff import two_way
from agent.core.fields import find, put
from agent.core.kind_policy import KindPolicy
from agent.core.model import Body, FieldPath, Form, Manifest, ObjectId
from agent.core.policy import Policy
from agent.core.rules import MISSING
from agent.core.situation import Situation
from agent.core.steps import Gate, GateState, Step, Verb
from agent.core.tables import Placed, PointerRow
from agent.core.targets import Target, target_of


class Halves(NamedTuple):
    """The steps that make an object in two halves, and the facets of the second."""

    steps: tuple[Step, Step]
    parts: tuple[Facet, ...]


def first_form(situation: Situation, manifest: Manifest) -> Body | None:
    """What is made of a new object before its ``later`` pointers stand; None where they may stand at once."""
    kind = situation.policy.of(manifest.id.group_kind)
    waits = any(not _serves(situation, target) for _, _, target in _later(manifest, kind))
    return _without_later(manifest, situation.policy) if waits else None


def _serves(situation: Situation, target: Target) -> bool:
    return backend(situation, target).state is GateState.OPEN


def _later(manifest: Manifest, kind: KindPolicy) -> Iterator[tuple[Placed[PointerRow], FieldPath, Target]]:
    for placed in kind.pointers:
        for path, value in find(manifest.body, placed.pattern, kind.rules) if placed.row.later else ():
            target = target_of(placed.row.target, value, manifest.id.namespace)
            if target is not None and target.is_service:
                yield placed, path, target


def _without_later(manifest: Manifest, policy: Policy) -> Body:
    kind = policy.of(manifest.id.group_kind)
    body = manifest.body
    for placed, path, _ in _later(manifest, kind):
        body = _disarmed(put(body, path, MISSING, kind.rules), placed, kind)
    return body


def as_made(situation: Situation, manifest: Manifest) -> tuple[Body, ...]:
    """The bodies that an object's ledger bases stand for: of one made in halves, what the first half was."""
    applied = situation.applied.get(manifest.id, ())
    if not is_half_made(situation, manifest.id):
        return applied
    return tuple(_without_later(replace(manifest, body=body), situation.policy) for body in applied)


def is_half_made(situation: Situation, key: ObjectId) -> bool:
    """Whether only the first half of a new object stands: nobody has been served through its pointer yet."""
    entry = situation.ledger.entries.get(key)
    return entry is not None and entry.form is Form.WIDENED and len(entry.bases) <= 1


def in_halves(situation: Situation, manifest: Manifest, step: Step, first: Body) -> Halves:
    """The create and the cutover after it, of ``step``, which would make the object whole in one request.

    ``first`` is the first form, stamped as the body of ``step`` is.
    """
    policy = situation.policy
    parts = facets(two_way(first, manifest.body, policy), manifest.body, first, (first,), policy)
    moves = [part for part in parts if part.kind is FacetKind.POINTS]
    made = replace(step, body=first, form=Form.WIDENED, says="new, before its pointer", is_pointer=False)
    wants = f"{manifest.id} stands"
    gate = Gate("standing", wants, GateState.HELD, f"{made.key} is pending")
    says = "; ".join(part.reason for part in moves)
    cutover = replace(step, verb=Verb.CUTOVER, says=says, is_pointer=True, gates=(*step.gates, gate))
    return Halves((made, cutover), parts)


def _disarmed(body: Body, placed: Placed[PointerRow], kind: KindPolicy) -> Body:
    for setting in placed.row.arming:
        kept = set(_stored(body, kind))
        for path, value in list(find(body, placed.pattern_of(setting.path), kind.rules)):
            if value == setting.value and path[:-1] not in kept:
                body = put(body, path, not value, kind.rules)
    return body


def _stored(body: Body, kind: KindPolicy) -> Iterator[FieldPath]:
    """The items that alone of their list have a flag: what is stored, which needs no conversion."""
    for sole in kind.sole:
        yield from (path[:-1] for path, value in find(body, sole.pattern, kind.rules) if value is True)


def not_served(situation: Situation, manifest: Manifest) -> str:
    """Why the version that an object is written in is not there yet, or empty."""
    version = manifest.api_version.rpartition("/")[2]
    for obj in situation.live.of_kind(*CRD):
        spec = obj.body.get("spec") or {}
        names = spec.get("names") or {}
        if (spec.get("group"), names.get("kind")) == tuple(manifest.id.group_kind):
            rows = [row for row in spec.get("versions") or () if row.get("name") == version]
            if rows and not rows[0].get("served"):
                return f"{obj.id} does not serve version {version} yet"
    told = situation.live.versions.get(manifest.id.group_kind)
    return "" if told is None or manifest.api_version in told else f"{manifest.api_version} is not served yet"
