"""What the API server serves: kinds, their paths, and documents of manifests."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.rig.api import Api

Object = dict[str, Any]
AGGREGATED_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


@dataclass(frozen=True)
class Resource:
    """One kind in one version, as discovery describes it."""

    api_version: str
    name: str
    kind: str
    namespaced: bool
    verbs: frozenset[str]

    @property
    def group(self) -> str:
        """The API group; empty for the core."""
        return self.api_version.partition("/")[0] if "/" in self.api_version else ""

    @property
    def base(self) -> str:
        """The path of the group and version."""
        return f"/{'apis' if '/' in self.api_version else 'api'}/{self.api_version}"

    def collection(self, namespace: str | None = None) -> str:
        """The path of the collection: in one namespace, or over all."""
        return f"{self.base}/namespaces/{namespace}/{self.name}" if namespace else f"{self.base}/{self.name}"

    def path(self, name: str, namespace: str | None = None) -> str:
        """The path of one object."""
        return f"{self.collection(namespace if self.namespaced else None)}/{name}"


class Resources:
    """Discovery, read when something unknown is asked for."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._known: dict[tuple[str, str], Resource] = {}

    def of(self, api_version: str, kind: str) -> Resource:
        """Return the resource of a kind; raise LookupError when the server does not serve it."""
        key = (api_version, kind)
        if key not in self._known:
            found = _group_version(self._api, api_version)
            self._known.update({(resource.api_version, resource.kind): resource for resource in found})
        if key not in self._known:
            raise LookupError(f"the server serves no {kind} in {api_version}")
        return self._known[key]

    def of_object(self, body: Object) -> Resource:
        """Return the resource of a manifest or live object."""
        return self.of(body["apiVersion"], body["kind"])

    def path(self, body: Object) -> str:
        """Return the path of a manifest's object."""
        meta = body["metadata"]
        return self.of_object(body).path(meta["name"], meta.get("namespace", "default"))

    def forget(self, group: str) -> None:
        """Forget what is known of a group, for instance when its CRDs are deleted."""
        self._known = {key: found for key, found in self._known.items() if found.group != group}


def _group_version(api: Api, api_version: str) -> list[Resource]:
    prefix = "/apis/" if "/" in api_version else "/api/"
    found = api.find(prefix + api_version)
    return (
        [_resource(api_version, row) for row in found["resources"] if "/" not in row["name"]] if found else []
    )


def _resource(api_version: str, row: Object) -> Resource:
    return Resource(api_version, row["name"], row["kind"], row["namespaced"], frozenset(row["verbs"]))


def all_resources(api: Api) -> list[Resource]:
    """Return every kind that can be listed and deleted, each in its group's preferred version.

    A group whose backend does not answer is left out: nothing can be listed in it.
    """
    found: list[Resource] = []
    for root in ("/api", "/apis"):
        reply = api.raw("GET", root, headers={"Accept": AGGREGATED_DISCOVERY})
        for group in reply.json()["items"]:
            version = group["versions"][0]
            name = group["metadata"].get("name", "")
            api_version = f"{name}/{version['version']}" if name else version["version"]
            found += [_discovered(api_version, row) for row in version.get("resources", [])]
    return [resource for resource in found if {"list", "delete"} <= resource.verbs]


def _discovered(api_version: str, row: Object) -> Resource:
    namespaced = row["scope"] == "Namespaced"
    return Resource(
        api_version, row["resource"], row["responseKind"]["kind"], namespaced, frozenset(row["verbs"])
    )


def load(source: str | Path | Object | Iterable[Object]) -> Iterator[Object]:
    """Yield the objects of YAML text, of a file, of a folder's *.yaml in order of name, or of values."""
    if isinstance(source, Path):
        files = sorted(source.glob("*.yaml")) if source.is_dir() else [source]
        for file in files:
            yield from load(file.read_text())
    elif isinstance(source, str):
        yield from (document for document in YAML(typ="safe", pure=True).load_all(source) if document)
    elif isinstance(source, dict):
        yield source
    else:
        yield from source
