"""What became of each set, from its ledger alone: its generations, what people decided, what was pruned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from agent.core.acts import Act, ActKind, pinned, suspended
from agent.core.few import few
from agent.core.ledger import Generation, GenerationState, Ledger
from agent.core.ledger_items import act_json, generation_json
from agent.core.model import Body
from agent.core.render.escape import prose
from agent.core.render.words import counted, moment, printable, revision_text

HISTORY_FORMAT: Final = "trapeze.dev/history/v1"
_SHOWN: Final = 10
"""Pruned objects of one moment that are named one by one; JSON has them all."""


class _Event(NamedTuple):
    at: float
    said: str


def history(ledgers: Sequence[Ledger]) -> str:
    """One line for each thing that happened, oldest first, with its time in UTC."""
    lines: list[str] = []
    for ledger in ledgers:
        lines += [f"set {printable(ledger.set_name)}"]
        lines += [f"  {moment(event.at)}  {printable(event.said)}" for event in _events(ledger)]
    return "\n".join(lines) + "\n"


def history_markdown(ledgers: Sequence[Ledger]) -> str:
    """The same as GitHub-flavoured Markdown."""
    lines: list[str] = []
    for ledger in ledgers:
        lines += [f"### {prose(ledger.set_name)}", "", "| when (UTC) | what |", "|---|---|"]
        lines += [f"| {moment(event.at)} | {prose(event.said)} |" for event in _events(ledger)]
        lines.append("")
    return "\n".join(lines)


def history_json(ledgers: Sequence[Ledger]) -> Body:
    """The same facts, times in epoch seconds (docs/history.schema.json)."""
    return {"format": HISTORY_FORMAT, "sets": [_set_json(ledger) for ledger in ledgers]}


def act_words(act: Act) -> str:
    """``rollback to generation 3 (9a01f3c): reason``."""
    words = act.kind.value
    if act.step:
        words += f" '{act.step}'"
    if act.gate:
        words += f", gate {act.gate}"
    if act.generation:
        words += f" to generation {act.generation} ({revision_text(act.revision)})"
    return words + (f": {act.reason}" if act.reason else "")


def _set_json(ledger: Ledger) -> Body:
    return {
        "set": ledger.set_name,
        "generations": [generation_json(generation) for generation in ledger.generations],
        "acts": [act_json(act) for act in ledger.acts],
        "pruned": [
            {
                "kind": str(one.id.group_kind),
                "namespace": one.id.namespace,
                "name": one.id.name,
                "uid": one.uid,
                "generation": one.generation,
                "at": one.at,
            }
            for one in ledger.pruned
        ],
    }


def _events(ledger: Ledger) -> list[_Event]:
    events = [_Event(act.at, f"{act_words(act)}, by {act.by}") for act in ledger.acts]
    for generation in ledger.generations:
        events += _of_generation(generation)
    events += _prunes(ledger)
    return sorted(events, key=lambda event: event.at)


def _of_generation(generation: Generation) -> Iterator[_Event]:
    name = f"generation {generation.number} ({revision_text(generation.revision)})"
    again = f", taken up again {counted(generation.returns, 'time')}" if generation.returns else ""
    if generation.served:
        yield _Event(generation.served, f"{name} in service{again}")
    if generation.state is not GenerationState.IN_SERVICE:
        yield _Event(generation.since, f"{name} {_STATES[generation.state]}{again}")


_STATES: Final = {
    GenerationState.ROLLING_OUT: "rolling out",
    GenerationState.RETIRING: "retiring",
    GenerationState.ABSENT: "absent",
}


def _prunes(ledger: Ledger) -> Iterator[_Event]:
    moments: dict[float, list[str]] = {}
    for one in ledger.pruned:
        moments.setdefault(one.at, []).append(f"{one.id} of generation {one.generation}")
    for at, names in moments.items():
        yield _Event(at, f"pruned {few(names, _SHOWN)}")


def decisions(ledger: Ledger) -> Iterator[tuple[Act, str]]:
    """The acts that hold now, in words, with the command that lifts each."""
    for act in (suspended(ledger.acts), pinned(ledger.acts)):
        if act is not None:
            lift = "resume" if act.kind is ActKind.SUSPEND else "unpin"
            yield act, f"{act_words(act)}, by {act.by}; `trapeze {lift} {ledger.set_name}`"
