"""Files that are generated: every family of scalars and every construct of YAML 1.1, well and badly formed.

Each strategy gives the bytes of a file. Nothing here knows what is right: kubectl's own code says it.
"""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import strategies as st

_WORDS: dict[str, list[str]] = json.loads((Path(__file__).parent / "words.json").read_text())
PIECES = _WORDS["pieces"]

_TIME = r"[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}([.,][0-9]{1,11})?"
NUMBERS = (
    r"[-+]?0[xXbBoO]?[0-9a-fA-F_]{0,20}",
    r"[-+]?[0-9_]{1,24}(\.[0-9_]{0,6})?([eE][-+]?[0-9_]{1,3})?",
    r"[-+]?\.[0-9_]{1,4}([eE][-+]?[0-9]{1,3})?",
    r"[-+]?0b[01]{58,66}",
    r"[-+]?0[xX]?[0-7]{15,23}",
    r"[0-9]{1,3}(:[0-9]{1,2}){1,2}(\.[0-9])?",
    rf"[0-9]{{4}}-[0-9]{{1,2}}-[0-9]{{1,2}}([Tt ]+{_TIME})?(Z|[-+][0-9]{{2}}:[0-9]{{2}})?",
)
LETTERS = st.sampled_from("aab1 0:#-?,[]{}&*!|>'\"%@`\\/.=~_\té\u00a0\u2028\u0085\ufeff\U0001f600")


def _one_of(name: str) -> st.SearchStrategy[str]:
    return st.sampled_from(_WORDS[name])


def _file(*parts: st.SearchStrategy[str]) -> st.SearchStrategy[bytes]:
    return st.tuples(*parts).map(lambda texts: "".join(texts).encode())


numbers = st.one_of(
    *(st.from_regex(pattern, fullmatch=True) for pattern in NUMBERS),
    st.integers(-(2**70), 2**70).map(str),
    st.floats().map(repr),
)
plain = st.one_of(_one_of("words"), numbers, st.text(LETTERS, max_size=8))
quoted = st.one_of(
    st.lists(_one_of("escapes"), max_size=6).map(lambda parts: f'"{"".join(parts)}"'),
    st.lists(st.sampled_from(("a", "''", " ", "\n  ", "\n\n  ", "#", ": ", "\\n", "1")), max_size=6).map(
        lambda parts: f"'{''.join(parts)}'"
    ),
)
scalars = st.builds(
    str.__add__, st.one_of(st.just(""), st.just(""), _one_of("tags")), st.one_of(plain, plain, quoted)
)
in_place = st.builds(lambda place, scalar: place.format(scalar).encode(), _one_of("places"), scalars)

_lines = st.lists(
    st.builds(lambda width, text: f"{' ' * width}{text}\n", st.integers(0, 5), _one_of("text lines")),
    max_size=6,
).map("".join)
block_scalars = _file(
    st.sampled_from(("k: ", "- ", "a:\n  k: ", "a:\n- k: ", "? ", "k: !!str ", "k: &a ", "- - ")),
    _one_of("block headers"),
    st.just("\n"),
    _lines,
    st.sampled_from(("", "z: 1\n", "  z: 1\n", "- z\n", "---\nz: 1\n", "# c\n", "\n\n", " ")),
)
long_texts = _file(
    st.sampled_from(("k: ", "- ", "a:\n  k: ", "a:\n  - k: ", "a:\n- ", "k:\n  ", "")),
    st.one_of(plain, quoted, st.sampled_from(("'a", '"a', '"a\\', '"a\\  ', "'a ''", '"a \\"'))),
    st.just("\n"),
    _lines,
    st.sampled_from(("", "z: 1\n", "'\n", '"\nz: 1\n', "  '\n", '  b"\n', "  b' # c\nz: 1\n")),
)


def _flows(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.builds(
        lambda key, colon, value: f"{key}{colon}{value}",
        st.one_of(scalars, st.sampled_from(("a", "b", '"c"', "? d", "<<"))),
        st.sampled_from((": ", ":", " : ", ":\n  ", "")),
        inner,
    )
    return st.builds(
        lambda brackets, comma, parts: f"{brackets[0]}{comma.join(parts)}{brackets[1]}",
        st.sampled_from(("[]", "{}", "[]", "{}", "[}", ("[\n  ", "\n]"), ("{ ", " }"), ("[", ",]"))),
        st.sampled_from((", ", ",", " , ", ",\n  ", ",\n", ", # c\n  ", " ")),
        st.lists(st.one_of(inner, pair), max_size=4),
    )


flows = _file(
    st.sampled_from(("k: ", "- ", "a:\n  k: ", "? ", "k:\n  ", "k: !t ", "# c\n")),
    st.recursive(st.one_of(scalars, st.sampled_from(("a", "b", '"c"', "1"))), _flows, max_leaves=8),
    st.sampled_from(("\n", "\nz: 1\n", " # c\n", " z\n", ": z\n", "")),
)


def _blocks(inner: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    """Lines of maps and lists; inner ones are indented by a width that may be wrong."""
    key = _one_of("keys").map(lambda text: f"{text}:")
    entry = st.builds(
        lambda head, width, lines, note: [head + note, *(" " * width + line for line in lines)],
        st.one_of(key, st.just("-"), st.just("- - "), st.just("&x k:")),
        st.sampled_from((2, 2, 2, 4, 1, 0, 3)),
        inner,
        st.sampled_from(("", "", "", " ", " # c", "\t")),
    )
    short = st.builds(
        lambda head, value: [f"{head} {value}"],
        st.one_of(key, st.just("-"), key.map(lambda text: f"- {text}")),
        st.one_of(scalars, st.sampled_from(("a", "b c", "1", "*x", "{}", "[]", "|"))),
    )
    blank = st.sampled_from(([""], ["# c"], ["  # c"], ["   "], ["\t"], ["---"], ["..."]))
    return st.lists(st.one_of(entry, short, short, blank), min_size=1, max_size=4).map(
        lambda parts: [line for part in parts for line in part]
    )


blocks = st.recursive(st.sampled_from((["a: b"], ["- a"], ["c"], [])), _blocks, max_leaves=6).map(
    lambda lines: ("\n".join(lines) + "\n").encode()
)
anchors = st.lists(_one_of("anchored"), min_size=1, max_size=7).map(lambda lines: "".join(lines).encode())

_encodings = (
    str.encode,
    str.encode,
    lambda text: text.encode("utf-8-sig"),
    lambda text: text.encode("utf-16"),
    lambda text: b"\xfe\xff" + text.encode("utf-16-be") + b"\xd8",
    lambda text: text.encode("latin-1", "replace"),
    lambda text: text.replace("\n", "\r\n").encode(),
    lambda text: text.encode() + b"\xff\xc3",
    lambda text: b"\xef\xbb\xbf" + text.encode() + b"# \xc3\n",
)
streams = st.builds(
    lambda parts, encode: encode("".join(text for part in parts for text in part)),
    st.lists(st.tuples(_one_of("documents"), _one_of("separators")), max_size=5),
    st.sampled_from(_encodings),
)

_json_leaves = (
    st.none(),
    st.booleans(),
    st.integers(-(2**66), 2**66),
    st.floats(allow_nan=False),
    st.text(max_size=4),
)
_json_values = st.recursive(
    st.one_of(*_json_leaves),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(LETTERS, max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
json_streams = _file(
    st.lists(_json_values.map(lambda value: json.dumps({"k": value})), max_size=2).map("\n".join),
    st.lists(_one_of("json"), max_size=6).map(lambda parts: "".join(["{", *parts, "}"] if parts else parts)),
    st.sampled_from(("", "\n", '{"z": 1}', "\n---\nz: 1\n")),
)

pieces = st.lists(st.sampled_from(PIECES), max_size=24).map(lambda parts: "".join(parts).encode())


def _aliases(width: int, levels: int) -> str:
    """Lists of aliases of lists, ``width`` to the power of ``levels`` values in all."""
    names = ["1", *(f"*a{level}" for level in range(levels))]
    return "".join(f"a{level}: &a{level} [{', '.join([names[level]] * width)}]\n" for level in range(levels))


sizes = st.one_of(
    st.integers(100, 1100).map(lambda size: f"{'k' * size}: v\n"),
    st.integers(1000, 1100).map(lambda size: f'a:\n  "{"k" * size}": v\n'),
    st.integers(1, 238).map(lambda depth: f"a: {'[' * depth}{']' * depth}\n"),
    st.integers(1, 110).map(lambda depth: "".join(f"{' ' * level}a:\n" for level in range(depth))),
    st.integers(1, 110).map(lambda depth: f"{'- ' * depth}a\n"),
    st.builds(_aliases, st.integers(8, 12), st.integers(1, 4)),
).map(str.encode)

FAMILIES = {
    "scalars": in_place,
    "block scalars": block_scalars,
    "long texts": long_texts,
    "flows": flows,
    "blocks": blocks,
    "anchors": anchors,
    "streams": streams,
    "json": json_streams,
    "pieces": pieces,
    "sizes": sizes,
}
