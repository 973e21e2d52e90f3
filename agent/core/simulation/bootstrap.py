"""A new cluster: its tables, and what stands in it before anybody applies anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.core.model import Body
from agent.core.simulation.controllers.apiservices import register
from agent.core.simulation.draft import Draft
from agent.core.simulation.engine import advance
from agent.core.simulation.tables import Tables
from agent.core.simulation.world import Timing, World, id_of


def new_world(
    tables: Tables, bootstrap: Mapping[str, Any], *, start: float = 0, timing: Timing | None = None
) -> World:
    """A cluster at rest at ``start`` (seconds since the epoch); ``bootstrap`` as in policies/model."""
    draft = Draft(World(tables, timing or Timing(), now=start))
    for body in (*map(_namespace, bootstrap["namespaces"]), *bootstrap["objects"]):
        draft.put(id_of(body), body)
    register(draft)
    return advance(draft.finish(), 0)


def _namespace(name: str) -> Body:
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }
