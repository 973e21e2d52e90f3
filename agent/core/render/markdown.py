"""A plan as a pull-request comment: GitHub-flavoured Markdown within a forge's limit.

What is worth most comes first (counts, findings, the order of steps) and is cut last; the difference
object by object is folded and takes what room is left. Whatever does not fit is counted, and nothing is
cut inside a table row, a list item or a fence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from agent.core.model import Finding, Severity
from agent.core.rehearsal.answer import Rehearsal
from agent.core.render.difference import Block, blocks
from agent.core.render.escape import code, fence, prose
from agent.core.render.rehearsal import rehearsal_headline, rehearsal_markdown
from agent.core.render.rows import Row, reason_of, rows
from agent.core.render.words import (
    HELD_SIGN,
    SIGNS,
    category_counts,
    counted,
    revision_text,
    shortened,
    verdict,
)
from agent.core.steps import Gate, Plan

COMMENT_LIMIT: Final = 65_536
"""Characters of a GitHub comment (issue 3, C.13)."""
_CELL_LIMIT: Final = 600
_SEVERITIES: Final = {Severity.WARNING: "warning", Severity.OBJECT: "error", Severity.SET: "refused"}


@dataclass(frozen=True, slots=True)
class _Section:
    """Items between a head and a tail; ``left_out`` tells after the tail what did not fit."""

    head: str
    items: tuple[str, ...]
    unit: str
    left_out: str
    tail: str = ""
    end: str = ""


def markdown(
    plan: Plan,
    key: bytes,
    *,
    observed: bool,
    note: str = "",
    rehearsal: Rehearsal | None = None,
    limit: int = COMMENT_LIMIT,
) -> str:
    """The comment, at most ``limit`` characters (4,000 at least).

    ``observed`` tells a live plan, whose gates say what was seen, from a preview. ``note`` is one line of
    the caller (what was compared with what). ``key`` masks Secret values, one per run. The verdict of a
    ``rehearsal`` stands above all else, what it stands on is folded.
    """
    head = "\n".join(_head(plan, note)) + "\n"
    head += f"\n**Rehearsed: {prose(rehearsal_headline(rehearsal))}**\n" if rehearsal else ""
    room = limit - len(head)
    parts = [head]
    for section in (*_sections(plan, key, observed=observed), *_rehearsed(rehearsal)):
        text = _fitted(section, room)
        parts.append(text)
        room -= len(text)
    return "".join(parts)


def _head(plan: Plan, note: str) -> Iterator[str]:
    base = code(revision_text(plan.base_revision)) if plan.base_revision else "nothing"
    yield f"### Trapeze · {code(shortened(plan.set_name, _CELL_LIMIT))} · {prose(verdict(plan))}"
    told = f" · {prose(shortened(note, _CELL_LIMIT))}" if note else ""
    yield f"{base} → {code(revision_text(plan.revision))} · generation {plan.generation}{told}"
    yield ""
    counts = category_counts(plan)
    yield "| " + " | ".join(category.value for category in counts) + " | unchanged |"
    yield "|" + "---:|" * (len(counts) + 1)
    yield "| " + " | ".join(f"{count:,}" for count in counts.values()) + f" | {plan.unchanged:,} |"


def _sections(plan: Plan, key: bytes, *, observed: bool) -> Iterator[_Section]:
    if plan.findings:
        items = tuple(map(_finding, plan.findings))
        yield _Section("\n**Found in the manifests**\n\n", items, "finding", "- … {}\n")
    if plan.warnings:
        items = tuple(f"- {prose(shortened(text, _CELL_LIMIT))}\n" for text in plan.warnings)
        yield _Section("\n**To know before**\n\n", items, "warning", "- … {}\n")
    if plan.steps:
        head = "\n**In this order**\n\n| | step | opens when |" + (" now |" if observed else "")
        head += "\n|---|---|---|" + ("---|\n" if observed else "\n")
        items = tuple(_table_row(row, observed=observed) for row in rows(plan))
        yield _Section(head, items, "row", "| … | {} | |" + (" |\n" if observed else "\n"))
    if plan.handover:
        items = tuple(_gate_item(gate, observed=observed) for gate in plan.handover)
        yield _Section("\n**In service when**\n\n", items, "gate", "- … {}\n")
    found = blocks(plan.changes, key)
    if found:
        marks = fence("".join(map(_diff, found)))
        head = f"\n<details><summary>The difference, object by object ({len(found):,})</summary>\n"
        yield _Section(
            f"{head}\n{marks}diff\n",
            tuple(map(_diff, found)),
            "object",
            "\n… {}\n",
            tail=f"{marks}\n",
            end="\n</details>\n",
        )


def _rehearsed(rehearsal: Rehearsal | None) -> Iterator[_Section]:
    if rehearsal is not None:
        head = "\n<details><summary>The rehearsal: every serving path, step by step</summary>\n\n"
        items = tuple(f"{line}\n" for line in rehearsal_markdown(rehearsal).splitlines())
        yield _Section(head, items, "line", "\n… {}\n", end="\n</details>\n")


def _fitted(section: _Section, room: int) -> str:
    """The section with as many items as fit in ``room``; nothing where not even its frame does."""
    whole = section.head + "".join(section.items) + section.tail + section.end
    if len(whole) <= room:
        return whole
    room -= len(section.head + section.tail + section.end + _left_out(section, 0))
    if room < 0:
        return ""
    kept: list[str] = []
    for item in section.items:
        if len(item) > room:
            break
        kept.append(item)
        room -= len(item)
    return section.head + "".join(kept) + section.tail + _left_out(section, len(kept)) + section.end


def _left_out(section: _Section, kept: int) -> str:
    missing = counted(len(section.items) - kept, f"more {section.unit}")
    return section.left_out.format(f"{missing} left out")


def _finding(finding: Finding) -> str:
    where = f"{code(shortened(str(finding.origin), _CELL_LIMIT))}: " if finding.origin else ""
    remedy = f"; {prose(shortened(finding.remedy, _CELL_LIMIT))}" if finding.remedy else ""
    told = prose(shortened(finding.message, _CELL_LIMIT))
    return f"- **{_SEVERITIES[finding.severity]}** {where}{told}{remedy}\n"


def _table_row(row: Row, *, observed: bool) -> str:
    head = row.head
    sign = f"**{SIGNS[head.verb]} {head.verb.value}**"
    says = f": {_cell(row.says)}" if row.says else ""
    number = row.number.replace("-", "&#8209;")
    cells = [number, f"{sign} {_subject(row)}{says}", _cell(row.opens)]
    if observed:
        cells.append(_now(row))
    return "| " + " | ".join(cells) + " |\n"


def _gate_item(gate: Gate, *, observed: bool) -> str:
    told = f": {_cell(reason_of(gate))}" if observed and reason_of(gate) else ""
    state = f"**{gate.state.value}** " if observed else ""
    return f"- {state}{_cell(gate.wants)}{told}\n"


def _subject(row: Row) -> str:
    if len(row.steps) > 1:
        return _cell(row.subject)
    object_id = row.head.id
    kind, path = str(object_id).split(" ", 1) if " " in str(object_id) else ("", str(object_id))
    return f"{_cell(kind)} {code(shortened(path, _CELL_LIMIT))}"


def _now(row: Row) -> str:
    if row.head.is_open:
        return f"open: {_cell(row.seen)}" if row.seen else "open"
    return f"{HELD_SIGN} **held**: {_cell(row.seen)}"


def _cell(text: str) -> str:
    return prose(shortened(text, _CELL_LIMIT))


def _diff(block: Block) -> str:
    return "".join(f"{line.sign} {line.text}".rstrip() + "\n" for line in (block.title, *block.lines))
