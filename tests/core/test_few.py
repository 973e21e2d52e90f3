"""The first few of a long list, in words."""

from __future__ import annotations

import pytest

from agent.core.few import few


@pytest.mark.parametrize(
    ("things", "told"),
    [([], ""), ([1], "1"), ([1, 2, 3], "1, 2, 3"), ([1, 2, 3, 4], "1, 2, 3 and 1 more")],
)
def test_what_is_left_out_is_counted(things: list[int], told: str) -> None:
    assert few(things) == told


def test_what_is_not_shown_is_not_put_into_words() -> None:
    said: list[int] = []

    def say(thing: int) -> str:
        said.append(thing)
        return f"<{thing}>"

    assert few(range(9), 2, say) == "<0>, <1> and 7 more"
    assert said == [0, 1]
