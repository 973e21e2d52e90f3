"""Maintenance windows: when a set may move pointers and take things away.

The set's configuration says them as cron expressions; which spans of time those are is worked out in the
shell (agent/shell/windows.py) and comes in as values.
"""

from __future__ import annotations

from agent.core.deadline import stamp
from agent.core.situation import Situation
from agent.core.steps import Gate, GateState, Step, Verb


def window_gate(situation: Situation, step: Step) -> Gate | None:
    """The window that the step waits for, or None: additive work needs one where the set says so.

    Pointing back needs none: what fails now is not left to fail until the next window.
    """
    rules = situation.rules
    if not rules.windows or step.verb is Verb.POINT_BACK or (step.is_additive and not rules.windows_for_all):
        return None
    wants = "a window is open: " + " or ".join(str(window) for window in rules.windows)
    now = situation.now
    ends = [span.end for span in situation.spans if span.start <= now < span.end]
    if ends:
        return Gate("window", wants, GateState.OPEN, f"a window is open until {stamp(max(ends))}")
    starts = [span.start for span in situation.spans if span.start > now]
    reason = f"the next window opens at {stamp(min(starts))}" if starts else "no window is known to come"
    return Gate("window", wants, GateState.HELD, reason)
