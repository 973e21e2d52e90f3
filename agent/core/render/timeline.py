"""The paths of a rehearsal over its steps as a picture: one SVG file without script, style sheet or link."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from agent.core.rehearsal.answer import Rehearsal, Row
from agent.core.render.rehearsal import path_words, rehearsal_headline
from agent.core.render.words import printable, shortened

_LABEL: Final = 420
"""Width of the names, in pixels; a letter of the font is at most ``_LETTER`` wide."""
_CELL: Final = 34
_LINE: Final = 22
_LETTER: Final = 7
_TOP: Final = 64

_GOOD, _LESS, _NONE, _REST = "#2da44e", "#d4a72c", "#cf222e", "#d0d7de"


def rehearsal_svg(rehearsal: Rehearsal) -> str:
    """A row for each path, a column for each step: green with all endpoints, amber with fewer, red with none.

    Grey where the path needs no endpoints, does not stand or is given up. The steps are listed below by
    their numbers.
    """
    columns = len(rehearsal.steps)
    width = _LABEL + _CELL * max(columns, 12) + 20
    height = _TOP + _LINE * (len(rehearsal.paths) + columns + 3)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img"',
        f'viewBox="0 0 {width} {height}" font-family="monospace" font-size="12">',
        f"<title>{_text(rehearsal_headline(rehearsal))}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        _words(10, 24, rehearsal_headline(rehearsal), size=14),
        *(_words(_LABEL + _CELL * n + 10, _TOP - 10, str(n)) for n in range(columns)),
    ]
    for number, row in enumerate(rehearsal.paths):
        lines += _row(row, _TOP + _LINE * number)
    below = _TOP + _LINE * (len(rehearsal.paths) + 2)
    lines += [
        _words(10, below + _LINE * number, f"{number:>3}  {step}")
        for number, step in enumerate(rehearsal.steps)
    ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _row(row: Row, top: int) -> Iterator[str]:
    yield _words(10, top + 15, shortened(path_words(row), _LABEL // _LETTER - 4))
    most = max((one for one in row.lowest if one is not None), default=0)
    for number, lowest in enumerate(row.lowest):
        left = _LABEL + _CELL * number
        size = f'width="{_CELL - 2}" height="{_LINE - 4}"'
        yield f'<rect x="{left}" y="{top}" {size} fill="{_colour(lowest, most, row)}"/>'
        if lowest is not None:
            yield _words(left + 12, top + 14, str(lowest), colour="#ffffff")


def _colour(lowest: int | None, most: int, row: Row) -> str:
    if lowest is None or (row.is_given_up and lowest < most):
        return _REST
    if lowest == 0:
        return _NONE
    return _GOOD if lowest == most else _LESS


def _words(left: int, top: int, text: str, *, size: int = 12, colour: str = "#1f2328") -> str:
    look = f'font-size="{size}" fill="{colour}" xml:space="preserve"'
    return f'<text x="{left}" y="{top}" {look}>{_text(text)}</text>'


def _text(text: str) -> str:
    return escape(printable(text))
