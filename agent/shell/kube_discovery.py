"""What an API server serves, by aggregated discovery where it knows it, else group-version by group-version.

Shapes: kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from agent.core.model import Body, GroupKind
from agent.errors import ClusterError
from agent.shell.cluster import Discovery, Resource

ACCEPT: Final = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
    "application/json"
)
"""Servers before 1.26 know only the last."""

Get = Callable[[str], Body]
"""GET of an API path with ``ACCEPT``; raises ``ClusterError``."""


class _Served(NamedTuple):
    kind: GroupKind
    version: str
    plural: str
    is_namespaced: bool
    verbs: frozenset[str]


def discover(get: Get) -> Discovery:
    """All kinds that answer now; group-versions that did not are named in ``failed`` with the reason.

    A group-version that the server calls stale is asked itself: the aggregator remembers a failure for up
    to a minute (k8s.io/kube-aggregator, discoveryRefreshInterval). Raises ``ClusterError`` only when the
    server itself cannot be asked.
    """
    served: list[_Served] = []
    failed: dict[str, str] = {}
    core, groups = get("/api"), get("/apis")
    for answer in (core, groups):
        if answer.get("kind") == "APIGroupDiscoveryList":
            served += _aggregated(answer, get, failed)
    if core.get("kind") != "APIGroupDiscoveryList":
        served += _classic("", [f"/api/{version}" for version in core.get("versions") or []], get, failed)
    if groups.get("kind") != "APIGroupDiscoveryList":
        for group in groups.get("groups") or []:
            paths = [f"/apis/{group['name']}/{version}" for version in _preferred_first(group)]
            served += _classic(str(group["name"]), paths, get, failed)
    return Discovery(_by_kind(served), failed)


def _aggregated(answer: Body, get: Get, failed: dict[str, str]) -> Iterator[_Served]:
    for item in answer.get("items") or []:
        group = str((item.get("metadata") or {}).get("name", ""))
        for version in item.get("versions") or []:
            name = str(version["version"])
            if version.get("freshness") == "Stale":
                yield from _classic(group, [f"/apis/{group}/{name}"], get, failed)
                continue
            for entry in version.get("resources") or []:
                kind = (entry.get("responseKind") or {}).get("kind")
                # A resource with subresources alone has no kind of its own.
                if kind and entry.get("verbs"):
                    yield _Served(
                        GroupKind(group, str(kind)),
                        name,
                        str(entry["resource"]),
                        entry.get("scope") == "Namespaced",
                        frozenset(entry["verbs"]),
                    )


def _classic(group: str, paths: Iterable[str], get: Get, failed: dict[str, str]) -> Iterator[_Served]:
    for path in paths:
        version = path.rpartition("/")[2]
        try:
            answer = get(path)
        except ClusterError as error:
            failed[_group_version(group, version)] = str(error)
            continue
        for entry in answer.get("resources") or []:
            if "/" not in entry["name"]:
                yield _Served(
                    GroupKind(group, str(entry["kind"])),
                    version,
                    str(entry["name"]),
                    bool(entry["namespaced"]),
                    frozenset(entry.get("verbs") or ()),
                )


def _preferred_first(group: Body) -> list[str]:
    versions = [str(version["version"]) for version in group.get("versions") or []]
    preferred = (group.get("preferredVersion") or {}).get("version")
    return sorted(versions, key=lambda version: version != preferred)


def _group_version(group: str, version: str) -> str:
    return f"{group}/{version}" if group else version


def _by_kind(served: Iterable[_Served]) -> Mapping[GroupKind, Resource]:
    """One resource per kind, as its preferred version serves it, with all versions of that plural."""
    kinds: dict[GroupKind, Resource] = {}
    for one in served:
        known = kinds.get(one.kind)
        if known is None:
            kinds[one.kind] = Resource(one.kind, (one.version,), one.plural, one.is_namespaced, one.verbs)
        elif known.plural == one.plural:
            kinds[one.kind] = known._replace(versions=(*known.versions, one.version))
    return kinds
