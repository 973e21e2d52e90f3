"""What became of the promise in a recorded history: text, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from agent.core.model import Body
from agent.core.prediction import Prediction, differences
from agent.core.promise import Broken, PathRecord, Verdict
from agent.core.render.escape import code, prose
from agent.core.render.words import counted, printable

VERDICT_FORMAT: Final = "trapeze.dev/verdict/v1"
_NONE: Final = "no endpoints needed"
_CLOCK: Final = slice(11, 19)
"""HH:MM:SS of an RFC 3339 time."""


class _Row(NamedTuple):
    path: str
    cells: tuple[str, ...]
    """Lowest and when; with a prediction what was foretold before them."""
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


def verdict_text(verdict: Verdict, foretold: Prediction | None = None) -> RenderableType:
    """The headline, a row for each path with its lowest capacity, each break, and what was not seen.

    With a prediction what it said of each path stands beside, and where the two differ.
    """
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("SERVING PATH", overflow="fold")
    for header in _headers(foretold):
        table.add_column(header.upper(), no_wrap=True)
    for row in _rows(verdict, foretold):
        style = "bold red" if row.is_dropped else "green"
        *before, lowest, when = row.cells
        table.add_row(Text(row.path), *map(Text, before), Text(lowest, style=style), Text(when))
    troubles = [Text(f"✗ {line}", style="red") for line in _troubles(verdict)]
    told = [Text(printable(line)) for line in _compared(verdict, foretold)]
    gap = [Text()] if troubles or told else []
    headline = Text(verdict_headline(verdict), style="bold" if verdict.is_kept else "bold red")
    shown: list[RenderableType] = [Text(), table] if verdict.paths else []
    return Group(headline, *shown, *gap, *troubles, *told)


def verdict_markdown(verdict: Verdict, foretold: Prediction | None = None) -> str:
    """The same as GitHub-flavoured Markdown."""
    lines = [f"**{prose(verdict_headline(verdict))}**", ""]
    if verdict.paths:
        headers = _headers(foretold)
        lines += [f"| serving path | {' | '.join(headers)} |", "|---" * (len(headers) + 1) + "|"]
        lines += [f"| {code(row.path)} | {' | '.join(row.cells)} |" for row in _rows(verdict, foretold)]
        lines.append("")
    lines += [f"- {b.invariant}: {code(b.subject)}: {prose(b.story)} ({_lasted(b)})" for b in verdict.broken]
    lines += [f"- not seen: {prose(what)}" for what in verdict.unseen]
    lines += [prose(line) for line in _compared(verdict, foretold)]
    return "\n".join(lines).rstrip("\n") + "\n"


def verdict_json(verdict: Verdict, foretold: Prediction | None = None) -> Body:
    """The same as JSON; ``lowest`` and ``of`` are null where a path needs no endpoints."""
    compared: Body = {}
    if foretold is not None:
        named = {"base": foretold.base, "head": foretold.head, "order": foretold.order}
        different = [dict(one._asdict()) for one in differences(verdict, foretold)]
        compared = {"predicted": {**named, "lowest": dict(foretold.lowest)}, "differences": different}
    return compared | {
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


def _headers(foretold: Prediction | None) -> tuple[str, ...]:
    return ("lowest", "at") if foretold is None else ("predicted", "lowest", "at")


def _rows(verdict: Verdict, foretold: Prediction | None) -> Iterator[_Row]:
    for path in verdict.paths:
        lowest = _NONE if path.lowest is None else f"{path.lowest} of {path.of}"
        before = () if foretold is None else (_foretold(path.name, foretold),)
        cells = (*before, lowest, path.time[_CLOCK])
        yield _Row(printable(path.name), cells, _is_dropped(path, verdict))


def _foretold(path: str, foretold: Prediction) -> str:
    if path not in foretold.lowest:
        return ""
    count = foretold.lowest[path]
    return _NONE if count is None else str(count)


def _compared(verdict: Verdict, foretold: Prediction | None) -> Iterator[str]:
    if foretold is None:
        return
    found = differences(verdict, foretold)
    which = f"the rehearsal of {foretold.base} to {foretold.head} ({foretold.order})"
    if not found:
        yield f"as foretold by {which}"
        return
    yield f"otherwise than foretold by {which}:"
    for one in found:
        yield f"  - {one.path}: {one.says}" if one.path else f"  - {one.says}"


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
