"""One look at the cluster: every kind that a plan could ask about, read whole, errors kept as unknown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, TypeAlias

from agent.core.absence import EVIDENCE
from agent.core.ledger import Ledger
from agent.core.model import Body, Desired, GroupKind, Live, LiveObject, ObjectId
from agent.core.policy import Policy, group_kind, id_of
from agent.errors import ClusterError, Forbidden
from agent.shell.cluster import Cluster, Discovery, Resource

WORKERS: Final = 8
"""Requests at a time; few enough for API priority and fairness."""

_SPARED: Final = frozenset({GroupKind("", "Secret"), GroupKind("", "ConfigMap")})
"""Read only where members of the set live: nobody else's are any of our business."""

Place: TypeAlias = tuple[GroupKind, str]
"""A kind, and the namespace that is listed; empty for all of them."""


@dataclass(frozen=True)
class Observer:
    """Reads what a plan needs; ``discovery`` is as fresh as the caller keeps it."""

    cluster: Cluster
    policy: Policy
    discovery: Discovery

    def look(self, desired: Desired, ledger: Ledger) -> Live:
        """Evidence kinds and kinds that refer to others in all namespaces, members' kinds where they live."""
        members = {*desired.manifests, *ledger.entries}
        served = {kind: self.resource(kind, desired) for kind in self._kinds(members, desired)}
        unknown = {k: self._failure(k) for k, r in served.items() if r is None and self._failure(k)}
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
        absent = {kind for kind, resource in served.items() if resource is None and kind not in unknown}
        unserved = frozenset(absent & {key.group_kind for key in members})
        return Live(objects, unknown, unserved, frozenset(denied))

    def read(self, desired: Desired, ledger: Ledger) -> Mapping[Place, Sequence[Body] | ClusterError]:
        """What ``look`` looks at: a list of whole objects for each place, or the error in its stead."""
        members = {*desired.manifests, *ledger.entries}
        return self._read((self.resource(kind, desired) for kind in self._kinds(members, desired)), members)

    def _read(
        self, served: Iterable[Resource | None], members: Collection[ObjectId]
    ) -> dict[Place, Sequence[Body] | ClusterError]:
        jobs = [(r, ns) for r in served if r for ns in self._namespaces(r, members)]
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
        tables = self.policy.tables
        rows = (*tables.pod_templates, *tables.pointers, *tables.references)
        named = {group_kind(text) for row in rows for text in row.kind if text not in ("*", "pods")}
        of_members = {key.group_kind for key in members}
        known = (named - _SPARED) & self.discovery.resources.keys()
        return frozenset({*EVIDENCE, *known, *of_members, *self._defined(desired, members)})

    def _defined(self, desired: Desired, members: Iterable[ObjectId]) -> frozenset[GroupKind]:
        """The kinds of member CRDs that Git no longer wants: their objects hold the CRD."""
        going = {
            key.name
            for key in members
            if key.kind == "CustomResourceDefinition" and key not in desired.manifests
        }
        return frozenset(
            kind
            for kind, resource in self.discovery.resources.items()
            if f"{resource.plural}.{kind.group}" in going
        )

    def _namespaces(self, resource: Resource, members: Iterable[ObjectId]) -> tuple[str, ...]:
        if resource.kind not in _SPARED:
            return ("",)
        return tuple(sorted({key.namespace for key in members if key.group_kind == resource.kind}))

    def _failure(self, kind: GroupKind) -> str:
        """Why discovery could not say whether the kind is served, or empty."""
        for group_version, reason in self.discovery.failed.items():
            if group_version.partition("/")[0] == kind.group:
                return f"discovery of {group_version} failed: {reason}"
        return ""

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
