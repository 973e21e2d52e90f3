"""What Helm installed: the manifest that a release's record holds, and who says to be of which release.

Helm 3 writes as an update without a last-applied annotation: its managedFields name the server's defaults and
what admission put in, too. What it declared stands in its own storage alone (helm.sh/docs/topics/advanced,
storage backends; helm/helm pkg/storage/driver: gzip of JSON in base64, in a Secret or a ConfigMap).
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from agent.core.model import Body, LiveObject
from agent.core.predecessors import has_updated

NAME: Final = "meta.helm.sh/release-name"
NAMESPACE: Final = "meta.helm.sh/release-namespace"
LARGEST: Final = 64 * 1024 * 1024
"""Bytes of a record that are read at most; an object of the server holds 1.5 MB, packed."""

_GZIP: Final = 31
_PACKED: Final = b"\x1f\x8b"


class Release(NamedTuple):
    """A Helm release, by the namespace of its records and its name."""

    namespace: str
    name: str

    def __str__(self) -> str:
        """``Helm release ns/name``."""
        return f"Helm release {self.namespace}/{self.name}"


def release_of(obj: LiveObject, predecessors: Collection[str]) -> Release | None:
    """The release that an object says to be of, where a predecessor has written it by an update."""
    name, namespace = obj.annotations.get(NAME), obj.annotations.get(NAMESPACE)
    if not name or not namespace or not has_updated(predecessors, obj.body):
        return None
    return Release(str(namespace), str(name))


def selector(release: Release) -> str:
    """The labels of the record of what is deployed of a release."""
    return f"owner=helm,status=deployed,name={release.name}"


def newest(records: Iterable[Body]) -> Body | None:
    """The record of the highest version; None without one."""
    return max(records, key=_version, default=None)


def manifest_in(record: Body) -> str:
    """The manifest of a record, as YAML. Raises ValueError where it is no record, without its content."""
    raw = str((record.get("data") or {}).get("release", ""))
    try:
        data = base64.b64decode(raw, validate=True)
        # A Secret's data are encoded once more by the server.
        data = base64.b64decode(data, validate=True) if record.get("kind") == "Secret" else data
        if data[:2] == _PACKED:
            data = zlib.decompressobj(_GZIP).decompress(data, LARGEST)
        manifest = json.loads(data).get("manifest")
    except (binascii.Error, zlib.error, ValueError, AttributeError):
        manifest = None
    if not isinstance(manifest, str):
        raise ValueError("its record cannot be read")  # noqa: TRY004 - the caller reads data, not types
    return manifest


def _version(record: Body) -> int:
    text = str(((record.get("metadata") or {}).get("labels") or {}).get("version", ""))
    return int(text) if text.isdigit() else 0
