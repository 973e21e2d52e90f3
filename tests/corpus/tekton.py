"""Tekton's two releases as a rehearsal takes them."""

from __future__ import annotations

from dataclasses import replace

from agent.core.model import Desired
from agent.core.simulation.discovery import served_now
from agent.shell.embedded import EmbeddedCluster
from tests.corpus.releases import release


def tekton() -> tuple[Desired, Desired]:
    """Tekton 0.12 and 0.13, without what no server of today serves in the version that they name."""
    old, new = (_served(release("tekton-pipeline", version)) for version in ("0.12.0", "0.13.0"))
    return old, new


def _served(wanted: Desired) -> Desired:
    kinds, _ = served_now(EmbeddedCluster(1_000.0).world)
    kept = {
        key: manifest
        for key, manifest in wanted.manifests.items()
        if key.group_kind in kinds
        and manifest.api_version.rpartition("/")[2] in kinds[key.group_kind].versions
    }
    return replace(wanted, manifests=kept)
