"""What the demo shows: lines with pauses to read them, and availability as a line under each tick."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping

from rich.console import Console, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from agent.core.render.words import printable, span
from agent.demo.stage import SAMPLED_EVERY, Tally


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


def comparison(acts: Mapping[str, Mapping[str, Tally]]) -> Table:
    """A row for each act: of each path how many requests were lost, of how many, and for about how long."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("ORDER")
    for name in next(iter(acts.values()), {}):
        table.add_column(f"{name}, LOST", justify="right")
    for act, seen in acts.items():
        table.add_row(act, *(_lost(tally) for tally in seen.values()))
    return table


def _lost(tally: Tally) -> Text:
    gap = f" ({span(tally.lost * SAMPLED_EVERY)})" if tally.lost else ""
    return Text(f"{tally.lost:,} of {tally.asked:,}{gap}", style="bold red" if tally.lost else "green")


def troubles(seen: Mapping[str, Tally]) -> Iterator[Text]:
    """What the requests that were lost were told at last, a line for each path."""
    for name, tally in seen.items():
        if tally.lost:
            yield Text(f"{name}: {printable(tally.trouble)}", style="dim")
