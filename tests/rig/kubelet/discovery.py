"""What an aggregated server's stand-in serves: discovery documents, paths, translation to its storage."""

import json
import re
from dataclasses import dataclass
from typing import Any

from tests.rig.kubelet.apps import status
from tests.rig.kubelet.options import Options
from tests.rig.kubelet.web import Answer, Request

ALL_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]


@dataclass(frozen=True)
class Target:
    """The resource that a path names; a collection has no name."""

    resource: str
    namespace: str | None
    name: str | None


@dataclass(frozen=True)
class Served:
    """A group and version with its resources, and the group and version that stores them."""

    group: str
    version: str
    storage: str
    resources: tuple[tuple[str, str, bool], ...]

    @classmethod
    def of(cls, options: Options) -> "Served":
        """Read the flags; raise ValueError when one is missing or malformed."""
        group, storage = options.one("group"), options.one("storage-group")
        if not (group and storage and options.all("resource")):
            raise ValueError("an aggregated server needs --group, --storage-group and --resource")
        rows = [row.split(":") for row in options.all("resource")]
        resources = tuple((plural, kind, scope == "namespaced") for plural, kind, scope in rows)
        return cls(
            group,
            options.one("version", "v1"),
            f"{storage}/{options.one('storage-version', 'v1')}",
            resources,
        )

    @property
    def group_version(self) -> str:
        """Group and version as apiVersion has them."""
        return f"{self.group}/{self.version}"

    def storage_collections(self) -> list[str]:
        """Return the path of each stored collection, over all namespaces."""
        return [f"/apis/{self.storage}/{plural}" for plural, _kind, _namespaced in self.resources]

    def storage_path(self, path: str) -> str | None:
        """Return where an object or collection is stored; None for a path that is none of them."""
        if self.target(path) is None:
            return None
        return f"/apis/{self.storage}" + path.removeprefix(f"/apis/{self.group_version}")

    def target(self, path: str) -> Target | None:
        """Return the resource that a path names."""
        prefix = f"/apis/{self.group_version}/"
        match = re.fullmatch(r"(?:namespaces/([^/]+)/)?([^/]+)(?:/([^/]+))?", path.removeprefix(prefix))
        if not path.startswith(prefix) or match is None:
            return None
        namespace, plural, name = match.groups()
        known = {row[0] for row in self.resources}
        return Target(plural, namespace, name) if plural in known else None

    def to_storage(self, body: bytes) -> bytes:
        """Translate an object's apiVersion to the storage's; everything else stays."""
        return _swap(body, self.group_version, self.storage)

    def from_storage(self, body: bytes) -> bytes:
        """Translate apiVersions of the storage back, those of managed fields too."""
        return _swap(body, self.storage, self.group_version)

    def discovery(self, request: Request) -> Answer | None:
        """Answer the paths of discovery and OpenAPI; None for others."""
        if "g=apidiscovery.k8s.io" in (request.headers["Accept"] or "") and request.path == "/apis":
            # Aggregated discovery is optional; 406 makes clients ask for the old documents.
            return status(406, "only the documents of each group and version are served")
        document = self._documents().get(request.path)
        return None if document is None else Answer(200, json.dumps(document).encode())

    def _documents(self) -> dict[str, Any]:
        version = {"groupVersion": self.group_version, "version": self.version}
        group = {"name": self.group, "versions": [version], "preferredVersion": version}
        rows = [
            {
                "name": plural,
                "singularName": kind.lower(),
                "kind": kind,
                "namespaced": namespaced,
                "verbs": ALL_VERBS,
            }
            for plural, kind, namespaced in self.resources
        ]
        base = f"/apis/{self.group_version}"
        info = {"title": self.group, "version": self.version}
        return {
            "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": [group]},
            f"/apis/{self.group}": {"kind": "APIGroup", "apiVersion": "v1", **group},
            base: {
                "kind": "APIResourceList",
                "apiVersion": "v1",
                "groupVersion": self.group_version,
                "resources": rows,
            },
            "/openapi/v2": {"swagger": "2.0", "info": info, "paths": {}, "definitions": {}},
            "/openapi/v3": {
                "paths": {base[1:]: {"serverRelativeURL": f"/openapi/v3{base}?hash={self.version}"}}
            },
            f"/openapi/v3{base}": {"openapi": "3.0.0", "info": info, "paths": {}},
        }


def _swap(body: bytes, old: str, new: str) -> bytes:
    try:
        document = json.loads(body)
    except ValueError:  # text, not JSON: nothing to translate
        return body
    return json.dumps(_swapped(document, old, new)).encode()


def _swapped(value: Any, old: str, new: str) -> Any:
    if isinstance(value, list):
        return [_swapped(item, old, new) for item in value]
    if isinstance(value, dict):
        return {
            key: new if key == "apiVersion" and item == old else _swapped(item, old, new)
            for key, item in value.items()
        }
    return value
