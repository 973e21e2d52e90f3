"""What a webhook that was moved is asked, to see that it answers: a dry run of an object of the set.

The API server sends a dry run through every webhook that matches
(kubernetes.io/docs/reference/using-api/api-concepts, dry-run). A webhook with side effects is not asked that
way, and one that may be ignored hides that it does not answer: neither gives evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from agent.core.model import Body
from agent.core.selectors import Labels, labels_wanted
from agent.core.steps import Answer, GateState
from agent.errors import ClusterError, Rejected

_HARMLESS: Final = ("None", "NoneOnDryRun")
_EVERYTHING: Final = Labels()
_WORST: Final = (GateState.HELD, GateState.UNKNOWN, GateState.OPEN)


_ADMISSION: Final = "admissionregistration.k8s.io"
"""Webhooks are never asked about webhooks (kubernetes.io, extensible admission controllers)."""


class Asked(NamedTuple):
    """What one webhook is asked about: updates of these resources with these labels, in such namespaces."""

    webhook: str
    rules: tuple[Body, ...]
    objects: Labels
    namespaces: Labels

    def takes(self, group: str, plural: str, *, is_namespaced: bool) -> bool:
        """Whether updates of the resource are asked about, whatever the version (matchPolicy Equivalent)."""
        scope = "Namespaced" if is_namespaced else "Cluster"
        return group != _ADMISSION and any(
            _has(rule, "apiGroups", group)
            and (_has(rule, "resources", plural) or "*/*" in (rule.get("resources") or ()))
            and rule.get("scope", "*") in ("*", scope)
            for rule in self.rules
        )


def asked_about(config: Body) -> Iterator[Asked]:
    """The webhooks of a configuration that a dry run tells of."""
    for hook in config.get("webhooks") or ():
        rules = tuple(rule for rule in hook.get("rules") or () if _has(rule, "operations", "UPDATE"))
        is_told = hook.get("failurePolicy", "Fail") == "Fail" and hook.get("sideEffects") in _HARMLESS
        if rules and is_told and not hook.get("matchConditions"):
            objects, namespaces = (_labels(hook.get(f"{name}Selector")) for name in ("object", "namespace"))
            yield Asked(str(hook.get("name")), rules, objects, namespaces)


def as_trial(body: Body) -> Body:
    """A live object as it is applied again to change nothing: without what the server writes."""
    metadata: Mapping[str, Any] = body["metadata"]
    kept = {key: metadata[key] for key in ("name", "namespace", "labels", "annotations") if key in metadata}
    rest = {key: value for key, value in body.items() if key not in ("metadata", "status")}
    return {**rest, "metadata": kept}


def admitted(webhook: str, trial: str) -> Answer:
    """The dry run came through."""
    return Answer(GateState.OPEN, f"{webhook} admits {trial}")


def not_admitted(webhook: str, trial: str, error: ClusterError) -> Answer:
    """The dry run ended in an error: the webhook refused (it answers), did not, or it is unknown."""
    if not isinstance(error, Rejected) or f'"{webhook}"' not in str(error):
        return Answer(GateState.UNKNOWN, f"a dry run of {trial}: {error}")
    if error.is_unanswered:
        return Answer(GateState.HELD, f"{webhook} does not answer: {error}")
    return Answer(GateState.OPEN, f"{webhook} answers, and refuses {trial}")


def decided(answers: Iterable[Answer | None]) -> Answer:
    """The answer of all webhooks of a configuration: one that does not answer decides, then one not known.

    Where none of them is asked about an object of the set, their endpoints have to do.
    """
    told = [answer for answer in answers if answer is not None]
    none = Answer(GateState.OPEN, "no object of the set tells whether it answers")
    return min(told, key=lambda answer: _WORST.index(answer.state), default=none)


def _labels(selector: Any) -> Labels:
    return labels_wanted(selector, "label-selector") or _EVERYTHING


def _has(rule: Body, name: str, value: str) -> bool:
    values = rule.get(name) or ()
    return "*" in values or value in values
