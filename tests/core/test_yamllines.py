"""Documents read by lines: the same as by libyaml, or left to it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.core.yamlline import Unsure
from agent.core.yamllines import forget, read_lines
from agent.core.yamltree import Unreadable, read_tree
from tests.oracle.comparing import typed
from tests.oracle.grammar import block_scalars, blocks, flows, in_place, long_texts, pieces


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.one_of(blocks, block_scalars, flows, in_place, long_texts, pieces))
def test_what_is_read_by_lines_is_what_libyaml_reads(data: bytes) -> None:
    text = data.decode().removesuffix("\n") + "\n"
    try:
        by_lines = read_lines(text)
    except Unsure:
        return
    by_libyaml = read_tree(text)
    if by_lines is None:
        assert by_libyaml is None or by_libyaml.value is None
        return
    assert by_libyaml is not None
    assert typed(by_lines.value) == typed(by_libyaml.value)
    assert (by_lines.line, by_lines.items) == (by_libyaml.line, by_libyaml.items)
    assert by_libyaml.repeats == ()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            "a: 1\nb:\n  c: x y\nd:\n- e\n- f: g\n  h:\n",
            {"a": 1, "b": {"c": "x y"}, "d": ["e", {"f": "g", "h": None}]},
        ),
        ("a: b\n  c\n\n  d\n", {"a": "b c\nd"}),
        ("a: 'b ''c\n  d'\nb: \"e\n\n  f\\t\"\n", {"a": "b 'c d", "b": "e\nf\t"}),
        ("a: |-\n  b\n\n   c\n\nd: >\n  e\n  f\n", {"a": "b\n\n c", "d": "e f\n"}),
        ("a: |+\n  b\n\nc: |\nd: >-\n", {"a": "b\n\n", "c": "", "d": ""}),
        (
            "a: [b, {c: d}]\ne: [\n  f,\n]\ng:\n  {h: 1}\n",
            {"a": ["b", {"c": "d"}], "e": ["f"], "g": {"h": 1}},
        ),
        ("a:\n  long\n  text\nb:\n  'c'\n", {"a": "long text", "b": "c"}),
        ("-\n  a: b\n- c\n", [{"a": "b"}, "c"]),
        ("a:\n - b\n  - c\n", {"a": ["b - c"]}),
        ("# only\n\n", None),
        ("--- # head\non: 0o17\n", {"true": 15}),
    ],
)
def test_lines(text: str, value: object) -> None:
    tree = read_lines(text)
    assert (tree.value if tree else None) == value


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\na: 2\n",
        "a: &x b\n",
        "a: *x\n",
        "a: !t b\n",
        "<<: {a: b}\n",
        "a: {b: 1, b: 2}\n",
        "a:\tb\n",
        "? a\n",
        "a: b: c\n",
        "a: b\n  c: d\n",
        "  a: b\nc: d\n",
        "a:\n - b\n  c: d\n",
        "a: b\n  c\n\n  d # e\n",
        "a: b\n-1: -x\n",
        "- - c\n",
        "a: 'b' c\n",
        "a: |2\n   b\n",
        "a: \u0007\n",
        "---x\n",
        "...\n",
    ],
)
def test_what_needs_more_than_lines_is_left_alone(text: str) -> None:
    with pytest.raises(Unsure):
        read_lines(text)


def test_a_value_that_is_used_twice_is_not_shared() -> None:
    first, second = (read_lines("a: {b: [c]}\n") for _ in range(2))
    assert first is not None
    assert second is not None
    first.value["a"]["b"].append("d")
    assert second.value == {"a": {"b": ["c"]}}


def test_lines_that_were_seen_change_nothing() -> None:
    text = "a: 1\nb:\n- c: d\n  e: [f]\n"
    before = read_lines(text)
    assert read_lines(text) == before
    forget()
    assert read_lines(text) == before


def test_deep_documents_are_judged_in_one_place() -> None:
    text = "".join(f"{' ' * level}a:\n" for level in range(300))
    with pytest.raises(Unsure):
        read_lines(text)
    with pytest.raises(Unreadable, match="nested deeper"):
        read_tree(text)
