"""Where each set stands, from its ledger alone: text, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from agent.core.acts import Act, pinned, standing, suspended
from agent.core.ledger import Generation, GenerationState, How, Ledger
from agent.core.ledger_items import act_json, generation_json
from agent.core.model import Body
from agent.core.render.escape import code, prose
from agent.core.render.history import decisions
from agent.core.render.text import HELD_STYLE
from agent.core.render.words import printable, revision_text, span

STATUS_FORMAT: Final = "trapeze.dev/status/v1"
_HEADERS: Final = ("SET", "REVISION", "GENERATION", "STATE", "SINCE")
_STATES: Final = {
    GenerationState.ROLLING_OUT: ("rolling out", "cyan"),
    GenerationState.IN_SERVICE: ("in service", "green"),
    GenerationState.RETIRING: ("retiring", "yellow"),
    GenerationState.ABSENT: ("absent", "dim"),
}


class _Row(NamedTuple):
    """One line of the table; ``reason`` goes under a hold, ``style`` colours the state."""

    set_name: str
    revision: str
    generation: str
    state: str
    since: str
    reason: str
    style: str


def status(ledgers: Sequence[Ledger], now: float) -> RenderableType:
    """A table with one row per set and one per hold; ``now`` in epoch seconds gives the ages."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for header in _HEADERS:
        table.add_column(header, no_wrap=header not in ("SET", "STATE"), overflow="fold")
    for row in _rows(ledgers, now):
        state = Text(row.state, style=row.style)
        if row.reason:
            state.append(f"\n{row.reason}", style="not bold default")
        cells = (row.set_name, row.revision, row.generation)
        table.add_row(*(Text(cell) for cell in cells), state, Text(row.since))
    return table


def status_markdown(ledgers: Sequence[Ledger], now: float) -> str:
    """The same table as GitHub-flavoured Markdown."""
    lines = ["| set | revision | generation | state | since |", "|---|---|---|---|---|"]
    for row in _rows(ledgers, now):
        state = prose(row.state) + (f"<br>{prose(row.reason)}" if row.reason else "")
        names = [code(name) if name else "" for name in (row.set_name, row.revision)]
        lines.append("| " + " | ".join([*names, row.generation, state, row.since]) + " |")
    return "\n".join(lines) + "\n"


def status_json(ledgers: Sequence[Ledger]) -> Body:
    """The same facts with times in epoch seconds, and what people decided (docs/status.schema.json).

    ``unproven`` counts members that were adopted or rebuilt and may not be pruned yet.
    """
    return {"format": STATUS_FORMAT, "sets": [_set_json(ledger) for ledger in ledgers]}


def _set_json(ledger: Ledger) -> Body:
    newest = ledger.newest
    return {
        "set": ledger.set_name,
        "newest": newest.number if newest else None,
        "generations": [generation_json(generation) for generation in ledger.generations],
        "members": len(ledger.entries),
        "unproven": sum(entry.how is not How.MADE for entry in ledger.entries.values()),
        "suspended": _act_json(suspended(ledger.acts)),
        "pinned": _act_json(pinned(ledger.acts)),
        "approvals": [act_json(act) for act in standing(ledger.acts)],
        "holds": [
            {"step": step, "since": hold.since, "reason": hold.reason} for step, hold in ledger.holds.items()
        ],
    }


def _act_json(act: Act | None) -> Body | None:
    return act_json(act) if act else None


def _rows(ledgers: Sequence[Ledger], now: float) -> Iterator[_Row]:
    for ledger in ledgers:
        newest = ledger.newest
        name = printable(ledger.set_name)
        if newest is None:
            yield _Row(name, "", "", "never synced", "", "", "dim")
            continue
        state, style = _STATES[newest.state]
        revision, since = revision_text(newest.revision), span(now - newest.since)
        yield _Row(name, revision, _generation(ledger, newest), state, since, "", style)
        for act, words in decisions(ledger):
            yield _Row("", "", "", act.kind.value, span(now - act.at), printable(words), HELD_STYLE)
        for step, hold in ledger.holds.items():
            age, reason = span(now - hold.since), printable(hold.reason)
            yield _Row("", "", "", f"held: {printable(step)}", age, reason, HELD_STYLE)


def _generation(ledger: Ledger, newest: Generation) -> str:
    retiring = [str(g.number) for g in ledger.generations if g.state is GenerationState.RETIRING]
    return f"{newest.number} ({', '.join(retiring)} retiring)" if retiring else str(newest.number)
