"""What the demo shows: lines with pauses to read them, and availability as a line under each tick."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping

from rich.console import Console, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from agent.core.promise import Verdict
from agent.core.render.words import printable
from agent.demo.stage import Tally


class Screen:
    """A console and a pace. ``pause`` is the time to read one tick, in seconds; 0 for none at all."""

    def __init__(self, console: Console, pause: float, sleep: Callable[[float], None] = time.sleep) -> None:
        self._console = console
        self._pause = pause
        self._sleep = sleep

    def show(self, *lines: RenderableType) -> None:
        """Print renderables one under the other."""
        for line in lines:
            self._console.print(line)

    def rest(self, ticks: float = 1) -> None:
        """Give people the time of so many ticks to read."""
        self._sleep(self._pause * ticks)

    def title(self, words: str, *more: str) -> None:
        """Begin an act: a rule with its name and a few lines of what is about to happen."""
        self.show(Text(), Rule(Text(words, style="bold"), align="left", style="blue"))
        self.show(*(Text(line, style="italic") for line in more))
        self.rest(3)

    def availability(self, seen: Mapping[str, Tally]) -> None:
        """One line: of each path how many requests of how many were answered since the last one."""
        line = Text("         ")
        for name, tally in seen.items():
            style = "red" if tally.lost else "green"
            line.append("✗ " if tally.lost else "● ", style=style)
            line.append(f"{name} {tally.answered} of {tally.asked}   ", style=style if tally.lost else "dim")
        self.show(line)
        self.rest()


def comparison(acts: Mapping[str, tuple[Mapping[str, Tally], Verdict]]) -> Table:
    """A row for each act: of each path how many requests were lost, and how many states broke the promise."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("ORDER")
    for name in next(iter(acts.values()))[0]:
        table.add_column(f"LOST: {name}", justify="right")
    table.add_column("BROKEN STATES", justify="right")
    for act, (seen, verdict) in acts.items():
        cells = [_part(tally.lost, tally.asked) for tally in seen.values()]
        table.add_row(act, *cells, _part(verdict.broken_states, verdict.states))
    return table


def _part(bad: int, total: int) -> Text:
    return Text(f"{bad:,} of {total:,}", style="bold red" if bad else "green")


def troubles(seen: Mapping[str, Tally], verdict: Verdict) -> Iterator[Text]:
    """What the last request that was lost was told, path by path; then what the states broke."""
    for name, tally in seen.items():
        if tally.lost:
            yield Text(f"{name}: {printable(tally.trouble)}", style="dim")
    for invariant in dict.fromkeys(broken.invariant for broken in verdict.broken):
        first = next(broken for broken in verdict.broken if broken.invariant == invariant)
        yield Text(f"{invariant}: {printable(first.subject)}: {printable(first.story)}", style="dim")
