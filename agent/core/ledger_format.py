"""The ledger as text, format 2: a small head that names immutable chunks by their content.

The head is JSON: ``format``, ``set``, ``generations`` and the sections ``entries``, ``holds``, ``intent``,
``acts`` and ``pruned``; format 1 had not the last two. A section is ``{"inline": [items]}`` while it is
small, else ``{"chunks": [digest, ...]}``; a chunk is ``{"items": [...]}``. Entries are spread over chunks by
the hash of their object id, a chunk that grows too large is split in two by the next bit: a change to one
object rewrites one chunk. What changes as a whole or at its end is cut in sequence. The same ledger always
gives the same text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from agent.core.ledger import Intent, IntentKind, Ledger
from agent.core.ledger_items import (
    act_json,
    act_of,
    entry_json,
    entry_of,
    generation_json,
    generations_of,
    hold_json,
    hold_of,
    pruned_json,
    pruned_of,
    text_of,
)
from agent.core.model import Body, ObjectId
from agent.errors import LedgerError

FORMAT: Final = 2
DIGEST_LENGTH: Final = 24
CHUNK_BYTES: Final = 64 * 1024
"""A chunk is split beyond this; a ConfigMap holds 1 MiB, and a change costs one chunk."""

_WAY_OUT: Final = "restore its ConfigMaps, or delete them: then it is made anew from what the labels tell"
_INLINE_BYTES: Final = 16 * 1024
_HASH_BITS: Final = 256
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))


class Encoded(NamedTuple):
    """``chunks`` maps the digest of each chunk to its text."""

    head: str
    chunks: Mapping[str, str]


def encode(ledger: Ledger) -> Encoded:
    """The ledger as text; equal ledgers give equal text."""
    chunks: dict[str, str] = {}
    entries = sorted(ledger.entries.values(), key=lambda entry: entry.id)
    hashed = [(_bits(entry.id), _dumps(entry_json(entry))) for entry in entries]
    holds = [_dumps(hold_json(key, hold)) for key, hold in sorted(ledger.holds.items())]
    head: Body = {
        "format": FORMAT,
        "set": ledger.set_name,
        "generations": [generation_json(generation) for generation in ledger.generations],
        "entries": _section(_buckets(hashed, 0), chunks),
        "holds": _section(_sequence(holds), chunks),
        "acts": _section(_sequence([_dumps(act_json(act)) for act in ledger.acts]), chunks),
        "pruned": _section(_sequence([_dumps(pruned_json(one)) for one in ledger.pruned]), chunks),
    }
    if ledger.intent:
        head["intent"] = {
            "kind": ledger.intent.kind.value,
            "keys": _section(_sequence([_dumps(key) for key in ledger.intent.keys]), chunks),
            "entries": _section(
                _sequence([_dumps(entry_json(entry)) for entry in ledger.intent.entries]), chunks
            ),
        }
    return Encoded(_dumps(head), chunks)


def chunks_of(head: str) -> frozenset[str]:
    """The digests of the chunks that a head names; raises ``LedgerError`` for a head that cannot be read."""
    read = _head(head)
    intent = _map(read.get("intent"))
    own = (read.get(name) for name in ("entries", "holds", "acts", "pruned"))
    sections = map(_map, (*own, intent.get("keys"), intent.get("entries")))
    try:
        return frozenset(
            map(text_of, chain.from_iterable(section.get("chunks") or () for section in sections))
        )
    except TypeError as error:
        raise LedgerError(f"the ledger's head names no chunks: {error}; {_WAY_OUT}") from error


def decode(set_name: str, head: str, chunks: Mapping[str, str]) -> Ledger:
    """The ledger that ``encode`` wrote.

    Raises ``LedgerError`` for a newer format, another set's head, a chunk that is missing or altered, and
    anything else that is not in a format from 1 on.
    """
    read = _head(head)
    if read.get("set") != set_name:
        raise LedgerError(
            f"the ledger of set {set_name} says that it belongs to set {read.get('set')}; {_WAY_OUT}"
        )
    try:
        entries = [entry_of(item) for item in _items(read["entries"], chunks)]
        holds = dict(hold_of(item) for item in _items(read["holds"], chunks))
        return Ledger(
            set_name,
            generations_of(read["generations"], read["format"]),
            {entry.id: entry for entry in entries},
            holds,
            _intent(read.get("intent"), chunks),
            tuple(act_of(item) for item in _items(read.get("acts"), chunks)),
            tuple(pruned_of(item) for item in _items(read.get("pruned"), chunks)),
        )
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise LedgerError(
            f"the ledger of set {set_name} is damaged ({type(error).__name__}: {error}); {_WAY_OUT}"
        ) from error


def set_of(head: str) -> str:
    """The set whose head this is; raises ``LedgerError`` for a head that cannot be read."""
    name = _head(head).get("set")
    if not isinstance(name, str):
        raise LedgerError(f"the ledger's head names no set; {_WAY_OUT}")
    return name


def digest_of(text: str) -> str:
    """What a chunk is called: hexadecimal, of its content."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:DIGEST_LENGTH]


def _head(head: str) -> Body:
    try:
        read = json.loads(head)
    except (RecursionError, ValueError) as error:
        raise LedgerError(f"the ledger's head is no JSON: {error}; {_WAY_OUT}") from error
    version = read.get("format") if isinstance(read, dict) else None
    if not isinstance(version, int) or version < 1:
        raise LedgerError(f"the ledger's head names no format; {_WAY_OUT}")
    if version > FORMAT:
        raise LedgerError(
            f"the ledger has format {version}, this version of Trapeze reads up to {FORMAT}; upgrade Trapeze"
        )
    return dict(read)


def _dumps(value: Any) -> str:
    """Plain ASCII: paths in Git need not be valid Unicode, and come back exactly all the same."""
    return _ENCODER.encode(value)


def _bits(object_id: ObjectId) -> int:
    return int.from_bytes(hashlib.sha256("\0".join(object_id).encode(errors="surrogatepass")).digest())


def _size(items: Iterable[str]) -> int:
    return sum(len(item) + 1 for item in items)


def _buckets(hashed: Sequence[tuple[int, str]], depth: int) -> Iterator[list[str]]:
    """Split by hash bits until each bucket is small: the split depends on nothing but the content."""
    items = [item for _, item in hashed]
    if len(items) < 2 or depth == _HASH_BITS or _size(items) <= CHUNK_BYTES:  # noqa: PLR2004 - one cannot be split
        yield items
        return
    for bit in (0, 1):
        yield from _buckets([one for one in hashed if one[0] >> depth & 1 == bit], depth + 1)


def _sequence(items: Sequence[str]) -> Iterator[list[str]]:
    part: list[str] = []
    size = 0
    for item in items:
        if part and size + len(item) > CHUNK_BYTES:
            yield part
            part, size = [], 0
        part.append(item)
        size += len(item) + 1
    yield part


def _section(parts: Iterable[list[str]], chunks: dict[str, str]) -> Body:
    filled = [part for part in parts if part]
    if sum(map(_size, filled)) <= _INLINE_BYTES:
        return {"inline": [json.loads(item) for item in chain.from_iterable(filled)]}
    names: list[str] = []
    for part in filled:
        text = '{"items":[' + ",".join(part) + "]}"
        names.append(digest_of(text))
        chunks[names[-1]] = text
    return {"chunks": names}


def _map(value: Any) -> Body:
    """A part of the head that may be absent."""
    if value is not None and not isinstance(value, dict):
        what = f"{type(value).__name__} in the place of a map"
        raise LedgerError(f"the ledger's head is damaged ({what}); {_WAY_OUT}")
    return value or {}


def _items(value: Any, chunks: Mapping[str, str]) -> Iterator[Any]:
    section = _map(value)
    yield from section.get("inline") or ()
    for name in section.get("chunks") or ():
        chunk = chunks.get(name)
        if chunk is None:
            raise LedgerError(f"chunk {name} of the ledger is missing; restore its ConfigMap")
        if digest_of(chunk) != name:
            raise LedgerError(f"chunk {name} of the ledger was altered; restore its ConfigMap")
        yield from json.loads(chunk)["items"]


def _intent(item: Body | None, chunks: Mapping[str, str]) -> Intent | None:
    if item is None:
        return None
    return Intent(
        IntentKind(item["kind"]),
        tuple(text_of(key) for key in _items(item["keys"], chunks)),
        tuple(entry_of(entry) for entry in _items(item["entries"], chunks)),
    )
