"""Jobs that run before or after steps of a handoff: what their annotations say, and what is made of them.

``trapeze.dev/hook: before Deployment shop/web`` or ``after cutovers``; several targets stand between commas.
A target is an object of the set, or a word: ``everything``, ``cutovers``, ``removals`` (before only). A Job
runs once per generation, so its name gets the generation as a suffix (``migrate`` runs as ``migrate-g7``): it
cannot be run twice, and its template cannot be changed
(kubernetes.io/docs/concepts/workloads/controllers/job).
``trapeze.dev/hook-done: delete`` takes it away once the generation is in service; else it goes with its
generation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from agent.core.ledger import Generation, GenerationState
from agent.core.model import Body, Desired, Finding, GroupKind, LiveObject, Manifest, ObjectId, Severity

HOOK: Final = "trapeze.dev/hook"
DONE: Final = "trapeze.dev/hook-done"
EVERYTHING: Final = "everything"
CUTOVERS: Final = "cutovers"
REMOVALS: Final = "removals"
JOB: Final = GroupKind("batch", "Job")

_WORDS: Final = {"before": (EVERYTHING, CUTOVERS, REMOVALS), "after": (EVERYTHING, CUTOVERS)}
_LONGEST: Final = 63
_SUFFIX: Final = re.compile(r"-g[0-9]+$")
_LIMIT: Final = 3600
"""Seconds after which a hook's Job that names no limit of its own is ended by the Job controller."""


class Hook(NamedTuple):
    """``when`` is before or after; ``targets`` are words or objects, as ``str(ObjectId)`` writes them."""

    when: str
    targets: tuple[str, ...]


def hook_of(body: Body) -> Hook | None:
    """What the annotation of an object says, or None where it is no hook."""
    text = ((body.get("metadata") or {}).get("annotations") or {}).get(HOOK)
    if text is None:
        return None
    when, _, rest = str(text).strip().partition(" ")
    return Hook(when, tuple(" ".join(one.split()) for one in rest.split(",") if one.strip()))


def is_spent(body: Body) -> bool:
    """Whether the annotations of a hook say that it goes once its generation is in service."""
    annotations = (body.get("metadata") or {}).get("annotations") or {}
    return HOOK in annotations and annotations.get(DONE) == "delete"


def with_hooks_checked(desired: Desired) -> Desired:
    """What the set wants; a mistake in a hook refuses it.

    A hook that could not be read would let the steps go that it is to come before.
    """
    names = {str(key) for key in desired.manifests}
    hooks = [(m, hook) for _, m in sorted(desired.manifests.items()) if (hook := hook_of(m.body)) is not None]
    wrong = [_finding(m, trouble) for m, hook in hooks if (trouble := _trouble(m, hook, names))]
    return replace(desired, findings=(*desired.findings, *wrong)) if wrong else desired


def placed(desired: Desired, generation: Generation) -> Desired:
    """What the set wants with its hooks as Jobs of this generation, less those that have done their work."""
    is_over = generation.state is GenerationState.IN_SERVICE
    manifests: dict[ObjectId, Manifest] = {}
    for key, manifest in desired.manifests.items():
        if key.group_kind != JOB or hook_of(manifest.body) is None:
            manifests[key] = manifest
        elif not (is_over and is_spent(manifest.body)):
            own = key._replace(name=_named(key.name, generation.number))
            manifests[own] = replace(manifest, id=own, body=_as_job(manifest.body, own.name))
    return replace(desired, manifests=manifests)


def as_written(body: Body, object_id: ObjectId) -> Body:
    """A document as it was written for this object: a hook's Job has the suffix of its generation."""
    metadata = body.get("metadata") or {}
    suffix = _SUFFIX.search(object_id.name)
    if object_id.group_kind != JOB or suffix is None or hook_of(body) is None:
        return body
    is_meant = _named(str(metadata.get("name")), int(suffix[0][2:])) == object_id.name
    return _as_job(body, object_id.name) if is_meant else body


def earlier(object_id: ObjectId, jobs: Iterable[LiveObject]) -> tuple[LiveObject, ...]:
    """The Jobs of the same hook in other generations."""
    stem = _SUFFIX.sub("", object_id.name)
    return tuple(
        job
        for job in jobs
        if job.id != object_id
        and job.id.namespace == object_id.namespace
        and hook_of(job.body) is not None
        and _SUFFIX.sub("", job.id.name) == stem
    )


def _named(name: str, generation: int) -> str:
    suffix = f"-g{generation}"
    return name[: _LONGEST - len(suffix)] + suffix


def _as_job(body: Body, name: str) -> Body:
    spec: Mapping[str, object] = body.get("spec") or {}
    limited = {"activeDeadlineSeconds": _LIMIT, **spec}
    return {**body, "metadata": {**body["metadata"], "name": name}, "spec": limited}


def _trouble(manifest: Manifest, hook: Hook, names: set[str]) -> str:
    if manifest.id.group_kind != JOB:
        return "only a Job can be a hook"
    if hook.when not in _WORDS:
        return f"a hook runs before or after something, and {hook.when!r} is neither"
    if not hook.targets:
        return "it names nothing that it runs " + hook.when
    words = _WORDS[hook.when]
    for target in hook.targets:
        if target not in words and (target not in names or target == str(manifest.id)):
            return f"{target!r} is no other object of the set, and none of {', '.join(words)}"
    spec = manifest.body.get("spec") or {}
    if spec.get("ttlSecondsAfterFinished") is not None:
        return f"ttlSecondsAfterFinished takes it away, and with it whether it succeeded; say {DONE}: delete"
    return ""


def _finding(manifest: Manifest, trouble: str) -> Finding:
    message = f"{manifest.id}: {HOOK}: {trouble}"
    return Finding(Severity.SET, message, manifest.origin, "nothing is written until the hook is mended")
