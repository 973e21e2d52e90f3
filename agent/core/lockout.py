"""Webhooks of a set that would stand between the agent and its own ledger.

A webhook that must answer, and that is asked about ConfigMaps in the ledgers' namespace, locks the agent out
as soon as nothing answers behind it: no step could be written down any more, the one that mends it neither.
Source: kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers (rules, selectors,
failurePolicy; "Avoiding operating on the kube-system namespace", avoiding deadlocks).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from agent.core.ledger_format import digest_of
from agent.core.model import Body, LiveObject, ObjectId
from agent.core.selectors import labels_wanted
from agent.core.situation import Situation
from agent.core.steps import Gate, GateState

LEDGER_LABEL: Final = "trapeze.dev/ledger"
MANAGED_BY: Final = {"app.kubernetes.io/managed-by": "trapeze"}
"""Labels of the ConfigMaps that a ledger consists of; the first one's value is a digest of the set's name."""

_GROUP: Final = "admissionregistration.k8s.io"
_KINDS: Final = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_WRITES: Final = frozenset({"CREATE", "UPDATE", "DELETE", "*"})


def lockout(situation: Situation, body: Body, live: LiveObject | None = None) -> Gate | None:
    """Held where ``body`` would lock the agent out and what is live does not do so already."""
    where = situation.rules.ledger_namespace
    if not where or not body.get("webhooks"):
        return None
    already = set(_covering(situation, live.body)) if live else set()
    names = [name for name in _covering(situation, body) if name not in already]
    if not names:
        return None
    said = f"{_must_answer(names, where)}: {way_out(where)}"
    return Gate("lockout", "no webhook stands before the agent's own ledger", GateState.HELD, said)


def way_out(where: str) -> str:
    """What a person does about a webhook that stands before the ledgers in the namespace ``where``."""
    return (
        "leave the namespace out by namespaceSelector: "
        "{matchExpressions: [{key: kubernetes.io/metadata.name, "
        f"operator: NotIn, values: [{where}]}}]}}"
    )


def standing(situation: Situation) -> Iterator[str]:
    """A line for each live configuration of anybody whose webhooks lock the agent out once they fail."""
    where = situation.rules.ledger_namespace
    for kind in _KINDS if where and situation.is_observed else ():
        for live in sorted(situation.live.of_kind(_GROUP, kind), key=lambda one: one.id):
            names = list(_covering(situation, live.body))
            if names:
                said = f"{live.id}: {_must_answer(names, where)}, and while it does not no step can be taken"
                yield f"{said}; {way_out(where)}"


def _must_answer(names: Iterable[str], where: str) -> str:
    return f"webhook {', '.join(names)} must answer for the ConfigMaps of the agent's ledger in {where}"


def _covering(situation: Situation, body: Body) -> Iterator[str]:
    """The webhooks that must answer before a ledger is written."""
    where = situation.rules.ledger_namespace
    namespace = situation.live.get(ObjectId("", "Namespace", "", where))
    labels = {"kubernetes.io/metadata.name": where, **(namespace.labels if namespace else {})}
    own = {LEDGER_LABEL: digest_of(situation.desired.set_name), **MANAGED_BY}
    for hook in body.get("webhooks") or ():
        must_answer = hook.get("failurePolicy") != "Ignore"
        selected = _selects(hook, "namespaceSelector", labels) and _selects(hook, "objectSelector", own)
        if must_answer and selected and any(_is_asked(rule) for rule in hook.get("rules") or ()):
            yield str(hook.get("name"))


def _selects(hook: Body, field: str, labels: Mapping[str, str]) -> bool:
    """An empty selector selects everything."""
    wanted = labels_wanted(hook.get(field) or {}, "label-selector")
    return wanted is None or wanted.match(labels)


def _is_asked(rule: Body) -> bool:
    """Whether the rule speaks of writing ConfigMaps; the version does not decide (matchPolicy Equivalent)."""

    def says(field: str, *values: str) -> bool:
        said: Any = rule.get(field) or ()
        return any(value in said for value in ("*", *values))

    is_meant = says("apiGroups", "") and says("resources", "configmaps", "*/*")
    in_namespaces = rule.get("scope", "*") in ("*", "Namespaced")
    return is_meant and in_namespaces and bool(_WRITES & set(rule.get("operations") or ()))
