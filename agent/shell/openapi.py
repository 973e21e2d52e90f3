"""The API server's OpenAPI v3 document: how it merges lists, and what it fills in, for each kind it serves.

A group-version's document is named by its hash and kept under it: it is fetched again only when it changes.
Source: kubernetes.io/docs/concepts/overview/kubernetes-api (OpenAPI V3).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Final

import orjson

from agent.core.model import Body, GroupKind
from agent.core.schemas import Schema, schema_of
from agent.errors import SourceError

Get = Callable[[str], Body]
"""GET of an API path; raises ``ClusterError``."""

_INDEX: Final = "/openapi/v3"
_HASH: Final = re.compile(r"[?&]hash=([0-9A-Fa-f]+)")
_OF_KIND: Final = "x-kubernetes-group-version-kind"


class OpenApi:
    """Reads schemas through ``get`` and keeps the documents below ``cache_dir``."""

    def __init__(self, get: Get, cache_dir: Path) -> None:
        self._get = get
        self._folder = cache_dir / "openapi"

    def schemas(self, versions: Mapping[GroupKind, str]) -> Mapping[GroupKind, Schema]:
        """The schemas of these kinds in these versions; kinds that the server does not describe are left out.

        Raises:
            ClusterError: the server cannot be asked.
            SourceError: the cache folder cannot be written.
        """
        paths: Mapping[str, Any] = self._get(_INDEX).get("paths") or {}
        found: dict[GroupKind, Schema] = {}
        for api_version in sorted({_api_version(kind, version) for kind, version in versions.items()}):
            entry = paths.get(f"{'apis' if '/' in api_version else 'api'}/{api_version}")
            if entry is not None:
                kinds = [k for k, version in versions.items() if _api_version(k, version) == api_version]
                found |= _described(self._document(str(entry["serverRelativeURL"])), kinds, api_version)
        return found

    def _document(self, url: str) -> Body:
        match = _HASH.search(url)
        if match is None:
            return self._get(url)
        file = self._folder / f"{match[1]}.json"
        try:
            kept: Body = orjson.loads(file.read_bytes())
        except (FileNotFoundError, orjson.JSONDecodeError):
            kept = self._get(url)
            self._keep(file, kept)
        return kept

    def _keep(self, file: Path, document: Body) -> None:
        try:
            self._folder.mkdir(parents=True, mode=0o700, exist_ok=True)
            with NamedTemporaryFile(dir=self._folder, delete=False) as new:
                new.write(orjson.dumps(document))
            Path(new.name).replace(file)
        except OSError as error:
            raise SourceError(
                f"keeping a schema in {self._folder}: {error.strerror}; set cache_dir"
            ) from error


def _api_version(kind: GroupKind, version: str) -> str:
    return f"{kind.group}/{version}" if kind.group else version


def _described(document: Body, kinds: Iterable[GroupKind], api_version: str) -> dict[GroupKind, Schema]:
    components: Mapping[str, Body] = (document.get("components") or {}).get("schemas") or {}
    version = api_version.rpartition("/")[2]
    by_kind = {
        (one.get("group", ""), one.get("kind"), one.get("version")): schema
        for schema in components.values()
        for one in schema.get(_OF_KIND) or ()
    }
    return {
        kind: schema_of(kind, by_kind[*kind, version], components)
        for kind in kinds
        if (*kind, version) in by_kind
    }
