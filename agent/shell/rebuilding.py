"""Finds what carries a set's label, of every kind that the server lists: what a lost ledger is made from."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from agent.core.model import SET_LABEL, LiveObject
from agent.core.policy import id_of
from agent.errors import ClusterError
from agent.shell.cluster import Cluster, Discovery, Resource
from agent.shell.observe import WORKERS


def labelled(
    cluster: Cluster, discovery: Discovery, set_name: str
) -> tuple[tuple[LiveObject, ...], tuple[str, ...]]:
    """The objects with the label of this set, metadata alone, and the kinds that could not be read."""

    def read(resource: Resource) -> list[LiveObject] | str:
        try:
            items = cluster.list_metadata(resource, selector=f"{SET_LABEL}={set_name}").items
        except ClusterError:
            return str(resource.kind)
        return [LiveObject(id_of(item), item) for item in items]

    with ThreadPoolExecutor(WORKERS) as pool:
        results = list(pool.map(read, _listed(discovery)))
    found = tuple(obj for result in results if not isinstance(result, str) for obj in result)
    return found, (*(r for r in results if isinstance(r, str)), *discovery.failed)


def _listed(discovery: Discovery) -> Iterator[Resource]:
    """Kinds that can be listed and written: what a set can have."""
    yield from (r for r in discovery.resources.values() if {"list", "patch"} <= r.verbs)
