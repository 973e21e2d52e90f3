"""What a Calico release meets: its namespaces, and the definitions that store its kinds."""

from __future__ import annotations

from agent.core.model import GroupKind
from agent.core.simulation.world import World
from agent.shell.embedded import EmbeddedCluster
from tests.e2e.releases import CORE, documents


def stored_kinds() -> World:
    """The cluster before the release, as a value."""
    cluster = EmbeddedCluster(1_000.0)
    for file in sorted(CORE.glob("*.yaml")):
        for body in documents(file.read_text(encoding="utf-8")):
            kind = GroupKind(str(body["apiVersion"]).rpartition("/")[0], str(body["kind"]))
            cluster.apply(cluster.discover().resources[kind], body, manager="kubectl")
            cluster.advance(1)
    return cluster.world
