"""The file of a snapshot: what a plan needs to know of a live cluster, with the values of Secrets masked.

One JSON value, gzipped where the file ends in .gz: ``format``, ``taken`` (epoch seconds), ``resources`` and
``failed`` as discovery told them, ``reads`` (each kind and namespace that was listed, with its objects or the
error that came instead). Whoever has the file can preview an upgrade of the cluster without access to it.
"""

from __future__ import annotations

import gzip
import hashlib
import secrets
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent.core.ledger_items import LAST_MOMENT
from agent.core.model import Body, GroupKind
from agent.core.policy import id_of
from agent.core.redact import masked_body
from agent.core.stored_shapes import checked_object, where
from agent.errors import ClusterError, SourceError
from agent.shell.cluster import Discovery, Resource
from agent.shell.embedded import shipped_model
from agent.shell.observe import Observer, Place
from agent.shell.set_source import SetSource
from agent.shell.store import CONFIG_MAPS
from agent.shell.tick import Tools

FORMAT: Final = "trapeze.dev/snapshot/v1"
_PACKED: Final = b"\x1f\x8b"


class _Stored(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class _StoredResource(_Stored):
    group: str
    kind: str = Field(min_length=1)
    versions: list[str] = Field(min_length=1)
    plural: str = Field(min_length=1)
    namespaced: bool
    verbs: list[str]


class _StoredRead(_Stored):
    group: str
    kind: str = Field(min_length=1)
    namespace: str
    items: list[Any]
    error: str


class _StoredSnapshot(_Stored):
    format: str
    taken: float = Field(ge=0, le=LAST_MOMENT)
    resources: list[_StoredResource]
    failed: dict[str, str]
    reads: list[_StoredRead]


class Read(NamedTuple):
    """What a list gave: whole objects, or the error in their place."""

    items: tuple[Body, ...]
    error: str = ""


@dataclass(frozen=True)
class Snapshot:
    """A cluster as it was at ``taken`` (epoch seconds).

    ``digest`` names the content, so that a plan made from it can be told from any other.
    """

    taken: float
    discovery: Discovery
    reads: Mapping[Place, Read]
    digest: str = ""


def take(tools: Tools, sources: Mapping[str, SetSource], ledger_namespace: str) -> Snapshot:
    """What plans and rehearsals of these sets (by name) look at now.

    Raises SourceError, LedgerError, ClusterError.
    """
    discovery = tools.cluster.discover()
    observer = Observer(tools.cluster, tools.policy, discovery, shipped_model()[0].also_read)
    key = secrets.token_bytes(32)
    reads: dict[Place, Read] = {}
    for name, source in sources.items():
        desired = source.desired(source.resolve(), tools.kinds.extended(discovery.kinds))
        found = observer.read(desired, tools.store.load(name)[0])
        reads |= {place: _masked(result, key) for place, result in found.items()}
    ledgers = tools.cluster.list(CONFIG_MAPS, ledger_namespace).items
    reads[CONFIG_MAPS.kind, ledger_namespace] = Read(tuple(ledgers))
    return Snapshot(tools.clock(), discovery, reads)


def _masked(result: Any, key: bytes) -> Read:
    if isinstance(result, ClusterError):
        return Read((), str(result))
    return Read(tuple(masked_body(body, key) for body in result))


def write(snapshot: Snapshot, path: Path) -> None:
    """Put the snapshot into a file, in place of what it held. Raises SourceError."""
    text = orjson.dumps(
        {
            "format": FORMAT,
            "taken": snapshot.taken,
            "resources": [_resource_json(r) for r in snapshot.discovery.resources.values()],
            "failed": dict(snapshot.discovery.failed),
            "reads": [
                {"group": kind.group, "kind": kind.kind, "namespace": namespace, **read._asdict()}
                for (kind, namespace), read in snapshot.reads.items()
            ],
        }
    )
    try:
        path.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
    except OSError as error:
        raise SourceError(f"snapshot {path} cannot be written: {error}") from error


def read(path: Path) -> Snapshot:
    """The snapshot in a file. Raises SourceError where there is none, or one of another format."""
    try:
        data = path.read_bytes()
        text = gzip.decompress(data) if data.startswith(_PACKED) else data
        value = orjson.loads(text)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise SourceError(f"snapshot {path} cannot be read: {error}") from error
    told = value.get("format") if isinstance(value, dict) else None
    if told != FORMAT:
        raise SourceError(
            f"{path} is no snapshot of format {FORMAT}; take one with `trapeze snapshot {path}`"
        )
    try:
        return _snapshot(_StoredSnapshot.model_validate(value), hashlib.sha256(text).hexdigest())
    except ValidationError as error:
        raise SourceError(f"snapshot {path} is damaged: {where(error)}") from error
    except ValueError as error:
        raise SourceError(f"snapshot {path} is damaged: {error}") from error


def _snapshot(value: _StoredSnapshot, digest: str) -> Snapshot:
    resources = [_resource(row) for row in value.resources]
    return Snapshot(
        taken=value.taken,
        discovery=Discovery({resource.kind: resource for resource in resources}, value.failed),
        reads={
            (GroupKind(row.group, row.kind), row.namespace): Read(_items(row), row.error)
            for row in value.reads
        },
        digest=digest,
    )


def _items(row: _StoredRead) -> tuple[Body, ...]:
    listed = GroupKind(row.group, row.kind)
    bodies = tuple(checked_object(item) for item in row.items)
    strange = next((key for key in map(id_of, bodies) if key.group_kind != listed), None)
    if strange is not None:
        raise ValueError(f"{strange} stands in the list of {listed}")
    return bodies


def _resource_json(resource: Resource) -> Body:
    return {
        "group": resource.kind.group,
        "kind": resource.kind.kind,
        "versions": list(resource.versions),
        "plural": resource.plural,
        "namespaced": resource.is_namespaced,
        "verbs": sorted(resource.verbs),
    }


def _resource(row: _StoredResource) -> Resource:
    kind = GroupKind(row.group, row.kind)
    verbs = frozenset(row.verbs)
    return Resource(kind, tuple(row.versions), row.plural, is_namespaced=row.namespaced, verbs=verbs)
