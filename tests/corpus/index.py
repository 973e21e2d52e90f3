"""What the corpus's index says of each upgrade: a second opinion, computed from the manifests alone."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from agent.core.model import ObjectId
from tests.corpus.releases import INDEX, NAMESPACE, Pair

_PAIR = re.compile(r"### (\S+): (\S+) → (\S+)")
_TAG = re.compile(r"  - ([A-Z][A-Za-z+-]*|webhook-) `(\S+) (\S+)`: (.*)")
_REMOVED = re.compile(r"- removed = prune [^:]*: (.*)")
_OBJECT = re.compile(r"`(\S+) (\S+)`")


class Named(NamedTuple):
    """An object as the index names it: without group."""

    kind: str
    path: str

    def names(self, key: ObjectId) -> bool:
        """Whether this is the object; the index leaves a namespace out that the manifest leaves out."""
        return key.kind == self.kind and self.path in (key.path, key.path.removeprefix(f"{NAMESPACE}/"))


class Tag(NamedTuple):
    """One line: what kind of change, of which object, in the index's words."""

    word: str
    object: Named
    text: str


class Entry(NamedTuple):
    """All that the index says of one upgrade."""

    tags: tuple[Tag, ...]
    removed: tuple[Named, ...]


@cache
def index() -> dict[Pair, Entry]:
    """By upgrade, in the order of the index."""
    found: dict[Pair, Entry] = {}
    pair = None
    for line in INDEX.read_text(encoding="utf-8").splitlines():
        heading, tag, removed = _PAIR.match(line), _TAG.match(line), _REMOVED.match(line)
        if heading:
            pair = Pair(*heading.groups())
            found[pair] = Entry((), ())
        elif pair and tag:
            word, kind, path, text = tag.groups()
            entry = found[pair]
            found[pair] = entry._replace(tags=(*entry.tags, Tag(word, Named(kind, path), text)))
        elif pair and removed:
            names = tuple(Named(*match) for match in _OBJECT.findall(removed[1]))
            found[pair] = found[pair]._replace(removed=names)
    return found
