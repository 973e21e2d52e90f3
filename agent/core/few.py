"""Long lists in reasons: the first few of them, and how many more there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

SHOWN: Final = 3
"""So many are named where nobody says otherwise."""

T = TypeVar("T")


def few(things: Sequence[T], shown: int = SHOWN, say: Callable[[T], str] = str) -> str:
    """``a, b, c and 4 more``; ``say`` is asked of those alone that are shown."""
    more = f" and {len(things) - shown} more" if len(things) > shown else ""
    return ", ".join(map(say, things[:shown])) + more
