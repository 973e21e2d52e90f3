"""When maintenance windows open and close: cron expressions as APScheduler reads them, turned into spans."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from apscheduler.triggers.cron import CronTrigger

from agent.core.situation import Span, Window

_FIELDS: Final = 5
_STARTS: Final = 200
"""Starts that are looked at between now less the window's length and the first that is yet to come."""


def trigger_of(window: Window) -> CronTrigger:
    """When the window opens.

    Raises:
        ValueError: the expression or the time zone is none. Weekdays go by name: cron counts them from
            Sunday, APScheduler from Monday.
    """
    allowed = "five fields: minute, hour, day, month, weekday by name, like 0 2 * * sat"
    fields = window.cron.split()
    if len(fields) != _FIELDS or any(char.isdigit() for char in fields[-1]):
        raise ValueError(f"{window.cron!r} is no window: it has {allowed}")
    try:
        return CronTrigger.from_crontab(window.cron, timezone=ZoneInfo(window.timezone))
    except (ZoneInfoNotFoundError, IsADirectoryError):
        raise ValueError(f"{window.timezone!r} is no time zone; say one like Europe/Berlin") from None
    except ValueError as error:
        raise ValueError(f"{window.cron!r} is no window: {error}; it has {allowed}") from None


def spans_of(windows: Iterable[Window], now: float) -> tuple[Span, ...]:
    """The spans that hold ``now``, and for each window the next that comes."""
    spans = []
    for window in windows:
        trigger, at = trigger_of(window), datetime.fromtimestamp(now, UTC)
        start = trigger.get_next_fire_time(None, at - timedelta(seconds=window.lasts))
        for _ in range(_STARTS):
            if start is None:
                break
            spans.append(Span(start.timestamp(), start.timestamp() + window.lasts))
            if start > at:
                break
            start = trigger.get_next_fire_time(start, start + timedelta(microseconds=1))
    return tuple(spans)
