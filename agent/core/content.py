"""Changed content: values of ConfigMaps and Secrets that pods of the generation before still read.

A value that is rewritten under its name is read by old pods too: by those that mount it within a minute, by
all of them when a container starts again (kubernetes.io/docs/concepts/configuration/configmap, "Mounted
ConfigMaps are updated automatically"). ``write`` does it at once and says who reads it; ``hold`` keeps the
old values until no old pod does, so that new pods start with the old ones. Where both cannot be, the new
content needs a name of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from agent.core.facet import Facet, FacetKind
from agent.core.few import few
from agent.core.idle import old_pods_using
from agent.core.model import ABSENT, Category, FieldChange, LiveObject, Manifest, ObjectId, path_text
from agent.core.paths import covers
from agent.core.references import pod_template, uses
from agent.core.situation import ConfigChanges, Situation

CHANGES: Final = "trapeze.dev/config-changes"


def held_back(situation: Situation, manifest: Manifest, facets: tuple[Facet, ...]) -> tuple[Facet, ...]:
    """The facets, with changed values as parts that go last where they are held for old pods."""
    changed = rewritten(situation, manifest, facets)
    if not changed or _way(situation, manifest) is not ConfigChanges.HOLD:
        return facets
    unknown = situation.live.why_unknown(situation.policy.naming(manifest.id.group_kind))
    if not unknown and not any(old_readers(situation, manifest.id)):
        return facets
    rest = (replace(facet, fields=tuple(c for c in facet.fields if c not in changed)) for facet in facets)
    part = Facet(
        FacetKind.PART,
        Category.SHARED_SUBJECT_REWRITE,
        changed,
        f"{_keys(changed)} changes for pods of both generations",
        changed[0].path,
    )
    return (part, *(facet for facet in rest if facet.fields))


def written_under(situation: Situation, facets: Mapping[ObjectId, tuple[Facet, ...]]) -> Iterator[str]:
    """What is written at once under pods of the generation before, with the way out; mistaken annotations."""
    for key, manifest in sorted(situation.desired.manifests.items()):
        changed = rewritten(situation, manifest, facets.get(key, ()))
        said = _annotated(manifest)
        if said and said not in _WAYS:
            ways = " or ".join(_WAYS)
            yield f"{key}: {CHANGES} says {said!r}, not {ways}; the set's own word counts"
        if changed and _way(situation, manifest) is ConfigChanges.WRITE:
            readers = list(dict.fromkeys(old_readers(situation, key)))
            if readers:
                yield (
                    f"{key} changes {_keys(changed)} under {few(readers)}: old pods read it too, at the "
                    f"latest when they start again; a name of its own keeps both, {CHANGES}: hold waits"
                )


def _keys(changed: Sequence[FieldChange]) -> str:
    return few(changed, say=lambda change: path_text(change.path))


def rewritten(situation: Situation, manifest: Manifest, facets: tuple[Facet, ...]) -> tuple[FieldChange, ...]:
    """The values that stand in live and in Git and differ, of kinds whose content pods read."""
    rows = situation.policy.of(manifest.id.group_kind).content
    return tuple(
        change
        for facet in facets
        if facet.category is Category.ADDITIVE
        for change in facet.fields
        if change.before is not ABSENT and change.after is not ABSENT
        if any(covers(placed.pattern, change.path) for placed in rows)
    )


def old_readers(situation: Situation, key: ObjectId) -> Iterator[str]:
    """Pods of the generation before that read the object, and workloads whose pods will be such pods."""
    yield from old_pods_using(situation, key)
    for workload in situation.workloads.templated:
        wanted = situation.desired.manifests.get(workload.id)
        is_ours = wanted is not None or workload.id in situation.ledger.entries
        if not is_ours or not any(one.target == key for one in uses(workload.body, situation.policy)):
            continue
        template = pod_template(wanted.body, situation.policy) if wanted else None
        if template != _as_written(situation, workload):
            yield f"pods of {workload.id}"


def _as_written(situation: Situation, workload: LiveObject) -> object:
    """The template as Git had it last: what the server has filled in since makes no new pods."""
    applied = situation.applied.get(workload.id, ())
    return pod_template(applied[-1], situation.policy) if applied else None


_WAYS: Final = {way.value: way for way in ConfigChanges}


def _way(situation: Situation, manifest: Manifest) -> ConfigChanges:
    return _WAYS.get(_annotated(manifest), situation.rules.config_changes)


def _annotated(manifest: Manifest) -> str:
    annotations = (manifest.body.get("metadata") or {}).get("annotations") or {}
    return str(annotations.get(CHANGES, ""))
