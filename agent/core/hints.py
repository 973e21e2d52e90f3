"""What manifests alone cannot tell, said once in annotations of the objects that it concerns.

``trapeze.dev/ready-once-gone: Deployment shop/old`` on a workload: its pods become ready only when that
object is gone (they need its lock). ``trapeze.dev/ready-once-done: Job shop/migrate``: only when that Job has
completed. ``trapeze.dev/tokens-outside: "true"`` on a ServiceAccount: its tokens are used outside the
cluster, so that no pod tells whether it is idle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from agent.core.model import Body, ObjectId
from agent.core.policy import group_kind

ONCE_GONE: Final = "trapeze.dev/ready-once-gone"
ONCE_DONE: Final = "trapeze.dev/ready-once-done"
TOKENS_OUTSIDE: Final = "trapeze.dev/tokens-outside"


class Hint(NamedTuple):
    """What readiness waits for: the end of ``gone``, the completion of ``done``; empty: nothing."""

    gone: str = ""
    done: str = ""


def hint_of(body: Body) -> Hint:
    """The hint that a workload's annotations give."""
    notes = _annotations(body)
    return Hint(str(notes.get(ONCE_GONE, "")), str(notes.get(ONCE_DONE, "")))


def has_tokens_outside(body: Body) -> bool:
    """Whether a ServiceAccount's tokens are said to be used outside the cluster."""
    return str(_annotations(body).get(TOKENS_OUTSIDE, "")).lower() == "true"


def is_named(text: str, key: ObjectId) -> bool:
    """Whether ``Kind[.group] [namespace/]name`` means this object; without a group any group of the kind."""
    kind, _, path = text.strip().partition(" ")
    wanted = group_kind(kind)
    return path.strip() == key.path and wanted.kind == key.kind and wanted.group in ("", key.group)


def told(objects: Mapping[ObjectId, Body]) -> Iterator[str]:
    """Every hint in words."""
    for key, body in sorted(objects.items()):
        hint = hint_of(body)
        if hint.gone:
            yield f"{key} becomes ready only once {hint.gone} is gone (a hint says so)"
        if hint.done:
            yield f"{key} becomes ready only once {hint.done} has completed (a hint says so)"
        if key.kind == "ServiceAccount" and has_tokens_outside(body):
            yield f"{key} has tokens in use outside the cluster (a hint says so)"


def _annotations(body: Body) -> Mapping[str, object]:
    return (body.get("metadata") or {}).get("annotations") or {}
