"""Helm's own storage in the cluster: what its releases declared of objects that a set takes over."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from agent.core import helm_storage, manifests
from agent.core.helm_storage import Release
from agent.core.kinds import Kinds
from agent.core.model import Body, GroupKind, LiveObject, ObjectId
from agent.core.yamlread import read_documents
from agent.errors import ClusterError
from agent.shell.cluster import Cluster, Discovery
from agent.shell.source import Applied

_STORED_IN: Final = (GroupKind("", "Secret"), GroupKind("", "ConfigMap"))


class HelmRecords:
    """Reads the records of releases, one list request for each release and kind of storage."""

    def __init__(self, cluster: Cluster, discovery: Discovery, kinds: Kinds) -> None:
        self._cluster = cluster
        self._discovery = discovery
        self._kinds = kinds

    def before(
        self, applied: Applied, objects: Iterable[LiveObject], predecessors: Collection[str]
    ) -> Applied:
        """``applied``, with what Helm declared of ``objects`` as their oldest base.

        A record that cannot be had is told among what is missing: nothing goes because of it.
        """
        named = {
            obj.id: release for obj in objects if (release := helm_storage.release_of(obj, predecessors))
        }
        bodies, missing = dict(applied.bodies), list(applied.missing)
        for release in sorted(set(named.values())):
            try:
                declared = self._declared(release)
            except (ClusterError, ValueError) as error:
                missing.append(f"{release}: {error}")
                continue
            for key in named.keys() & declared.keys():
                if named[key] == release:
                    bodies[key] = (declared[key], *bodies.get(key, ()))
        return Applied(bodies, tuple(missing))

    def _declared(self, release: Release) -> Mapping[ObjectId, Body]:
        places = [self._discovery.resources[kind] for kind in _STORED_IN if kind in self._discovery.resources]
        deployed = helm_storage.selector(release)
        lists = [self._cluster.list(place, release.namespace, deployed).items for place in places]
        record = helm_storage.newest(body for items in lists for body in items)
        if record is None:
            raise ValueError("it has no record of what is deployed")
        files = {"manifest": read_documents(helm_storage.manifest_in(record).encode(), "manifest")}
        desired = manifests.load(
            files, self._kinds, set_name="", revision=str(release), namespace=release.namespace
        )
        return {key: manifest.body for key, manifest in desired.manifests.items()}
