"""Signs, counts, times and what makes foreign text harmless: the vocabulary of every surface."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

from agent.core.model import Action, Category, Severity
from agent.core.steps import GateState, Plan, Verb

SIGNS: Final[Mapping[Verb, str]] = {
    Verb.CREATE: "+",
    Verb.UPDATE: "~",
    Verb.WIDEN: "⇔",
    Verb.CUTOVER: "→",
    Verb.POINT_BACK: "←",
    Verb.NARROW: "⇔",
    Verb.DELETE: "−",  # noqa: RUF001 - a minus sign of the width of the plus, not a hyphen
    Verb.ABANDON: "○",
    Verb.MIGRATE: "↻",
    Verb.REPLACE: "×",  # noqa: RUF001 - a multiplication sign, told from the letter by its colour
}
HELD_SIGN: Final = "‖"
GATE_SIGNS: Final[Mapping[GateState, str]] = {
    GateState.OPEN: "✓",
    GateState.HELD: HELD_SIGN,
    GateState.UNKNOWN: "?",
}

PAST: Final[Mapping[Verb, str]] = {
    Verb.CREATE: "created",
    Verb.UPDATE: "updated",
    Verb.WIDEN: "widened",
    Verb.CUTOVER: "cut over",
    Verb.POINT_BACK: "pointed back",
    Verb.NARROW: "narrowed",
    Verb.DELETE: "deleted",
    Verb.ABANDON: "let go",
    Verb.MIGRATE: "migrated",
    Verb.REPLACE: "replaced",
}

SHORT_REVISION: Final = 7
HEX: Final = frozenset("0123456789abcdef")
REVISION_LENGTHS: Final = (40, 64)
_HIDDEN: Final = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_BRAILLE_BLANK: Final = "\u2800"
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def printable(text: str) -> str:
    r"""``text`` on one line with everything that steers a terminal or hides written out.

    Control characters, bidirectional and other format controls, surrogates, private and unassigned
    characters and line separators become ``\n``, ``\x1b`` or ``\u202e``; all else stays as it is.
    """
    return "".join(_written_out(char) for char in text)


def _written_out(char: str) -> str:
    if char.isascii() and char.isprintable():
        return char
    if unicodedata.category(char) in _HIDDEN or char == _BRAILLE_BLANK:
        return char.encode("unicode_escape").decode("ascii")
    return char


def shortened(text: str, limit: int) -> str:
    """``text`` with at most ``limit`` characters kept and the number of those left out."""
    left_out = len(text) - limit
    return text if left_out <= 0 else f"{text[:limit]}… ({left_out:,} more characters)"


def counted(number: int, one: str, many: str = "") -> str:
    """``1 object``, ``1,204 objects``; ``many`` where an s does not do."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def revision_text(revision: str) -> str:
    """Seven characters of a commit, any other revision as it is."""
    is_commit = len(revision) in REVISION_LENGTHS and set(revision) <= HEX
    return revision[:SHORT_REVISION] if is_commit else printable(revision)


def clock(at: float) -> str:
    """``HH:MM:SS`` in UTC of epoch seconds ``at``."""
    second = int(at) % _DAY
    return f"{second // _HOUR:02}:{second % _HOUR // _MINUTE:02}:{second % _MINUTE:02}"


def moment(at: float) -> str:
    """``YYYY-MM-DD HH:MM:SS`` in UTC of epoch seconds ``at``."""
    return f"{datetime.fromtimestamp(int(at), UTC):%Y-%m-%d %H:%M:%S}"


def span(seconds: float) -> str:
    """A duration as people say it: ``18 s``, ``1 min 40 s``, ``3 h 5 min``, ``3 d``."""
    whole = max(0, round(seconds))
    for size, unit, below, below_unit in ((_DAY, "d", _HOUR, "h"), (_HOUR, "h", _MINUTE, "min")):
        if whole >= size:
            rest = whole % size // below
            return f"{whole // size} {unit}" + (f" {rest} {below_unit}" if rest else "")
    if whole >= _MINUTE:
        rest = whole % _MINUTE
        return f"{whole // _MINUTE} min" + (f" {rest} s" if rest else "")
    return f"{whole} s"


def category_counts(plan: Plan) -> Mapping[Category, int]:
    """How many of the plan's changes carry each category, in order of severity."""
    counts = dict.fromkeys(Category, 0)
    for change in plan.changes:
        if change.action is not Action.NONE:
            counts[change.category] += 1
    return counts


def sentences(parts: Iterable[str]) -> str:
    """``parts`` that are not empty, each once, in order, with ``; `` between them."""
    return "; ".join(dict.fromkeys(part for part in parts if part))


def verdict(plan: Plan) -> str:
    """What comes of the plan as it stands, in a few words."""
    if any(finding.severity is Severity.SET for finding in plan.findings):
        return "refused: nothing is written until the findings are mended"
    if plan.is_done:
        return "nothing to do"
    changes = counted(sum(category_counts(plan).values()), "change")
    told = f"{changes} in {counted(len(plan.steps), 'step')}"
    return f"{told}, and a person must act" if plan.needs_a_person else told
