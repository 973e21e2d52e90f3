"""The other sets, read now: their ledgers, and where they may have a say what Git wants of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass

from agent.core.acts import pinned_to
from agent.core.handoff import same_content
from agent.core.kinds import Kinds
from agent.core.ledger import GenerationState, Ledger
from agent.core.model import Body, Desired, Live, ObjectId
from agent.core.neighbours import Neighbour, Neighbours
from agent.errors import LedgerError, SourceError
from agent.shell.set_source import SetSource
from agent.shell.store import LedgerStore


@dataclass(frozen=True)
class Neighbourhood:
    """The sets beside ``own``. ``sources`` are all sets of the configuration, in its order.

    ``store`` is this reader's own, so that what it remembers is shared with no thread.
    """

    own: str
    sources: Mapping[str, SetSource]
    store: LedgerStore

    def look(self, kinds: Kinds, *, asks_git: bool, without: Collection[str] = ()) -> Neighbours:
        """Every other set but former names of ours; what Git wants of them only where it ``asks_git``.

        Raises ClusterError.
        """
        ledgers, damaged = self._ledgers()
        names = [*self.sources, *sorted((ledgers.keys() | damaged.keys()) - self.sources.keys())]
        order = list(self.sources)
        place = order.index(self.own) if self.own in order else 0
        earlier = frozenset(order[:place])
        found = []
        for name in names:
            if name == self.own or name in without:
                continue
            ledger = ledgers.get(name, Ledger(name))
            one = Neighbour(name, ledger.entries, unread=damaged.get(name, ""), is_earlier=name in earlier)
            source = self.sources.get(name) if asks_git and not one.unread else None
            found.append(self._asked(one, ledger, source, kinds) if source else one)
        return Neighbours(tuple(found))

    def _ledgers(self) -> tuple[dict[str, Ledger], dict[str, str]]:
        ledgers, damaged = {}, {}
        for name in self.store.sets():
            try:
                ledgers[name] = self.store.load(name)[0] if name != self.own else Ledger(name)
            except LedgerError as error:
                damaged[name] = str(error)
        return ledgers, damaged

    def _asked(self, one: Neighbour, ledger: Ledger, source: SetSource, kinds: Kinds) -> Neighbour:
        """With what the set's ref wants now, and what its newest generation wants, which may be pinned."""
        try:
            head = source.desired(source.resolve(pinned_to(ledger.acts)), kinds)
        except SourceError as error:
            return _with(one, None, str(error), "")
        if not head.is_complete:
            return _with(one, None, f"{head.revision} cannot be read whole", "")
        wants = {key: manifest.body for key, manifest in head.manifests.items()}
        newest = ledger.newest
        if newest is None:
            return _with(one, wants, "", "it was never synced")
        standing = _standing(source, newest.revision, head, kinds)
        if standing is None:
            kept = {key: wants.get(key, {}) for key in one.members}
            return _with(one, kept | wants, "", f"generation {newest.number} is {newest.state.value}")
        waits = ""
        if newest.state is not GenerationState.IN_SERVICE:
            waits = f"generation {newest.number} is {newest.state.value}"
        elif not same_content(standing.manifests, head.manifests):
            waits = f"{head.revision[:7]} is not taken up yet"
        older = {key: manifest.body for key, manifest in standing.manifests.items()}
        return _with(one, older | wants, "", waits)


def _standing(source: SetSource, revision: str, head: Desired, kinds: Kinds) -> Desired | None:
    if revision == head.revision:
        return head
    with suppress(SourceError):
        if source.has(revision):
            return source.desired(revision, kinds)
    return None


def _with(one: Neighbour, wants: Mapping[ObjectId, Body] | None, unread: str, waits: str) -> Neighbour:
    return Neighbour(one.name, one.members, wants, unread, one.is_earlier, waits)


def has_a_say(desired: Desired, ledger: Ledger, live: Live) -> bool:
    """Whether another set may have a say: something goes, is to be made, or stands under another label."""
    if ledger.entries.keys() - desired.manifests.keys():
        return True
    found = (live.get(key) for key in desired.manifests)
    return any(obj is None or obj.set_name != desired.set_name for obj in found)
