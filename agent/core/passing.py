"""Objects that end and go by themselves: once made, their absence is no drift."""

from __future__ import annotations

from agent.core.hookjobs import hook_of
from agent.core.ledger import GenerationState
from agent.core.model import Manifest
from agent.core.situation import Situation


def passed(situation: Situation, manifest: Manifest) -> str:
    """Why the absent object is done, or empty: this very manifest was made, and policy says it goes."""
    newest, entry = situation.ledger.newest, situation.ledger.entries.get(manifest.id)
    if hook_of(manifest.body) and newest is not None and newest.state is GenerationState.IN_SERVICE:
        return f"it ran before generation {newest.number} was in service"
    if entry is None or not entry.uid:
        return ""
    applied = situation.applied.get(manifest.id, ())
    return situation.policy.passes(manifest.body) if applied and applied[-1] == manifest.body else ""
