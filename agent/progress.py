"""A sync as it goes, for people: what was written, what waits and why, each line once."""

from __future__ import annotations

import time

from rich.console import Console, RenderableType

from agent.core import render
from agent.errors import ClusterError
from agent.shell.report import Report, State


class Progress:
    """Prints reports to ``console`` as they come."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._lines = render.Progress()
        self._has_head = False

    def _print(self, line: RenderableType) -> None:
        """A line without blanks at its end."""
        colour = self._console.color_system is not None
        self._console.file.write(render.printed(line, self._console.width, colour=colour))
        self._console.file.flush()

    def heard(self, report: Report | ClusterError) -> None:
        """Print what is new since the last one."""
        now = time.time()
        if isinstance(report, ClusterError):
            self._print(render.event_line(now, "!", f"{report}; trying again", "bold red"))
            return
        if report.first is not None and not self._has_head:
            self._print(render.headline(report.first))
            self._has_head = True
        if report.plan is not None:
            for line in self._lines.lines(report.plan, report.outcomes, now):
                self._print(line)
        newest = report.ledger.newest
        if report.state is State.IN_SERVICE and newest is not None:
            words = f"generation {newest.number} in service"
            self._print(render.event_line(now, "=", words, "green"))
        if report.state is State.ABSENT:
            self._print(
                render.event_line(now, "=", f"nothing is left of set {report.ledger.set_name}", "green")
            )
