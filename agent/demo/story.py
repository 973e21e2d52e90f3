"""The acts of the demo: a first sync, two upgrades that let nothing fall, and one of them done naively."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from rich.text import Text

from agent.core.orders import Order
from agent.core.promise import Verdict
from agent.core.render import Progress, event_line, status, text
from agent.core.render.words import counted, span
from agent.demo.releases import ReleaseRepo
from agent.demo.screen import Screen, comparison, troubles
from agent.demo.stage import Stage, Tally
from agent.shell.recording import Recording
from agent.shell.report import Report, State
from agent.shell.tick import Syncer

TICK: Final = 2.0
"""Seconds between two ticks of the agent, on the cluster's clock."""

PATIENCE: Final = 180.0
"""Seconds after which an act that does not end is given up, on the cluster's clock."""

AFTERWARDS: Final = 3
"""Ticks for which an act is watched once all is done, with every request answered."""

NAIVE: Final = "apply, then prune"

Seen: TypeAlias = Mapping[str, Tally]

Judge: TypeAlias = Callable[[Recording, str, str], Verdict]
"""How the promise was kept between two commits."""


class Act(NamedTuple):
    """What was asked through each path meanwhile, and the promise on each state in between."""

    seen: Seen
    verdict: Verdict


class Story:
    """Plays on one stage with a syncer of its set."""

    def __init__(self, stage: Stage, syncer: Syncer, repo: ReleaseRepo, screen: Screen, judge: Judge) -> None:
        self._stage = stage
        self._syncer = syncer
        self._repo = repo
        self._screen = screen
        self._judge = judge
        self._commit = ""

    def play(self) -> Mapping[str, Act]:
        """All acts; what was asked and lost in each. Raises TimeoutError where one never ends."""
        told: dict[str, Act] = {}
        self._screen.title(
            "Release 1: the first sync",
            "A catalog API behind the aggregator, an admission webhook, a web application.",
        )
        self._publish("1")
        self._ticks(Order.GATED, is_first=True)
        self._screen.title(
            "Release 2: the catalog API moves to another namespace",
            "The same names, other owners: three shared bindings and one APIService.",
        )
        told["Trapeze, 1 to 2"] = self._upgrade("2")
        self._screen.title(
            "Release 3: the webhook and the web application change hands",
            "A webhook that fails closed moves its backend; an Ingress moves to a new Service.",
        )
        told["Trapeze, 2 to 3"] = self._upgrade("3")
        self._screen.title(
            "Back to release 1, by reverting in Git", "The same gates, in the other direction."
        )
        told["Trapeze, back to 1"] = self._upgrade("1", is_previewed=False)
        self._screen.title(
            "Release 3 once more, naively", "The same manifests: apply all of them, then delete what is gone."
        )
        told[NAIVE] = self._upgrade("3", Order.NAIVE, is_previewed=False)
        self._screen.title("What became of the requests, and of every state in between")
        self._screen.show(
            comparison({name: (act.seen, act.verdict) for name, act in told.items()}),
            Text(),
            *troubles(told[NAIVE].seen, told[NAIVE].verdict),
        )
        return told

    def _upgrade(self, release: str, order: Order = Order.GATED, *, is_previewed: bool = True) -> Act:
        old = self._commit
        self._publish(release)
        if is_previewed:
            plan = self._syncer.plan()
            self._screen.show(text(plan, secrets.token_bytes(), observed=False, whole=False), Text())
            self._screen.rest(8)
        with self._stage.recorded() as recording:
            seen = self._ticks(order)
        return Act(seen, self._judge(recording(), old, self._commit))

    def _publish(self, release: str) -> None:
        self._commit = self._repo.publish(release)
        self._screen.show(Text(f"git: release {release} is commit {self._commit[:7]}", style="dim"), Text())

    def _ticks(self, order: Order, *, is_first: bool = False) -> Seen:
        """Ticks until the release is in service, watched a while longer; what was asked meanwhile."""
        began, before = self._stage.now(), self._stage.seen()
        progress, written, quiet = Progress(), 0, 0
        while quiet < AFTERWARDS:
            at, seen = self._stage.now(), self._stage.seen()
            if at - began > PATIENCE:
                raise TimeoutError(f"not in service within {span(PATIENCE)}; see what is held above")
            report = self._syncer.tick(order)
            written += len(report.outcomes)
            self._tell(report, progress)
            self._stage.let_pass(TICK)
            passed = _between(seen, self._stage.seen())
            if not is_first:
                self._screen.availability(passed)
            is_well = report.state is State.IN_SERVICE and not any(tally.lost for tally in passed.values())
            quiet = quiet + 1 if is_well else 0
        took = self._stage.now() - began - AFTERWARDS * TICK
        self._tell_end(report, took, written)
        return _between(before, self._stage.seen())

    def _tell(self, report: Report, progress: Progress) -> None:
        if report.plan is not None:
            self._screen.show(*progress.lines(report.plan, report.outcomes, self._stage.now()))
        if report.state is State.REFUSED:
            raise TimeoutError("; ".join(report.errors))

    def _tell_end(self, report: Report, took: float, written: int) -> None:
        newest = report.ledger.newest
        number = newest.number if newest else 0
        words = f"generation {number} in service after {span(took)}, {counted(written, 'request')} written"
        self._screen.show(event_line(self._stage.now(), "✓", words, "bold green"), Text())
        self._screen.show(status([report.ledger], self._stage.now()))
        self._screen.rest(3)


def _between(before: Seen, after: Seen) -> Seen:
    return {name: tally.since(before[name]) for name, tally in after.items()}
