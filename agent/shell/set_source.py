"""One set's side of Git: its ref, its paths, and the commits that its ledger needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from agent.core.kinds import Kinds
from agent.core.ledger import Entry, Ledger
from agent.core.model import Desired
from agent.core.refs import Ref, RefKind
from agent.settings import SetConfig
from agent.shell.source import Applied, Source


class SetSource(Protocol):
    """What a tick asks of Git for one set. Raises SourceError."""

    def resolve(self, pin: str = "") -> str:
        """The commit that the set's ref names now, or ``pin``; a ref told for this once goes first."""
        ...

    def desired(self, commit: str, kinds: Kinds) -> Desired:
        """What the set wants at ``commit``."""
        ...

    def has(self, commit: str) -> bool:
        """Whether the commit can still be read."""
        ...

    def applied(self, entries: Iterable[Entry]) -> Applied:
        """What was applied of these members, as ``desired`` reads it, and what of it is gone."""
        ...

    def keep(self, commits: Iterable[str]) -> None:
        """See that these commits, and no others, stay readable for this set."""
        ...


@dataclass(frozen=True)
class GitSource:
    """What a tick asks of Git for ``config``; ``ref`` stands in for the set's own. Raises SourceError."""

    source: Source
    config: SetConfig
    ref: Ref | None = None

    def resolve(self, pin: str = "") -> str:
        """The commit that the ref names now; that of the set alone gives way to ``pin``."""
        pinned = Ref(RefKind.COMMIT, pin) if pin else self.config.ref
        return self.source.repo.resolve(self.ref or pinned)

    def desired(self, commit: str, kinds: Kinds) -> Desired:
        """What the set wants at ``commit``."""
        return self.source.desired(self.config, commit, kinds)

    def contents(self, commit: str, files: Iterable[str]) -> Mapping[str, bytes]:
        """These files as they stand at ``commit``; those that are not there are left out."""
        blobs = self.source.repo.find(commit, files)
        read = self.source.repo.read(set(blobs.values()))
        return {file: read[blob] for file, blob in blobs.items()}

    def has(self, commit: str) -> bool:
        """Whether the commit can still be read."""
        return self.source.repo.has(commit)

    def applied(self, entries: Iterable[Entry]) -> Applied:
        """What was applied of these members."""
        return self.source.applied(entries)

    def keep(self, commits: Iterable[str]) -> None:
        """Keep the commits that can still be read, and no others, for this set."""
        self.source.repo.keep(self.config.name, [commit for commit in commits if self.has(commit)])


GONE: Final = "absent"
"""What stands for the commit of a set that shall go."""


@dataclass(frozen=True)
class AbsentSource:
    """A set that shall go whole: it wants nothing, and needs neither repo nor ref for it."""

    set_name: str

    def resolve(self, pin: str = "") -> str:  # noqa: ARG002 - as every source is asked
        """The word for no commit."""
        return GONE

    def desired(self, commit: str, kinds: Kinds) -> Desired:  # noqa: ARG002 - as every source is asked
        """Nothing."""
        return Desired(self.set_name, commit, {})

    def has(self, commit: str) -> bool:
        """Whether it is the word for no commit."""
        return commit == GONE

    def applied(self, entries: Iterable[Entry]) -> Applied:  # noqa: ARG002 - as every source is asked
        """Nothing: what goes whole is compared with nothing."""
        return Applied({}, ())

    def keep(self, commits: Iterable[str]) -> None:
        """What goes needs no commit."""


def commits_needed(ledger: Ledger, commit: str) -> frozenset[str]:
    """The commits that must stay readable: what was written came from them, or one may go back to them."""
    intended = ledger.intent.entries if ledger.intent else ()
    named = {source.commit for entry in (*ledger.entries.values(), *intended) for source in entry.bases}
    return frozenset({commit, *named, *(g.revision for g in ledger.generations[-10:])})
