r"""Text for libyaml, rewritten where kubectl's scanner, a port of an older libyaml, takes it another way.

What is rewritten keeps its lines:

1. A byte order mark within a document is a letter (libyaml skips it before a line): a letter stands in.
2. ``,`` and ``[]`` are part of a tag's name (yaml_parser_scan_tag_uri of scannerc.go): ``.`` stands in, since
   a tag with such a name is unknown and means nothing.
3. A colon before a comma or bracket is part of plain text (libyaml refuses it): a letter stands in.
4. ``\'`` in double quotes is a single quote (libyaml refuses it).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

_MARK: Final = "\ufeff"
_ODD_TAG: Final = re.compile(r"(?<!\w)!(?!<)[A-Za-z0-9;/?:@&=+$,.!~*'()\[\]%_-]*")
_ANCHOR: Final = re.compile(r"&\S+\s+")
_IN_TAG: Final = str.maketrans(",[]", "...")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_PRIVATE_USE: Final = range(0xE000, 0xF900)


class OddText(ValueError):
    """Text that cannot be handed to libyaml in any form."""


class Rewritten(Exception):
    """The text must be read again from the start, in this form."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self.source = source


@dataclass(frozen=True, slots=True)
class Source:
    """``text`` is what libyaml gets; the letters of ``stand_ins`` stand for what they map to.

    ``odd_tags`` are the ends by the starts of what may be a tag with a comma or bracket in its name.
    """

    text: str
    stand_ins: dict[int, str]
    odd_tags: dict[int, int]

    @classmethod
    def of(cls, text: str) -> Source:
        """The source of a document. Raises OddText."""
        text = text.removeprefix(_MARK)
        stand_ins: dict[int, str] = {}
        if text.startswith(_MARK):
            raise OddText("two byte order marks")
        if not text.isascii() and _SURROGATE.search(text):
            raise OddText("a byte that is not UTF-8")
        if _MARK in text:
            letter = _unused(text)
            stand_ins[ord(letter)] = _MARK
            text = text.replace(_MARK, letter)
        return cls(text, stand_ins, _odd_tags(text))

    def written(self, value: str) -> str:
        """A scalar's value with the characters that were written."""
        return value.translate(self.stand_ins) if self.stand_ins else value

    def mend(self, error: Any) -> None:
        """Raise Rewritten where kubectl would not make this error of libyaml's."""
        if error.context in {"while scanning a tag", "while parsing a tag"}:
            self.mend_tag(error.context_mark.index)
        if error.problem == "found unknown escape character":
            self._mend_escape(error.problem_mark.index)
        if error.context == "while scanning a plain scalar" and error.problem == "found unexpected ':'":
            at = error.problem_mark.index
            letter = next((chr(code) for code, char in self.stand_ins.items() if char == ":"), "")
            letter = letter or _unused(self.text)
            text = self.text[:at] + letter + self.text[at + 1 :]
            raise Rewritten(Source(text, {**self.stand_ins, ord(letter): ":"}, self.odd_tags))

    def _mend_escape(self, at: int) -> None:
        if self.text.startswith("\\'", at):
            text = self.text[:at] + self.text[at + 1 :]
            raise Rewritten(Source(text, self.stand_ins, _odd_tags(text)))

    def mend_tag(self, start: int) -> None:
        """Raise Rewritten where a tag with a comma or bracket in its name begins, maybe behind an anchor."""
        anchor = _ANCHOR.match(self.text, start)
        start = anchor.end() if anchor else start
        if start in self.odd_tags:
            end = self.odd_tags[start]
            text = self.text[:start] + self.text[start:end].translate(_IN_TAG) + self.text[end:]
            raise Rewritten(Source(text, self.stand_ins, _odd_tags(text)))


def _odd_tags(text: str) -> dict[int, int]:
    if "!" not in text:
        return {}
    return {tag.start(): tag.end() for tag in _ODD_TAG.finditer(text) if not set(tag[0]).isdisjoint(",[]")}


def _unused(text: str) -> str:
    letter = next((letter for letter in map(chr, _PRIVATE_USE) if letter not in text), None)
    if letter is None:
        raise OddText("every character of the private use area stands in it")
    return letter
