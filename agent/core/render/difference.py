"""The difference object by object, as lines with a sign: what text and Markdown both print."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from agent.core.model import ABSENT, Action, FieldChange, Reason, path_text
from agent.core.redact import masked
from agent.core.render.words import counted, printable, shortened
from agent.core.steps import Change

LINE_LIMIT: Final = 160
BLOCK_LIMIT: Final = 120
_CONTEXT: Final = 1
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./][\w./:@%+=, -]*(?<! )")
_SIGNS: Final[Mapping[Action, str]] = {
    Action.CREATE: "+",
    Action.UPDATE: " ",
    Action.DELETE: "-",
    Action.NONE: " ",
}


class Line(NamedTuple):
    """``sign`` is ``+``, ``-`` or a space, as in a unified diff; ``text`` is printable."""

    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """One object's difference: its first line and what stands under it."""

    title: Line
    lines: tuple[Line, ...]


def blocks(changes: tuple[Change, ...], key: bytes) -> tuple[Block, ...]:
    """One block for each change that does something; Secret values masked under ``key``."""
    return tuple(_block(masked(change, key)) for change in changes if change.action is not Action.NONE)


def _block(change: Change) -> Block:
    why = f": {shortened(printable(change.reason), LINE_LIMIT)}" if change.reason else ""
    title = f"{printable(str(change.id))}   # {change.category.value}{why}"
    lines = [line for field in change.fields for line in _field_lines(field)]
    left_out = len(lines) - BLOCK_LIMIT
    if left_out > 0:
        lines = [*lines[:BLOCK_LIMIT], Line(" ", f"  … {counted(left_out, 'more line')}")]
    return Block(Line(_SIGNS[change.action], title), tuple(lines))


def _field_lines(field: FieldChange) -> Iterator[Line]:
    why = "" if field.reason is Reason.GIT else f"   # {_WHY[field.reason]}"
    yield Line(" ", f"  {printable(path_text(field.path)) or '(object)'}:{why}")
    before, after = _value_lines(field.before), _value_lines(field.after)
    hunks = difflib.unified_diff(before, after, lineterm="", n=_CONTEXT)
    for line in list(hunks)[2:]:
        if line.startswith("@@"):
            continue
        yield Line(line[0], "    " + shortened(line[1:], LINE_LIMIT))


_WHY: Final[Mapping[Reason, str]] = {
    Reason.GIT: "changed in Git",
    Reason.DRIFT: "drift: changed in the cluster",
    Reason.BOTH: "changed in Git and in the cluster",
}


def _value_lines(value: Any) -> list[str]:
    if value is ABSENT:
        return []
    if isinstance(value, str) and "\n" in value:
        return [printable(line) for line in value.split("\n")]
    return list(_yaml_lines(value))


def _yaml_lines(value: Any) -> Iterator[str]:
    """Block style as people read manifests, each line printable (this is shown, never parsed)."""
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from _under(f"{_scalar(name)}:", item)
    elif isinstance(value, list) and value:
        for item in value:
            first, *rest = _yaml_lines(item)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
    else:
        yield _scalar(value)


def _under(head: str, item: Any) -> Iterator[str]:
    if isinstance(item, dict | list) and item:
        yield head
        yield from (f"  {line}" for line in _yaml_lines(item))
    else:
        yield f"{head} {_scalar(item)}"


def _scalar(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and not _reads_as_other(value):
        return value
    return printable(json.dumps(value, ensure_ascii=False))


def _reads_as_other(text: str) -> bool:
    """Whether the bare word would read as a number, a truth value or null: then it is quoted."""
    try:
        float(text)
    except ValueError:
        return text.lower() in {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "~"}
    return True
