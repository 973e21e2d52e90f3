"""What became of the promise in a recorded history: text, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from agent.core.model import Body
from agent.core.promise import Broken, PathRecord, Verdict
from agent.core.render.escape import code, prose
from agent.core.render.words import counted, printable

VERDICT_FORMAT: Final = "trapeze.dev/verdict/v1"
_CLOCK: Final = slice(11, 19)
"""HH:MM:SS of an RFC 3339 time."""


class _Row(NamedTuple):
    path: str
    lowest: str
    when: str
    is_dropped: bool


def verdict_headline(verdict: Verdict) -> str:
    """``2,318 states, 14 serving paths, none dropped; lowest capacity 2 of 2 at 10:04:31``."""
    told = [counted(verdict.states, "state"), counted(len(verdict.paths), "serving path")]
    dropped = sum(_is_dropped(path, verdict) for path in verdict.paths)
    told.append(f"{dropped} dropped" if dropped else "none dropped")
    line = ", ".join(told)
    tightest = min((p for p in verdict.paths if p.of), key=_share, default=None)
    if tightest is not None:
        line += f"; lowest capacity {tightest.lowest} of {tightest.of}{_at(tightest.time)}"
    if verdict.broken_states:
        line += f"; {counted(verdict.broken_states, 'state')} broken"
    return line


def verdict_text(verdict: Verdict) -> RenderableType:
    """The headline, a row for each path with its lowest capacity, each break, and what was not seen."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("SERVING PATH", overflow="fold")
    for header in ("LOWEST", "AT"):
        table.add_column(header, no_wrap=True)
    for row in _rows(verdict):
        style = "bold red" if row.is_dropped else "green"
        table.add_row(Text(row.path), Text(row.lowest, style=style), Text(row.when))
    troubles = [Text(f"✗ {line}", style="red") for line in _troubles(verdict)]
    gap = [Text()] if troubles else []
    headline = Text(verdict_headline(verdict), style="bold" if verdict.is_kept else "bold red")
    shown: list[RenderableType] = [Text(), table] if verdict.paths else []
    return Group(headline, *shown, *gap, *troubles)


def verdict_markdown(verdict: Verdict) -> str:
    """The same as GitHub-flavoured Markdown."""
    lines = [f"**{prose(verdict_headline(verdict))}**", ""]
    if verdict.paths:
        lines += ["| serving path | lowest | at |", "|---|---|---|"]
        lines += [f"| {code(row.path)} | {row.lowest} | {row.when} |" for row in _rows(verdict)]
        lines.append("")
    lines += [f"- {b.invariant}: {code(b.subject)}: {prose(b.story)} ({_lasted(b)})" for b in verdict.broken]
    lines += [f"- not seen: {prose(what)}" for what in verdict.unseen]
    return "\n".join(lines).rstrip("\n") + "\n"


def verdict_json(verdict: Verdict) -> Body:
    """The same as JSON; ``lowest`` and ``of`` are null where a path needs no endpoints."""
    return {
        "format": VERDICT_FORMAT,
        "kept": verdict.is_kept,
        "states": verdict.states,
        "brokenStates": verdict.broken_states,
        "paths": [dict(path._asdict()) for path in verdict.paths],
        "broken": [
            {
                "invariant": broken.invariant,
                "subject": broken.subject,
                "story": broken.story,
                "version": broken.version,
                "time": broken.time,
                "states": broken.states,
                "mended": broken.is_mended,
            }
            for broken in verdict.broken
        ],
        "unseen": list(verdict.unseen),
    }


def _rows(verdict: Verdict) -> Iterator[_Row]:
    for path in verdict.paths:
        lowest = "no endpoints needed" if path.lowest is None else f"{path.lowest} of {path.of}"
        yield _Row(printable(path.name), lowest, path.time[_CLOCK], _is_dropped(path, verdict))


def _troubles(verdict: Verdict) -> Iterator[str]:
    for b in verdict.broken:
        yield f"{b.invariant}: {printable(b.subject)}: {printable(b.story)} ({_lasted(b)})"
    yield from (f"not seen: {printable(what)}" for what in verdict.unseen)


def _lasted(broken: Broken) -> str:
    """``at 10:04:31, version 126, for 4 states, to the end``."""
    end = "" if broken.is_mended else ", to the end"
    when = f"{_at(broken.time).strip()}, " if broken.time else "at "
    return f"{when}version {broken.version}, for {counted(broken.states, 'state')}{end}"


def _is_dropped(path: PathRecord, verdict: Verdict) -> bool:
    """Whether some state broke this very path; one that the upgrade gave up may go."""
    return any(broken.subject == path.name for broken in verdict.broken)


def _share(path: PathRecord) -> float:
    return (path.lowest or 0) / (path.of or 1)


def _at(time: str) -> str:
    return f" at {time[_CLOCK]}" if time else ""
