"""What happens during a sync, one line an event: time, sign, words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from rich.table import Table
from rich.text import Text

from agent.core.render.rows import Row, rows
from agent.core.render.text import HELD_STYLE, STYLES
from agent.core.render.words import HELD_SIGN, PAST, SIGNS, clock, printable, sentences
from agent.core.steps import Plan, Step

_FAILED_SIGN: Final = "!"


def applied_lines(plan: Plan, written: Iterable[Step], at: float) -> Iterator[Table]:
    """Which of the plan's steps were written at ``at`` (epoch seconds), those that are alike on one line."""
    for row in rows(replace(plan, steps=tuple(written))):
        verb = row.head.verb
        yield event_line(at, SIGNS[verb], _past(row), STYLES[verb])


def held_lines(plan: Plan, at: float) -> Iterator[Table]:
    """What waits and why, steps that are alike on one line; then what the whole handoff waits for."""
    for row in rows(replace(plan, steps=plan.held_steps)):
        yield event_line(at, HELD_SIGN, f"{row.head.verb.value} {row.subject} held: {row.seen}", HELD_STYLE)
    waits = sentences(gate.reason for gate in plan.handover if not gate.is_open)
    if waits:
        yield event_line(
            at, HELD_SIGN, f"generation {plan.generation} not in service yet: {waits}", HELD_STYLE
        )


def failed_line(step: Step, error: str, at: float) -> Table:
    """A request that the server refused; the step is looked at again in the next tick."""
    return event_line(at, _FAILED_SIGN, f"{step.key} failed: {error}", "bold red")


def event_line(at: float, sign: str, words: str, style: str = "") -> Table:
    """``10:04:12  + words``; where words need more lines, these stand under the first word."""
    line = Table.grid(padding=(0, 1))
    line.add_column(no_wrap=True, style="dim")
    line.add_column(no_wrap=True, style=style)
    line.add_column(overflow="fold")
    line.add_row(clock(at), sign, Text(printable(words)))
    return line


def _past(row: Row) -> str:
    done = f"{row.subject} {PAST[row.head.verb]}"
    return f"{done}: {row.says}" if row.says else done
