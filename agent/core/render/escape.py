"""Foreign text in GitHub-flavoured Markdown: it can end no table, fence or span, and notify nobody.

Words with characters that mean something to a forge (``@team``, ``#12``, ``a/b``, an address, an image)
become code spans; what stays prose has every special character as a character reference.
Rules: GitHub Flavored Markdown Spec 0.29, sections 6.2 (references), 6.3 (code spans), 4.10 (tables).
"""

from __future__ import annotations

import re
from typing import Final

from agent.core.render.words import printable

_SPECIAL: Final = re.compile(r"[\\`*_{}\[\]#+!|<>~&@$]|:(?=/)|(?<=www)\.")
_RISKY_IN_CODE: Final = re.compile(r"[`|\\]")
_WORD: Final = re.compile(r"(?P<open>\(*)(?P<word>.*?)(?P<close>[,;:.)?!]*)")
_TELLING: Final = re.compile(r"[@#/\\`*_{}\[\]|<>~&:$^=]|[^\s.]\.[^\s.]|\d-|-\d|\w-\w")


def code(text: str) -> str:
    """A code span with ``text`` on one line, safe in a table cell too.

    A table splits at pipes before it knows of spans, and renderers disagree about backslashes before
    them, so text with either, or with backticks, is written as an element with references.
    """
    line = printable(text)
    if not line.strip():
        return f"<code>{_references(line)}</code>"
    if _RISKY_IN_CODE.search(line):
        return f"<code>{_references(line)}</code>"
    return f"`{line}`"


def prose(text: str) -> str:
    """``text`` as running text on one line; words that a forge could read otherwise as code spans."""
    return " ".join(_word(word) for word in printable(text).split(" "))


def _word(text: str) -> str:
    if not any(char.isalnum() for char in text):
        return _references(text).replace("-", "&#45;")
    match = _WORD.fullmatch(text)
    if match and match["word"] and _TELLING.search(match["word"]):
        return _references(match["open"]) + code(match["word"]) + _references(match["close"])
    return _references(text)


def _references(text: str) -> str:
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", text)


def fence(text: str) -> str:
    """A run of backticks longer than every run in ``text``, three at least."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)
