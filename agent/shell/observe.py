"""One look at the cluster: every kind that a plan could ask about, read whole, errors kept as unknown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, TypeAlias

from agent.core.ledger import Ledger
from agent.core.looking import api_versions, kinds_to_read, members_of, places_of, why_unserved
from agent.core.model import Body, Desired, GroupKind, Live, LiveObject, ObjectId
from agent.core.policy import Policy, id_of
from agent.errors import ClusterError, Forbidden
from agent.shell.cluster import Cluster, Discovery, Resource

WORKERS: Final = 8
"""Requests at a time; few enough for API priority and fairness."""

Place: TypeAlias = tuple[GroupKind, str]
"""A kind, and the namespace that is listed; empty for all of them."""


@dataclass(frozen=True)
class Observer:
    """Reads what a plan needs, and kinds that are asked for besides; ``discovery`` is kept by the caller."""

    cluster: Cluster
    policy: Policy
    discovery: Discovery
    besides: frozenset[GroupKind] = frozenset()

    def look(self, desired: Desired, ledger: Ledger) -> Live:
        """Evidence kinds and kinds that refer to others in all namespaces, members' kinds where they live."""
        members = members_of(desired, ledger)
        served = {kind: self.resource(kind, desired) for kind in self._kinds(members, desired)}
        failed = self.discovery.failed
        reasons = {k: why_unserved(k, failed) for k, r in served.items() if r is None}
        unknown = {kind: reason for kind, reason in reasons.items() if reason}
        objects: dict[ObjectId, LiveObject] = {}
        denied: set[GroupKind] = set()
        for (kind, _), result in self._read(served.values(), members).items():
            if isinstance(result, ClusterError):
                unknown[kind] = str(result)
                denied.update({kind} if isinstance(result, Forbidden) else ())
                continue
            for body in result:
                obj = LiveObject(id_of(body), body)
                objects[obj.id] = obj
        for key, written in self._as_written(desired, served, objects).items():
            if isinstance(written, ClusterError):
                unknown[key.group_kind] = str(written)
            elif written is not None:
                objects[key] = LiveObject(key, written)
        absent = {kind for kind, resource in served.items() if resource is None and kind not in unknown}
        unserved = frozenset(absent & {key.group_kind for key in members})
        versions = {kind: resource.versions for kind, resource in self.discovery.resources.items()}
        told = api_versions({key.group_kind for key in desired.manifests}, versions, failed)
        return Live(objects, unknown, unserved, told, frozenset(denied))

    def read(self, desired: Desired, ledger: Ledger) -> Mapping[Place, Sequence[Body] | ClusterError]:
        """What ``look`` looks at: a list of whole objects for each place, or the error in its stead."""
        members = members_of(desired, ledger)
        return self._read((self.resource(kind, desired) for kind in self._kinds(members, desired)), members)

    def _as_written(
        self,
        desired: Desired,
        served: Mapping[GroupKind, Resource | None],
        objects: Mapping[ObjectId, LiveObject],
    ) -> Mapping[ObjectId, Body | ClusterError | None]:
        """What Git writes in another version than its kind was listed in, read in that version.

        One version has fields that another has not: compared across, nothing would ever be equal.
        """
        jobs = []
        for key, manifest in desired.manifests.items():
            resource, live = served.get(key.group_kind), objects.get(key)
            version = manifest.api_version.rpartition("/")[2]
            if (
                resource
                and live
                and live.body["apiVersion"] != manifest.api_version
                and version in resource.versions
            ):
                jobs.append((resource._replace(versions=(version,)), key))
        with ThreadPoolExecutor(WORKERS) as pool:
            return dict(zip((key for _, key in jobs), pool.map(self._get, jobs), strict=True))

    def _get(self, job: tuple[Resource, ObjectId]) -> Body | ClusterError | None:
        try:
            return self.cluster.get(*job)
        except ClusterError as error:
            return error

    def _read(
        self, served: Iterable[Resource | None], members: Collection[ObjectId]
    ) -> dict[Place, Sequence[Body] | ClusterError]:
        jobs = [(r, ns) for r in served if r for ns in places_of(r.kind, members)]
        with ThreadPoolExecutor(WORKERS) as pool:
            results = pool.map(self._list, jobs)
            return {(r.kind, ns): result for (r, ns), result in zip(jobs, results, strict=True)}

    def resource(self, kind: GroupKind, desired: Desired | None = None) -> Resource | None:
        """How the kind is served, in the version that Git names where it is one that is served."""
        resource = self.discovery.resources.get(kind)
        if resource is None or desired is None:
            return resource
        named = {
            manifest.api_version.rpartition("/")[2]
            for key, manifest in desired.manifests.items()
            if key.group_kind == kind
        }
        first = [version for version in resource.versions if version in named]
        return resource._replace(versions=tuple(dict.fromkeys((*first, *resource.versions))))

    def _kinds(self, members: Iterable[ObjectId], desired: Desired) -> frozenset[GroupKind]:
        served = {kind: resource.plural for kind, resource in self.discovery.resources.items()}
        return kinds_to_read(self.policy, served, members, desired) | (self.besides & served.keys())

    def _list(self, job: tuple[Resource, str]) -> Sequence[Body] | ClusterError:
        resource, namespace = job
        try:
            return self.cluster.list(resource, namespace).items
        except ClusterError as error:
            return error


def by_kind(members: Iterable[ObjectId]) -> Mapping[GroupKind, frozenset[ObjectId]]:
    """Members grouped by kind."""
    kinds: dict[GroupKind, set[ObjectId]] = {}
    for key in members:
        kinds.setdefault(key.group_kind, set()).add(key)
    return {kind: frozenset(keys) for kind, keys in kinds.items()}
