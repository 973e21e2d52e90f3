"""Ticks one after another until the generation is in service, or the time is up."""

from __future__ import annotations

import time
from collections.abc import Callable

from agent.core.orders import Order
from agent.core.waiting import waits_for_a_person
from agent.errors import ClusterError, Forbidden, Unauthorized
from agent.shell.report import Report, State
from agent.shell.tick import Syncer

_LASTING = (Forbidden, Unauthorized)
"""Errors that the next tick will meet again: they end the wait at once."""


def until_done(
    syncer: Syncer,
    order: Order,
    *,
    timeout: float,
    pause: float,
    heard: Callable[[Report | ClusterError], None],
) -> Report:
    """The report that ended the wait: in service, refused, held until a person acts, or still held.

    ``heard`` gets every report and every error that may pass; ticks start ``pause`` seconds after the last
    ended. Raises SourceError, LedgerError, errors that waiting does not mend, and what the last tick raised
    when the time is up.
    """
    end = time.monotonic() + timeout
    while True:
        is_last = time.monotonic() + pause >= end
        try:
            report = syncer.tick(order)
        except _LASTING:
            raise
        except ClusterError as error:
            if is_last:
                raise
            heard(error)
        else:
            heard(report)
            if is_last or report.state is not State.HELD or is_for_a_person(report):
                return report
        time.sleep(pause)


def is_for_a_person(report: Report) -> bool:
    """Whether waiting any longer cannot help: only a person can act."""
    return report.state is State.HELD and report.plan is not None and waits_for_a_person(report.plan)
