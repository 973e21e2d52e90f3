"""Fields that a predecessor left behind: what Git no longer has goes, whoever first wrote it.

An apply takes away only what its own field manager owns (Kubernetes: server-side apply); what ``kubectl
apply`` or Helm wrote before stays for ever (kubernetes/kubernetes#99003, fluxcd/kustomize-controller#486). So
what the predecessors that the set names have declared counts as the set's own, and is withdrawn by an update.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable

from agent.core.claims import Node, field_name
from agent.core.model import ABSENT, LAST_APPLIED, Body, FieldChange, FieldPath


def applied_by(predecessors: Collection[str], live: Body) -> tuple[Node, ...]:
    """The fieldsV1 trees of what predecessors applied on the server: exactly what they declared."""
    return tuple(node for node, operation in _owned(predecessors, live) if operation == "Apply")


def last_applied(predecessors: Collection[str], live: Body) -> tuple[Body, ...]:
    """What ``kubectl apply`` declared, by its annotation, where it is a predecessor; else nothing.

    Its managedFields name the server's defaults too, which nobody declared and which would come back.
    """
    text = ((live.get("metadata") or {}).get("annotations") or {}).get(LAST_APPLIED)
    if not text or not has_updated(predecessors, live):
        return ()
    try:
        body = json.loads(text)
    except ValueError:
        return ()  # no declaration can be read of it, so nothing is taken away because of it
    return (body,) if isinstance(body, dict) else ()


def has_updated(predecessors: Collection[str], live: Body) -> bool:
    """Whether one of them has written the object by an update, which says not what it declared."""
    return any(operation == "Update" for _, operation in _owned(predecessors, live))


def _owned(predecessors: Collection[str], live: Body) -> list[tuple[Node, str]]:
    entries = (live.get("metadata") or {}).get("managedFields") or []
    return [
        (entry["fieldsV1"], str(entry.get("operation")))
        for entry in entries
        if entry.get("manager") in predecessors and not entry.get("subresource") and entry.get("fieldsV1")
    ]


def leftovers(
    predecessors: Collection[str], live: Body, changes: Iterable[FieldChange]
) -> tuple[FieldPath, ...]:
    """The paths of ``changes`` that shall go and that an apply would leave to a predecessor."""
    nodes = [node for node, _ in _owned(predecessors, live)]
    return tuple(c.path for c in changes if c.after is ABSENT and any(_has(node, c.path) for node in nodes))


def with_leftovers(
    predecessors: Collection[str],
    live: Body,
    answered: tuple[FieldChange, ...],
    offline: tuple[FieldChange, ...],
) -> tuple[FieldChange, ...]:
    """The server's word, and of our own the leftovers: a dry run of an apply does not take them away."""
    told = {change.path for change in answered}
    missing = set(leftovers(predecessors, live, offline)) - told
    return (*answered, *(change for change in offline if change.path in missing))


def _has(node: Node, path: FieldPath) -> bool:
    for part in path:
        below = node.get(field_name(part))
        if below is None:
            return False
        node = below
    return True
