"""The plan between two revisions, without a cluster: what stands is what the base revision wants.

Gates say what they will want, none of them is open by observation.
"""

from __future__ import annotations

from agent.core.health import HealthRules
from agent.core.hookjobs import placed, with_hooks_checked
from agent.core.ledger import Entry, Generation, GenerationState, Ledger, Source
from agent.core.model import SET_LABEL, Body, Desired, Form, Live, LiveObject, Manifest, ObjectId
from agent.core.policy import Policy
from agent.core.situation import Rules, Situation


def between(
    base: Desired | None, head: Desired, policy: Policy, health: HealthRules, rules: Rules
) -> Situation:
    """The situation of an upgrade from ``base`` (None: nothing yet) to ``head``, for ``make_plan``."""
    revision = base.revision if base else ""
    base_generation = Generation(1, revision, GenerationState.RETIRING, 0.0, served=1.0)
    generations = (base_generation,) if base else ()
    wanted = placed(base, base_generation).manifests if base else {}
    head_generation = Generation(len(generations) + 1, head.revision, GenerationState.ROLLING_OUT, 1.0)
    ledger = Ledger(
        set_name=head.set_name,
        generations=(*generations, head_generation),
        entries={key: _entry(manifest, revision) for key, manifest in wanted.items()},
    )
    return Situation(
        desired=placed(with_hooks_checked(head), head_generation),
        live=Live({key: LiveObject(key, _as_live(key, m, head.set_name)) for key, m in wanted.items()}),
        applied={key: (manifest.body,) for key, manifest in wanted.items()},
        ledger=ledger,
        policy=policy,
        health=health,
        rules=rules,
        now=0.0,
        is_observed=False,
    )


def _entry(manifest: Manifest, revision: str) -> Entry:
    source = Source(revision, manifest.origin.file, manifest.origin.document)
    return Entry(manifest.id, manifest.api_version, 1, (source,), Form.FINAL, _uid(manifest.id))


def _uid(key: ObjectId) -> str:
    """An identity such as a server would have given it: what the base release made is ours."""
    return f"base {key}"


def _as_live(key: ObjectId, manifest: Manifest, set_name: str) -> Body:
    metadata = manifest.body.get("metadata") or {}
    labels = {**(metadata.get("labels") or {}), SET_LABEL: set_name}
    return {**manifest.body, "metadata": {**metadata, "labels": labels, "uid": _uid(key)}}
