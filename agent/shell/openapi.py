"""The API server's OpenAPI v3 documents: which fields kinds have, how lists merge, what is filled in.

A group-version's document is named by its hash and kept by it: it is fetched again only when it changes.
Source: kubernetes.io/docs/concepts/overview/kubernetes-api (OpenAPI V3).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from agent.core.model import Body
from agent.shell.cluster import Document

Get = Callable[[str], Body]
"""GET of an API path; raises ``ClusterError``."""

_INDEX: Final = "/openapi/v3"
_HASH: Final = re.compile(r"[?&]hash=([0-9A-Fa-f]+)")


class OpenApi:
    """Reads documents through ``get`` and keeps the last one of each group-version."""

    def __init__(self, get: Get) -> None:
        self._get = get
        self._kept: dict[str, Document] = {}

    def documents(self, api_versions: Collection[str]) -> Mapping[str, Document]:
        """The documents of these group-versions; those that the server does not describe are left out.

        Raises:
            ClusterError: the server cannot be asked.
        """
        paths: Mapping[str, Any] = self._get(_INDEX).get("paths") or {}
        found = {}
        for api_version in sorted(api_versions):
            entry = paths.get(f"{'apis' if '/' in api_version else 'api'}/{api_version}")
            if entry is not None:
                found[api_version] = self._document(api_version, str(entry["serverRelativeURL"]))
        return found

    def _document(self, api_version: str, url: str) -> Document:
        match = _HASH.search(url)
        kept = self._kept.get(api_version)
        if match is not None and kept is not None and kept.key == match[1]:
            return kept
        body = self._get(url)
        # Without a hash nothing says that two answers are equal.
        document = Document(match[1] if match else f"unhashed {id(body)}", body)
        self._kept[api_version] = document
        return document
