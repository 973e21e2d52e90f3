"""What manifests alone cannot tell, said once: in the set's configuration, or in annotations of the objects.

``trapeze.dev/ready-once-gone: Deployment shop/old`` on a workload: its pods become ready only when that
object is gone (they need its lock). ``trapeze.dev/ready-once-done: Job shop/migrate``: only when that Job has
completed. ``trapeze.dev/tokens-outside: "true"`` on a ServiceAccount: its tokens are used outside the
cluster, so that no pod tells whether it is idle. Where both say something, the object's own word counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from agent.core.model import Body, ObjectId
from agent.core.policy import group_kind

ONCE_GONE: Final = "trapeze.dev/ready-once-gone"
ONCE_DONE: Final = "trapeze.dev/ready-once-done"
TOKENS_OUTSIDE: Final = "trapeze.dev/tokens-outside"


class Hint(NamedTuple):
    """What readiness waits for: the end of ``gone``, the completion of ``done``; empty: nothing.

    ``tokens_outside``: the ServiceAccount's tokens are used outside the cluster. ``of`` names the object
    where the configuration gives the hint; one that an object's annotations give has none.
    """

    gone: str = ""
    done: str = ""
    tokens_outside: bool = False
    of: str = ""


def hint_of(key: ObjectId, body: Body, said: Sequence[Hint]) -> Hint:
    """The hint on an object; ``said`` are those of the configuration."""
    own = _annotated(body)
    meant = [hint for hint in said if is_named(hint.of, key)]
    return Hint(
        own.gone or next((hint.gone for hint in meant if hint.gone), ""),
        own.done or next((hint.done for hint in meant if hint.done), ""),
        own.tokens_outside or any(hint.tokens_outside for hint in meant),
    )


def is_named(text: str, key: ObjectId) -> bool:
    """Whether ``Kind[.group] [namespace/]name`` means this object; without a group any group of the kind."""
    kind, _, path = text.strip().partition(" ")
    wanted = group_kind(kind)
    return path.strip() == key.path and wanted.kind == key.kind and wanted.group in ("", key.group)


def told(objects: Mapping[ObjectId, Body], said: Sequence[Hint]) -> Iterator[str]:
    """Every hint in words, with who gives it; one of the configuration that means none of the objects."""
    for key, body in sorted(objects.items()):
        own, whole = _annotated(body), hint_of(key, body, said)
        if whole.gone:
            yield f"{key} becomes ready only once {whole.gone} is gone ({_source(own.gone)})"
        if whole.done:
            yield f"{key} becomes ready only once {whole.done} has completed ({_source(own.done)})"
        if whole.tokens_outside:
            yield f"{key} has tokens in use outside the cluster ({_source(own.tokens_outside)})"
    for hint in said:
        if not any(is_named(hint.of, key) for key in objects):
            yield f"the hint on {hint.of} means no object of the release"


def _source(own: object) -> str:
    return "its annotation says so" if own else "the configuration says so"


def _annotated(body: Body) -> Hint:
    notes: Mapping[str, object] = (body.get("metadata") or {}).get("annotations") or {}
    is_outside = str(notes.get(TOKENS_OUTSIDE, "")).lower() == "true"
    return Hint(str(notes.get(ONCE_GONE, "")), str(notes.get(ONCE_DONE, "")), is_outside)
