"""What a tick tells: the state it left the set in, the plan it ended with, what became of each step."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from agent.core.intents import Outcome
from agent.core.ledger import Ledger
from agent.core.model import Severity
from agent.core.steps import Plan


class State(Enum):
    """Where a tick left the set."""

    IN_SERVICE = "in service"
    HELD = "held"
    REFUSED = "refused"
    ABSENT = "absent"
    """Nothing is left of a set that shall go."""


@dataclass(frozen=True)
class Report:
    """What a tick saw and did.

    ``first`` is the plan that it began with, ``plan`` the one that it ended with; both are None for a tick
    that found nothing moved.
    """

    state: State
    ledger: Ledger
    first: Plan | None = None
    plan: Plan | None = None
    outcomes: tuple[Outcome, ...] = ()

    @property
    def errors(self) -> tuple[str, ...]:
        """What a person must act on: steps that failed and findings of the source."""
        failed = [f"{outcome.step.key}: {outcome.error}" for outcome in self.outcomes if outcome.error]
        findings = self.plan.findings if self.plan else ()
        return (*failed, *(str(f) for f in findings if f.severity is not Severity.WARNING))
