"""A handoff between two releases on the embedded cluster, judged by the promise at every state."""

from __future__ import annotations

from typing import Any

from agent.core.promise import Checker, Verdict
from agent.core.simulation.world import World
from agent.core.states import Event
from agent.core.terms import Terms
from tests.core.histories import ROUTES
from tests.shell.job import KINDS, Job

SETTLED = 30.0
"""Seconds after which everything of a release has come to rest."""


class Judged:
    """``job`` with ``old`` in service and ``new`` committed; what happens from here on is judged."""

    def __init__(self, old: tuple[str, ...], new: tuple[str, ...], **rules: Any) -> None:
        self.job = Job(allow=frozenset({"Namespace"}), **rules)
        commits = [self.job.release(*old)]
        self.job.run()
        self.job.world.advance(SETTLED)
        self._start: World = self.job.world.world
        commits.append(self.job.release(*new))
        self._bodies = [
            {key: m.body for key, m in self.job.git.desired(commit, KINDS).manifests.items()}
            for commit in commits
        ]

    def mark(self) -> None:
        """Judge from here on: what happened until now belongs to the stage."""
        self.job.world.advance(SETTLED)
        self._start = self.job.world.world

    def aim(self, newest: tuple[str, ...]) -> None:
        """The handoff now ends at ``newest``, which was committed last: its terms are those of both ends."""
        assert tuple(self.job.git.commits[self.job.git.head].values()) == newest
        desired = self.job.git.desired(self.job.git.head, KINDS)
        self._bodies[1] = {key: manifest.body for key, manifest in desired.manifests.items()}

    def turn(self) -> None:
        """Judge from here on the way back: what the old release lacks is what is given up."""
        self.mark()
        self._bodies.reverse()

    def verdict(self) -> Verdict:
        """How the promise was kept until now."""
        terms = Terms.between(self._bodies[0], self._bodies[1], ROUTES)
        start = self._start
        checker = Checker(start.objects().items(), ROUTES, terms, version=start.version)
        for event in self.job.world.world.events_after(start.version):
            body = None if event.type == "DELETED" else event.body
            checker.step(Event(event.version, "", event.id, body))
        return checker.verdict()

    def run(self, ticks: int = 60) -> list[str]:
        """To the end of the handoff, with every promise kept; the steps written."""
        written = self.job.run(ticks)
        self.job.world.advance(SETTLED)
        assert self.verdict().broken == ()
        return written
