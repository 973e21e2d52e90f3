"""The agent's clock: every set on its interval, one tick of a set at a time, ended cleanly by a signal.

A tick that is late runs all the same (no misfire limit) and missed ones are taken together: an agent that
slept must not skip what it slept through (agronholm/apscheduler#292). While a handoff waits, the next tick
comes sooner.
"""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any, Final

from apscheduler.events import EVENT_JOB_MAX_INSTANCES, EVENT_JOB_MISSED
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from agent.core.ledger import Hold
from agent.errors import TrapezeError
from agent.shell.report import Report, State

_log: Final = logging.getLogger(__name__)
_SOON: Final = 2.0
_TOLD_OF: Final = {EVENT_JOB_MISSED: "missed its time", EVENT_JOB_MAX_INSTANCES: "is still at its last tick"}


class Schedule:
    """Runs ``ticks`` (by set) every ``interval`` seconds until SIGTERM, SIGINT or ``stop``."""

    def __init__(self, ticks: Mapping[str, Callable[[], Report]], interval: float) -> None:
        self._ticks = ticks
        self._interval = interval
        self._stopped = Event()
        self._told: dict[tuple[str, str], str] = {}
        executors = {"default": ThreadPoolExecutor(max(len(ticks), 1))}
        self._scheduler = BackgroundScheduler(executors=executors, timezone=UTC)
        self._scheduler.add_listener(self._warn, EVENT_JOB_MISSED | EVENT_JOB_MAX_INSTANCES)

    def run(self) -> None:
        """Tick until told to stop; a tick that runs is finished first."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.stop())
        for set_name in self._ticks:
            self._scheduler.add_job(
                self._tick,
                "interval",
                args=(set_name,),
                id=set_name,
                seconds=self._interval,
                next_run_time=datetime.now(UTC),
                max_instances=1,
                coalesce=True,
                misfire_grace_time=None,
            )
        self._scheduler.start()
        self._stopped.wait()
        _log.info("stopping: a tick that runs is finished first")
        self._scheduler.shutdown(wait=True)

    def stop(self) -> None:
        """End ``run`` after the ticks that run."""
        self._stopped.set()

    def _tick(self, set_name: str) -> None:
        try:
            report = self._ticks[set_name]()
        except TrapezeError as error:
            _log.error("set %s: %s", set_name, error)
            return
        for line in report.errors:
            _log.error("set %s: %s", set_name, line)
        for outcome in report.outcomes:
            if not outcome.error:
                _log.info("set %s: %s: %s", set_name, outcome.step.key, outcome.step.says)
        if report.plan is not None:
            _log.info("set %s: %s", set_name, report.state.value)
            self._log_holds(set_name, report.ledger.holds)
        if report.state is State.HELD:
            soon = datetime.now(UTC) + timedelta(seconds=min(_SOON, self._interval))
            self._scheduler.modify_job(set_name, next_run_time=soon)

    def _log_holds(self, set_name: str, holds: Mapping[str, Hold]) -> None:
        """What waits and why, each reason once."""
        for key, hold in holds.items():
            if self._told.get((set_name, key)) != hold.reason:
                self._told[set_name, key] = hold.reason
                _log.info("set %s: held: %s: %s", set_name, key, hold.reason)

    def _warn(self, event: Any) -> None:
        _log.warning("set %s %s", event.job_id, _TOLD_OF[event.code])
