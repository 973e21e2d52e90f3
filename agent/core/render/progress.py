"""What happens during a sync, one line an event: time, sign, words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from rich.table import Table
from rich.text import Text

from agent.core.intents import Outcome
from agent.core.render.rows import Row, rows, rows_written, waits_for_service
from agent.core.render.text import HELD_STYLE, STYLES
from agent.core.render.words import HELD_SIGN, PAST, SIGNS, clock, counted, printable
from agent.core.steps import Plan

_FAILED_SIGN: Final = "!"


class Progress:
    """Tells what each tick did and what waits; what waits as before is not said again."""

    def __init__(self) -> None:
        self._waits: Mapping[str, str] = {}

    def lines(self, plan: Plan, outcomes: Iterable[Outcome], at: float) -> Iterator[Table]:
        """The lines of one tick that ended with ``plan`` at ``at`` (epoch seconds)."""
        done = tuple(outcomes)
        yield from written_lines(plan, done, at)
        waits = waiting(plan)
        for subject, words in waits.items():
            if self._waits.get(subject) != words:
                yield event_line(at, HELD_SIGN, words, HELD_STYLE)
        self._waits = waits


def written_lines(plan: Plan, outcomes: Iterable[Outcome], at: float) -> Iterator[Table]:
    """What was written, alike on one line, and what the server refused."""
    done = tuple(outcomes)
    for row in rows_written(plan, (outcome.step for outcome in done if not outcome.error)):
        yield event_line(at, SIGNS[row.head.verb], _past(row), STYLES[row.head.verb])
    for outcome in done:
        if outcome.error:
            yield event_line(at, _FAILED_SIGN, f"{outcome.step.key} failed: {outcome.error}", "bold red")


def waiting(plan: Plan) -> Mapping[str, str]:
    """What waits and for what first, in words, by what it is; steps that wait for the same are one.

    Last comes the handoff itself, with the number of steps that wait for it.
    """
    told = [row for row in rows(plan) if not row.head.is_open]
    found = {}
    for reason, held in _by_reason(row for row in told if not waits_for_service(row)).items():
        head, *others = held
        more = sum(len(row.steps) for row in others)
        and_more = f" and {counted(more, 'more step')}" if more else ""
        found[head.head.key] = f"{head.head.verb.value} {head.subject}{and_more} held: {reason}"
    closed = [gate for gate in plan.handover if not gate.is_open]
    if closed:
        rest = sum(len(row.steps) for row in told if waits_for_service(row))
        behind = f" ({counted(rest, 'step waits', 'steps wait')} for it)" if rest else ""
        found["handover"] = f"generation {plan.generation} not in service yet{behind}: {closed[0].reason}"
    return found


def _by_reason(held: Iterable[Row]) -> Mapping[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in held:
        found.setdefault(row.first_reason, []).append(row)
    return found


def event_line(at: float, sign: str, words: str, style: str = "") -> Table:
    """``10:04:12 + words``; where words need more lines, these stand under the first word."""
    line = Table.grid(padding=(0, 1))
    line.add_column(no_wrap=True, style="dim")
    line.add_column(no_wrap=True, style=style)
    line.add_column(overflow="fold")
    line.add_row(clock(at), sign, Text(printable(words)))
    return line


def _past(row: Row) -> str:
    done = f"{row.subject} {PAST[row.head.verb]}"
    return f"{done}: {row.says}" if row.says else done
