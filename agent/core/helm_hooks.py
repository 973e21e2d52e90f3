"""Hooks of a rendered chart: ``helm template`` writes them among the objects, whatever event they are for.

Source: helm.sh/docs/topics/charts_hooks (events, hook-delete-policy). Without Helm nothing tells an install
from an upgrade: what is meant for one of the two runs with each generation, as with other tools that render.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from agent.core.hookjobs import DONE, EVERYTHING, HOOK, JOB
from agent.core.model import Body, Finding, Severity
from agent.core.policy import group_kind_of, id_of
from agent.core.yamlread import Document, Reading

_EVENT: Final = "helm.sh/hook"
_POLICY: Final = "helm.sh/hook-delete-policy"
_WHEN: Final = {
    "pre-upgrade": "before",
    "post-upgrade": "after",
    "pre-install": "before",
    "post-install": "after",
}
"""The events at which something is made; of several the first decides."""
_PLAIN: Final = "crd-install"
"""Helm 2's word for a definition that comes first, as definitions do here anyway."""


def as_own(reading: Reading) -> Reading:
    """The same with hooks of Helm as hooks of ours, and without those for events that never come.

    A Job becomes a hook before or after everything, other kinds stay objects like any other. What is for
    tests, deletes and rollbacks is left out, which is told.
    """
    kept: list[Document] = []
    findings = list(reading.findings)
    for document in reading.documents:
        events = _events(document.body)
        if not events or _PLAIN in events:
            kept.append(document)
        elif when := next((_WHEN[event] for event in _WHEN if event in events), ""):
            kept.append(replace(document, body=_hooked(document.body, when)))
        else:
            said = f"{id_of(document.body)} is a hook of Helm for {', '.join(events)}, and is left out"
            remedy = "nothing runs it here; make it without the annotation where it is an object of the set"
            findings.append(Finding(Severity.WARNING, said, document.origin, remedy))
    return Reading(tuple(kept), tuple(findings))


def _annotations(body: Body) -> Body:
    metadata = body.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return annotations if isinstance(annotations, dict) else {}


def _events(body: Body) -> tuple[str, ...]:
    return tuple(one.strip() for one in str(_annotations(body).get(_EVENT, "")).split(",") if one.strip())


def _hooked(body: Body, when: str) -> Body:
    """A Job with our annotations; its time to live would take the evidence away, so it is left out."""
    annotations = _annotations(body)
    if group_kind_of(body) != JOB or HOOK in annotations:
        return body
    own = {HOOK: f"{when} {EVERYTHING}"}
    if "hook-succeeded" in str(annotations.get(_POLICY, "")):
        own[DONE] = "delete"
    spec = body.get("spec")
    lasting = (
        {k: v for k, v in spec.items() if k != "ttlSecondsAfterFinished"} if isinstance(spec, dict) else spec
    )
    return {**body, "metadata": {**body["metadata"], "annotations": {**annotations, **own}}, "spec": lasting}
