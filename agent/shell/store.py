"""The ledger's store: ConfigMaps in the agent's own namespace, out of reach of the sets.

``trapeze-<set>`` is the head, written under its resourceVersion; ``trapeze-<set>-<digest>`` are immutable
chunks. The order of writes keeps a readable ledger at every instant: new chunks, then the head, then the
old chunks go. A chunk goes only in the version in which it was read, and whoever takes up one that is
already there moves its version first: two agents cannot take a chunk from under each other's head.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from agent.core.ledger import Ledger
from agent.core.ledger_format import DIGEST_LENGTH, Encoded, chunks_of, decode, digest_of, encode, set_of
from agent.core.lockout import LEDGER_LABEL, MANAGED_BY, way_out
from agent.core.model import Body, GroupKind, LiveObject, ObjectId
from agent.errors import ClusterError, Conflict, LedgerError, NotFound, Rejected
from agent.shell.cluster import Cluster, Resource

_TOUCHED: Final = "trapeze.dev/taken-up-after"
_HEAD_KEY: Final = "ledger.json"
_CHUNK_KEY: Final = "chunk.json"
_PLAIN: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,198}[a-z0-9])?")
_LIKE_A_CHUNK: Final = re.compile(rf"-[0-9a-f]{{{DIGEST_LENGTH}}}$")
_LONGEST_SLUG: Final = 180

_VERBS: Final = frozenset({"get", "list", "create", "update", "delete"})
CONFIG_MAPS: Final = Resource(
    GroupKind("", "ConfigMap"), ("v1",), "configmaps", is_namespaced=True, verbs=_VERBS
)
NAMESPACES: Final = Resource(
    GroupKind("", "Namespace"), ("v1",), "namespaces", is_namespaced=False, verbs=_VERBS
)

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Stored:
    """What is known of one set's ConfigMaps; ``chunks`` by digest, as read or written last."""

    token: str
    head: str
    ledger: Ledger
    chunks: Mapping[str, LiveObject]


class LedgerStore:
    """Loads and saves ledgers; one agent's view, not shared between threads of the same set."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._known: dict[str, _Stored] = {}
        self._names: dict[str, str] = {}

    @property
    def namespace(self) -> str:
        """Where the ledgers live."""
        return self._namespace

    def load(self, set_name: str) -> tuple[Ledger, str]:
        """The ledger and its version token, which is empty where none was saved yet.

        Costs one GET while nothing changed. Raises ``LedgerError`` where it cannot be read, ``ClusterError``.
        """
        known = self._known.get(set_name)
        if known and known.token:
            head = self._cluster.get(CONFIG_MAPS, self._id(head_name(set_name)))
            if head and LiveObject(self._id(head_name(set_name)), head).resource_version == known.token:
                return known.ledger, known.token
        known = self._read(set_name)
        self._known[set_name] = known
        return known.ledger, known.token

    def save(self, ledger: Ledger, token: str) -> str:
        """Save what was loaded as ``token``; the new token. An equal ledger is not written again.

        Raises ``Conflict`` when another agent wrote in between: load again; ``Rejected``, with the way out,
        where admission stands before it. After any error the ledger on the server is either the old one or
        the new one, whole.
        """
        try:
            return self._save(ledger, token)
        except Rejected as error:
            said = f"the ledger of set {ledger.set_name} cannot be written, and without it no step is taken"
            way = f"take away what stands before it, or {way_out(self._namespace)}"
            raise Rejected(f"{said}: {error}; {way}", is_unanswered=error.is_unanswered) from error

    def _save(self, ledger: Ledger, token: str) -> str:
        stored = self._stored(ledger.set_name, token)
        encoded = encode(ledger)
        if token and encoded.head == stored.head:
            return token
        held = chunks_of(stored.head) if stored.head else frozenset()
        chunks = dict(stored.chunks)
        for digest, text in encoded.chunks.items():
            if digest not in held:
                chunks[digest] = self._put_chunk(ledger.set_name, text, token)
        new_token = self._put_head(ledger.set_name, encoded, token)
        self._known[ledger.set_name] = _Stored(new_token, encoded.head, ledger, chunks)
        self._collect(ledger.set_name, encoded)
        return new_token

    def sets(self) -> tuple[str, ...]:
        """Every set that has a ledger here: one metadata LIST, and a GET for each head not seen before."""
        items = self._cluster.list_metadata(CONFIG_MAPS, self._namespace, LEDGER_LABEL).items
        found = []
        for name in sorted(item["metadata"]["name"] for item in items):
            if _LIKE_A_CHUNK.search(name):
                continue
            if name not in self._names:
                head = self._cluster.get(CONFIG_MAPS, self._id(name))
                if head is None:
                    continue
                self._names[name] = set_of(_text(LiveObject(self._id(name), head), _HEAD_KEY))
            found.append(self._names[name])
        return tuple(found)

    def delete(self, set_name: str) -> None:
        """Take the ledger away: the head first, so that no head ever names a chunk that is gone."""
        stored = self._read(set_name)
        self._known.pop(set_name, None)
        head = self._cluster.get(CONFIG_MAPS, self._id(head_name(set_name)))
        if head:
            self._delete(LiveObject(self._id(head_name(set_name)), head))
        for chunk in stored.chunks.values():
            self._delete(chunk)

    def _stored(self, set_name: str, token: str) -> _Stored:
        known = self._known.get(set_name)
        if known is None or known.token != token:
            known = self._read(set_name)
        if known.token != token:
            raise Conflict(f"cannot save the ledger of set {set_name}: another agent wrote it; load it again")
        return known

    def _read(self, set_name: str) -> _Stored:
        """One LIST, so head and chunks are of one instant; what lost its label is asked for by its name."""
        selector = f"{LEDGER_LABEL}={digest_of(set_name)}"
        items = self._cluster.list(CONFIG_MAPS, self._namespace, selector).items
        objects = {
            name: LiveObject(self._id(name), item) for item in items if (name := item["metadata"]["name"])
        }
        name = head_name(set_name)
        head = objects.pop(name, None) or self._named(name)
        chunks = {name.rpartition("-")[2]: chunk for name, chunk in objects.items()}
        if head is None:
            return _Stored("", "", Ledger(set_name), chunks)
        text = _text(head, _HEAD_KEY)
        for digest in sorted(chunks_of(text) - chunks.keys()):
            if chunk := self._named(f"{name}-{digest}"):
                chunks[digest] = chunk
        texts = {digest: _text(chunks[digest], _CHUNK_KEY) for digest in chunks_of(text) if digest in chunks}
        return _Stored(head.resource_version, text, decode(set_name, text, texts), chunks)

    def _named(self, name: str) -> LiveObject | None:
        body = self._cluster.get(CONFIG_MAPS, self._id(name))
        return LiveObject(self._id(name), body) if body else None

    def _put_chunk(self, set_name: str, text: str, token: str) -> LiveObject:
        """Create the chunk; one that is already there is taken up, unless it goes in this very moment."""
        name = f"{head_name(set_name)}-{digest_of(text)}"
        body = self._config_map(set_name, name, _CHUNK_KEY, text) | {"immutable": True}
        try:
            return LiveObject(self._id(name), self._create(body))
        except Conflict as conflict:
            if not conflict.already_exists:
                raise
        there = self._cluster.get(CONFIG_MAPS, self._id(name))
        if there is None:
            return LiveObject(self._id(name), self._create(body))
        if _text(LiveObject(self._id(name), there), _CHUNK_KEY) != text:
            raise LedgerError(f"ConfigMap {self._namespace}/{name} was altered; delete it and sync again")
        metadata = {**there["metadata"], "annotations": {_TOUCHED: token or "nothing"}}
        return LiveObject(self._id(name), self._cluster.replace(CONFIG_MAPS, {**there, "metadata": metadata}))

    def _put_head(self, set_name: str, encoded: Encoded, token: str) -> str:
        name = head_name(set_name)
        body = self._config_map(set_name, name, _HEAD_KEY, encoded.head)
        try:
            if token:
                body["metadata"]["resourceVersion"] = token
                written = self._cluster.replace(CONFIG_MAPS, body)
            else:
                written = self._create(body)
        except (Conflict, NotFound) as error:
            raise Conflict(
                f"another agent wrote the ledger of set {set_name}; load it again: {error}"
            ) from error
        return LiveObject(self._id(name), written).resource_version

    def _create(self, body: Body) -> Body:
        try:
            return self._cluster.create(CONFIG_MAPS, body)
        except NotFound:
            self._create_namespace()
        return self._cluster.create(CONFIG_MAPS, body)

    def _create_namespace(self) -> None:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self._namespace}}
        try:
            self._cluster.create(NAMESPACES, body)
        except Conflict as conflict:
            if not conflict.already_exists:
                raise

    def _collect(self, set_name: str, encoded: Encoded) -> None:
        """Remove chunks that no head names. The ledger is saved: what fails waits for the next save."""
        known = self._known[set_name]
        kept = dict(known.chunks)
        for digest in known.chunks.keys() - encoded.chunks.keys():
            try:
                self._delete(kept.pop(digest))
            except Conflict:
                # Another agent has taken it up: it is that agent's to remove.
                continue
            except ClusterError as error:
                kept[digest] = known.chunks[digest]
                _log.warning("old chunks of the ledger of set %s stay for now: %s", set_name, error)
                break
        self._known[set_name] = _Stored(known.token, known.head, known.ledger, kept)

    def _delete(self, obj: LiveObject) -> None:
        self._cluster.delete(CONFIG_MAPS, obj.id, uid=obj.uid, resource_version=obj.resource_version)

    def _id(self, name: str) -> ObjectId:
        return ObjectId("", "ConfigMap", self._namespace, name)

    def _config_map(self, set_name: str, name: str, key: str, text: str) -> Body:
        labels = {LEDGER_LABEL: digest_of(set_name), **MANAGED_BY}
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"namespace": self._namespace, "name": name, "labels": labels},
            "data": {key: text},
        }


def head_name(set_name: str) -> str:
    """The head's ConfigMap: ``trapeze-<set>``; names that do not fit get a digest after a dot.

    A set whose name ends like a chunk's counts as one that does not fit, or it could be taken for a chunk.
    """
    if _PLAIN.fullmatch(set_name) and not _LIKE_A_CHUNK.search(set_name):
        return f"trapeze-{set_name}"
    slug = re.sub(r"[^a-z0-9]+", "-", set_name.lower()).strip("-")[:_LONGEST_SLUG].strip("-")
    return f"trapeze-{slug or 'set'}.{digest_of(set_name)}"


def _text(obj: LiveObject, key: str) -> str:
    text = (obj.body.get("data") or {}).get(key)
    if not isinstance(text, str):
        raise LedgerError(f"{obj.id} holds no {key}; delete it, or restore it")
    return text
