"""The other sets of the cluster, and whose an object is that more than one of them names.

Every object that a set wrote carries the label of one set, and that set's ledger names it: it alone may
delete it. Another set that wants the same object shares it while both want the same of it, and holds while
they differ. A set that wants it no more leaves it to one that does: it keeps the object in its ledger, marked
as left, until the other's label stands on it. So at every moment one ledger answers for the object, whoever
is stopped where.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from agent.core.ledger import Entry, Ledger
from agent.core.model import Body, ObjectId


@dataclass(frozen=True)
class Neighbour:
    """Another set: ``members`` by its ledger, ``wants`` by Git as far as this configuration names the set.

    ``wants`` holds what the set's ref names now and what its newest generation names; None for a set that
    stands in no configuration of ours, and where Git could not be read (``unread`` says why).
    ``is_earlier`` tells that it stands before our set in the configuration; ``waits`` is why it is not in
    service, or empty.
    """

    name: str
    members: Mapping[ObjectId, Entry] = field(default_factory=dict)
    wants: Mapping[ObjectId, Body] | None = None
    unread: str = ""
    is_earlier: bool = False
    waits: str = ""

    def keeps(self, key: ObjectId) -> bool:
        """Whether the set goes on with the object; one that itself gives it up does not."""
        if self.wants is not None:
            return key in self.wants
        entry = self.members.get(key)
        return entry is not None and not entry.is_left

    def answers_for(self, key: ObjectId) -> bool:
        """Whether the set still has a say in the object: it wants it, or its ledger has not left it."""
        entry = self.members.get(key)
        return self.keeps(key) or (entry is not None and not entry.is_left)


@dataclass(frozen=True)
class Neighbours:
    """All other sets that are known, those of the configuration and those of which a ledger is found."""

    sets: tuple[Neighbour, ...] = ()

    def named(self, name: str) -> Neighbour | None:
        """The set of that name."""
        return next((one for one in self.sets if one.name == name), None)

    def keeping(self, key: ObjectId) -> tuple[str, ...]:
        """The sets that go on with the object."""
        return tuple(one.name for one in self.sets if one.keeps(key))

    def unread(self) -> tuple[str, ...]:
        """Why it is not known what all sets want, one reason for each that could not be read."""
        return tuple(f"set {one.name}: {one.unread}" for one in self.sets if one.unread)


def marked(ledger: Ledger, left: Collection[ObjectId]) -> Ledger:
    """The ledger with exactly these members marked as left to another set."""
    if all(entry.is_left == (key in left) for key, entry in ledger.entries.items()):
        return ledger
    entries = {key: replace(entry, is_left=key in left) for key, entry in ledger.entries.items()}
    return replace(ledger, entries=entries)
