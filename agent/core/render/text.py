"""A plan for the terminal: rich renderables without markup, so that no name can style or steer it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from agent.core.model import Finding, Severity
from agent.core.render.difference import Block, Line, blocks
from agent.core.render.rows import Row, reason_of, rows
from agent.core.render.words import (
    GATE_SIGNS,
    HELD_SIGN,
    SIGNS,
    category_counts,
    counted,
    printable,
    revision_text,
    verdict,
)
from agent.core.steps import GateState, Plan, Verb

STYLES: Final = {
    Verb.CREATE: "green",
    Verb.UPDATE: "yellow",
    Verb.WIDEN: "cyan",
    Verb.CUTOVER: "bold magenta",
    Verb.POINT_BACK: "bold magenta",
    Verb.NARROW: "cyan",
    Verb.DELETE: "red",
    Verb.ABANDON: "dim",
    Verb.MIGRATE: "cyan",
    Verb.REPLACE: "bold red",
}
HELD_STYLE: Final = "yellow"
GATE_STYLES: Final = {GateState.OPEN: "green", GateState.HELD: HELD_STYLE, GateState.UNKNOWN: "bold red"}
_LINE_STYLES: Final = {"+": "green", "-": "red", " ": ""}
_SEVERITY_STYLES: Final = {Severity.WARNING: "yellow", Severity.OBJECT: "red", Severity.SET: "bold red"}


def text(plan: Plan, key: bytes, *, observed: bool, note: str = "", whole: bool = True) -> RenderableType:
    """The plan, top to bottom: what and how much, findings, order of steps, difference.

    ``observed`` tells a live plan, whose gates say what was seen, from a preview. ``note`` is one line of
    the caller (what was compared with what). ``key`` masks Secret values, one per run. Without ``whole``
    the difference object by object is left out.
    """
    parts: list[RenderableType] = [headline(plan)]
    if note:
        parts.append(Text(printable(note), style="dim"))
    if plan.findings or plan.warnings:
        parts += [Text(), _findings(plan)]
    if plan.steps:
        parts += [Text(), Text("In this order", style="bold"), _order(plan, observed=observed)]
    if plan.handover:
        parts += [Text(), Text("In service when", style="bold"), _handover(plan, observed=observed)]
    found = blocks(plan.changes, key) if whole else ()
    if found:
        title = f"The difference, object by object ({len(found):,})"
        parts += [Text(), Text(title, style="bold"), *(_block(block) for block in found)]
    return Group(*parts)


def headline(plan: Plan) -> Text:
    """Set, revisions, generation, and the changes by category; on one line where there is room."""
    line = Text(overflow="fold")
    line.append(printable(plan.set_name), style="bold")
    base = revision_text(plan.base_revision) if plan.base_revision else "nothing"
    line.append(f"  {base} → {revision_text(plan.revision)}  generation {plan.generation}   {verdict(plan)}")
    counts = [f"{count:,} {category.value}" for category, count in category_counts(plan).items() if count]
    if plan.unchanged:
        counts.append(f"{plan.unchanged:,} unchanged")
    if counts:
        line.append(f"\n{', '.join(counts)}")
    return line


def printed(renderable: RenderableType, width: int, *, colour: bool = False) -> str:
    """What a terminal of ``width`` columns shows, lines without blanks at their end."""
    console = Console(
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        highlight=False,
        legacy_windows=False,
        _environ={},
    )
    with console.capture() as capture:
        console.print(renderable)
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def _findings(plan: Plan) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for finding in plan.findings:
        style = _SEVERITY_STYLES[finding.severity]
        grid.add_row(Text(finding.severity.value, style=style), _finding(finding))
    for warning in plan.warnings:
        grid.add_row(Text(Severity.WARNING.value, style="yellow"), Text(printable(warning)))
    return grid


def _finding(finding: Finding) -> Text:
    told = Text()
    if finding.origin:
        told.append(f"{printable(str(finding.origin))}: ", style="dim")
    told.append(printable(finding.message))
    if finding.remedy:
        told.append(f"; {printable(finding.remedy)}", style="dim")
    return told


def _order(plan: Plan, *, observed: bool) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", no_wrap=True, style="dim")
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for row in rows(plan):
        style = STYLES[row.head.verb]
        grid.add_row(row.number, Text(SIGNS[row.head.verb], style=style), _step(row, observed=observed))
    return grid


def _step(row: Row, *, observed: bool) -> Text:
    told = Text()
    told.append(f"{row.head.verb.value} ", style=STYLES[row.head.verb])
    told.append(row.subject)
    if row.says:
        told.append(f": {row.says}")
    if row.gates[0]:
        told.append(f"\nwhen {row.opens}", style="dim")
    if observed and not row.head.is_open:
        told.append(f"\n{HELD_SIGN} held", style=HELD_STYLE)
        told.append(f": {row.seen}")
    elif observed and row.seen:
        told.append(f"\nseen: {row.seen}", style="dim")
    return told


def _handover(plan: Plan, *, observed: bool) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for gate in plan.handover:
        told = Text(printable(gate.wants))
        if observed and reason_of(gate):
            told.append(f"\nseen: {printable(reason_of(gate))}", style="dim")
        sign = GATE_SIGNS[gate.state] if observed else "·"
        grid.add_row(Text(sign, style=GATE_STYLES[gate.state] if observed else ""), told)
    return grid


def _block(block: Block) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for line, style in _styled(block):
        grid.add_row(Text(line.sign, style=style), Text(line.text, style=style))
    return grid


def _styled(block: Block) -> Iterator[tuple[Line, str]]:
    yield block.title, f"bold {_LINE_STYLES[block.title.sign]}".strip()
    for line in block.lines:
        yield line, _LINE_STYLES[line.sign]


def steps_left(plan: Plan) -> str:
    """``3 steps left, 2 of them held``: one line for the end of a tick that is not the last."""
    held = len(plan.held_steps)
    left = f"{counted(len(plan.steps), 'step')} left"
    return f"{left}, {held:,} of them held" if held else left
