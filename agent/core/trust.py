"""Whether a pointer's CA bundle verifies the backend that it is about to point at.

A caBundle that a controller wrote into live, and that Git does not have, belongs to the old backend: moving
the pointer alone would leave x509 errors behind (tigera/operator#5243, cert-manager/cert-manager#8771).
"""

from __future__ import annotations

from typing import Any, Final

from agent.core.backend import SERVICE
from agent.core.classify import Facet
from agent.core.defining import is_half_made
from agent.core.fields import get, rule_at
from agent.core.model import Body, FieldPath, ObjectId
from agent.core.normalize import is_filler
from agent.core.paths import instance
from agent.core.rules import MISSING
from agent.core.situation import Situation
from agent.core.steps import Gate, GateState, Trust
from agent.core.targets import Target

_HTTPS: Final = 443


def question_of(situation: Situation, key: ObjectId, facet: Facet) -> Trust | None:
    """What to ask before this pointer moves; None where no CA bundle speaks of the new target.

    The pointer of a new object leaves nobody, and who serves may put its own bundle in once it stands.
    """
    if facet.new is None or facet.new.kind != SERVICE or is_half_made(situation, key):
        return None
    bundle = _bundle(situation, key, facet)
    port = _port(situation.desired.manifests[key].body, facet.path, situation, key)
    return Trust(facet.new.namespace, facet.new.name, port, bundle) if bundle else None


def trusted(situation: Situation, key: ObjectId, facet: Facet) -> Gate | None:
    """The certificate gate of one pointer, or None where it has no CA bundle."""
    question = question_of(situation, key, facet)
    if question is None:
        return None
    wants = f"the certificate of {facet.new} verifies with the pointer's CA bundle"
    answer = situation.answers.get(question)
    if answer is None:
        return Gate("trusted", wants, GateState.UNKNOWN, "not asked yet")
    if answer.state is not GateState.UNKNOWN:
        return Gate("trusted", wants, answer.state, answer.reason or wants)
    if _wanted_bundle(situation, key, facet):
        reason = f"{answer.reason}; the CA bundle stands in Git, so it is taken to be right"
        return Gate("trusted", wants, GateState.OPEN, reason)
    reason = f"{answer.reason}; the CA bundle stands only in the cluster: put the new one into Git"
    return Gate("trusted", wants, GateState.UNKNOWN, reason)


def reachable(situation: Situation, key: ObjectId, path: FieldPath, target: Target) -> Gate | None:
    """Whether the Service has the port that the API server will call; None where the server calls nobody.

    A webhook at a port that no Service has fails every request that it is asked about.
    """
    kind = situation.policy.of(key.group_kind)
    is_called = any(p.row.trust and instance(p.pattern, path) == path for p in kind.pointers)
    service = situation.live.get(target.id) if target.id else None
    spec = (service.body.get("spec") or {}) if service else {}
    if not is_called or not spec.get("ports"):
        return None
    port = _port(situation.desired.manifests[key].body, path, situation, key)
    wants = f"{target} has port {port}"
    has = [one.get("port") for one in spec["ports"]]
    if port in has:
        return Gate("port", wants, GateState.OPEN, wants)
    listed = ", ".join(map(str, has))
    return Gate("port", wants, GateState.HELD, f"{target} has port {listed}, the pointer names {port}")


def _bundle(situation: Situation, key: ObjectId, facet: Facet) -> str:
    live = situation.live.get(key)
    held = _at_trust(live.body, situation, key, facet) if live else ""
    return _wanted_bundle(situation, key, facet) or held


def _wanted_bundle(situation: Situation, key: ObjectId, facet: Facet) -> str:
    return _at_trust(situation.desired.manifests[key].body, situation, key, facet)


def _at_trust(body: Body, situation: Situation, key: ObjectId, facet: Facet) -> str:
    kind = situation.policy.of(key.group_kind)
    for placed in kind.pointers:
        if placed.row.trust and instance(placed.pattern, facet.path) == facet.path:
            at = instance(placed.pattern_of(placed.row.trust), facet.path)
            value = get(body, at, kind.rules)
            if isinstance(value, str) and value and not is_filler(value, rule_at(at, kind.rules)):
                return value
    return ""


def _port(body: Body, path: FieldPath, situation: Situation, key: ObjectId) -> int:
    """The port that the pointer names, at its own level or in the service below it; else 443."""
    value: Any = get(body, path, situation.policy.of(key.group_kind).rules)
    for name in ("service", "webhook", "clientConfig", "service", ""):
        if value is MISSING or not isinstance(value, dict):
            return _HTTPS
        if isinstance(value.get("port"), int):
            return int(value["port"])
        value = value.get(name, value)
    return _HTTPS
