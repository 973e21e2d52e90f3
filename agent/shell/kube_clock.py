"""The API server's clock: agents whose own clocks are apart judge times by the same one.

Every answer has a Date, in whole seconds (RFC 9110, section 6.6.1). What is remembered is by how much it is
ahead of our clock; a difference within the rounding and the way of one answer changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Final

_ROUNDING: Final = 2.0


class ServerClock:
    """Seconds of the Unix epoch as the server has it; our own clock until it has answered."""

    def __init__(self, own: Callable[[], float] = time.time) -> None:
        self._own = own
        self._ahead = 0.0

    def now(self) -> float:
        """The time."""
        return self._own() + self._ahead

    def heard(self, date: str | None) -> None:
        """Go by the Date of an answer; one that cannot be read says nothing."""
        if not date:
            return
        try:
            ahead = parsedate_to_datetime(date).timestamp() - self._own()
        except ValueError:
            return
        if abs(ahead - self._ahead) > _ROUNDING:
            self._ahead = ahead
