"""The shape of an invariant of the promise, and what all of them judge by.

Each is asked after every event and looks only at what the event touched. It answers with judgements: a story
for a subject that is broken from now on, an empty story for one that is well (again). What it remembers of
earlier states stands in dictionaries of its own; ``copy`` lets a rehearsal branch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Self

from agent.core.serving import Routes
from agent.core.states import Move, State
from agent.core.terms import Terms


class Judgement(NamedTuple):
    """What an invariant says of one subject: ``story`` empty when it is well.

    ``lasts`` is False for something that happened and is over, with nothing left that could be mended.
    """

    subject: str
    story: str
    lasts: bool = True


@dataclass(frozen=True)
class Court:
    """The tables, and what the upgrade announced."""

    routes: Routes
    terms: Terms


class Invariant(ABC):
    """One thing that holds in every state; made from the first state, which it takes as it is."""

    name: ClassVar[str]

    def __init__(self, court: Court, state: State) -> None:
        self.court = court
        self.start(state)

    @abstractmethod
    def start(self, state: State) -> None:
        """Take in the first state."""

    @abstractmethod
    def judge(self, move: Move, state: State) -> Iterator[Judgement]:
        """What the move changed; ``state`` is the one after it."""

    def under(self, terms: Terms, state: State) -> Self:
        """A copy that goes on under other terms from ``state`` on."""
        other = self.copy()
        other.court = replace(self.court, terms=terms)
        other.renew(state)
        return other

    def renew(self, state: State) -> None:  # noqa: B027 - most remember nothing that other terms could change
        """Forget what was given up under the terms before: it is promised anew only once it is there."""

    def copy(self) -> Self:
        """The same memory, to be changed apart; the values in it are never changed in place."""
        other = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, dict):
                setattr(other, name, dict(value))
        return other
