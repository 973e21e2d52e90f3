"""A stream of JSON values as kubectl reads it: numbers like sigs.k8s.io/json, later keys win.

Source: json.go of sigs.k8s.io/json (int64 where the number is whole and fits, else float64) and
encoding/json (a lone surrogate becomes U+FFFD).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from math import isinf
from typing import Any, Final

from agent.core.yamlscalars import json_value
from agent.core.yamltree import MAX_DEPTH, Repeat, Tree, Unreadable, read_tree

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_LONE_SURROGATES: Final = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_DIGIT_LIMIT: Final = 20
"""No int64 is longer, sign included."""


def read_stream(text: str) -> Iterator[Tree | Unreadable]:
    """The values of ``text`` one after another; the first that is broken is given as error and the last."""
    place = _after_space(text, 0)
    while place < len(text):
        reader = _Values()
        line = text.count("\n", 0, place) + 1
        try:
            value, end = reader.decoder.raw_decode(text, place)
        except json.JSONDecodeError as error:
            yield Unreadable(f"{error.msg[:1].lower()}{error.msg[1:]}", error.lineno)
            return
        except _Refused as error:
            yield Unreadable(str(error), line)
            return
        except RecursionError:
            yield Unreadable(f"nested deeper than {MAX_DEPTH} levels", line)
            return
        if _depth(value) > MAX_DEPTH:
            yield Unreadable(f"nested deeper than {MAX_DEPTH} levels", line)
        else:
            yield Tree(value, line, (), _repeats(reader.repeated, text[place:end], line))
        place = _after_space(text, end)


class _Refused(ValueError):
    """A number that JSON or float64 does not have."""


class _Values:
    """The decoder's hooks, and the keys that stood twice."""

    def __init__(self) -> None:
        self.repeated: list[str] = []
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self._map,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=_constant,
        )

    def _map(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = {_text(key): _text(item) for key, item in pairs}
        if len(value) != len(pairs):
            counts = Counter(key for key, _ in pairs)
            self.repeated += [key for key, count in counts.items() if count > 1]
        return value


def _text(value: Any) -> Any:
    """Text without lone surrogates, also within a list: it could not be written as UTF-8."""
    if isinstance(value, str):
        return value if value.isascii() else value.translate(_LONE_SURROGATES)
    return [_text(item) for item in value] if isinstance(value, list) else value


def _integer(digits: str) -> int | float:
    return json_value(int(digits)) if len(digits) <= _DIGIT_LIMIT else _float(digits)


def _float(digits: str) -> int | float:
    number = float(digits)
    if isinf(number):
        raise _Refused("a number does not fit float64")
    value: int | float = json_value(number)
    return value


def _constant(word: str) -> float:
    raise _Refused(f"{word} is not JSON")


def _depth(value: Any) -> int:
    """Levels of nesting, counted a level at a time: deep input must not exhaust the stack."""
    depth, level = 0, [value]
    while level := [item for item in level if isinstance(item, dict | list)]:
        depth += 1
        level = [part for item in level for part in (item.values() if isinstance(item, dict) else item)]
    return depth


def _repeats(keys: list[str], text: str, line: int) -> tuple[Repeat, ...]:
    """Where the keys stand: JSON is nearly YAML, and the YAML reader knows lines and paths."""
    if not keys:
        return ()
    try:
        tree = read_tree(text)
    except Unreadable:
        tree = None
    if tree is None or not tree.repeats:
        return tuple(Repeat(key, line, line) for key in keys)
    return tuple(r._replace(first=r.first + line - 1, last=r.last + line - 1) for r in tree.repeats)


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place
