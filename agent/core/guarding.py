"""What a new webhook of the set admits by name comes after it: made before, it would go by unasked.

Kept apart from it is all that stands behind the webhook, or it could never serve, and nothing waits for a
webhook whose pods are in trouble: they may need the very object (issue 4, cases/40; cert-manager#1873;
kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agent.core.absence import CRD
from agent.core.classify import pointers_of
from agent.core.model import Body, GroupKind, Manifest, ObjectId
from agent.core.selectors import labels_wanted
from agent.core.situation import Situation
from agent.core.steps import Gate, GateState
from agent.core.targets import Target
from agent.core.workloads import trouble_of

_ADMISSION: Final = "admissionregistration.k8s.io"
_KINDS: Final = (
    GroupKind(_ADMISSION, "MutatingWebhookConfiguration"),
    GroupKind(_ADMISSION, "ValidatingWebhookConfiguration"),
)
_GROUND: Final = (GroupKind("", "Namespace"), CRD)
"""What everything else may need to be made at all."""

_NAME_LABEL: Final = "kubernetes.io/metadata.name"
_PASSING: Final = ("", "starting", "not ready", "terminating")


def guarded(situation: Situation, manifest: Manifest, pending: Mapping[ObjectId, str]) -> Gate | None:
    """The gate of a new object for which webhooks still to be made are to be asked; None without one."""
    if manifest.id.group_kind in _GROUND:
        return None
    waits: list[str] = []
    troubles: list[str] = []
    for key in sorted(pending):
        if key.group_kind in _KINDS and situation.live.get(key) is None and key != manifest.id:
            target = _asked(situation, situation.desired.manifests[key].body, manifest)
            if target is not None and not _stands_behind(situation, target, manifest.id):
                waits.append(pending[key])
                troubles += _troubles(situation, target)
    if not waits:
        return None
    wants = "the webhooks that it is to pass are in place"
    if troubles:
        return Gate("guarded", wants, GateState.OPEN, f"not waited for: {troubles[0]}")
    return Gate("guarded", wants, GateState.HELD, f"{waits[0]} is pending")


def _asked(situation: Situation, configuration: Body, manifest: Manifest) -> Target | None:
    """What answers the first webhook that the API server will call, and need, to create the object."""
    hooks = [
        hook
        for hook in configuration.get("webhooks") or ()
        if hook.get("failurePolicy") != "Ignore"
        and any(_names(rule, manifest) for rule in hook.get("rules") or ())
        and _selects(situation, hook, manifest)
    ]
    if not hooks:
        return None
    asked = {**configuration, "webhooks": hooks[:1]}
    return next((p.target for p in pointers_of(asked, situation.policy) if p.target.is_service), None)


def _names(rule: Body, manifest: Manifest) -> bool:
    """Whether the rule names the kind; what covers every kind covers what the webhook needs, too."""
    operations = rule.get("operations") or ()
    return (
        manifest.id.group in (rule.get("apiGroups") or ())
        and _plural(manifest.id.kind) in (rule.get("resources") or ())
        and ("CREATE" in operations or "*" in operations)
    )


def _plural(kind: str) -> str:
    """As k8s.io/apimachinery guesses it (meta.UnsafeGuessKindToResource)."""
    lower = kind.lower()
    if lower.endswith("s"):
        return f"{lower}es"
    return f"{lower[:-1]}ies" if lower.endswith("y") else f"{lower}s"


def _selects(situation: Situation, hook: Body, manifest: Manifest) -> bool:
    labels = manifest.body["metadata"].get("labels") or {}
    sides: list[tuple[Any, Mapping[str, str]]] = [(hook.get("objectSelector"), labels)]
    if manifest.id.namespace:
        sides.append((hook.get("namespaceSelector"), _labels_of(situation, manifest.id.namespace)))
    wanted = [(labels_wanted(selector or {}, "label-selector"), has) for selector, has in sides]
    return all(labels is not None and labels.match(has) for labels, has in wanted)


def _labels_of(situation: Situation, namespace: str) -> dict[str, str]:
    key = ObjectId("", "Namespace", "", namespace)
    live, manifest = situation.live.get(key), situation.desired.manifests.get(key)
    wanted = (manifest.body["metadata"].get("labels") or {}) if manifest else {}
    return {**(live.labels if live else {}), **wanted, _NAME_LABEL: namespace}


def _stands_behind(situation: Situation, target: Target, key: ObjectId) -> bool:
    root = target.id
    return root is None or key == root or key in situation.next_graph.closure(root)


def _troubles(situation: Situation, target: Target) -> Iterator[str]:
    graph, root = situation.live_graph, situation.workloads.root
    behind = graph.closure(target.id) if target.id else frozenset()
    for pod in situation.workloads.running:
        trouble = trouble_of(pod)
        if trouble not in _PASSING and (pod.id in behind or root(pod).id in behind):
            yield f"{pod.id}: {trouble}"
