"""The rows of ``policies/replacements.yaml``: how a change is made that the API server refuses in place."""

from __future__ import annotations

from enum import Enum

from agent.core.table_row import Row


class Way(Enum):
    """How an object is replaced under its name; those further down come first where two are asked for."""

    ANEW = "anew"
    """Deleted and made anew: nothing that runs needs it in between."""
    BRIDGE = "bridge"
    """A bridge binding holds the old rights, then deleted and made anew."""
    ADOPT = "adopt"
    """Deleted without its pods, which the new one takes over."""
    ORPHAN = "orphan"
    """Deleted without its ReplicaSet, which serves until the new one does."""
    FINISHED = "finished"
    """Deleted and made anew once it has run to its end."""
    EMPTY = "empty"
    """Deleted and made anew only while there is no object of the kind that it defines."""
    DOWNTIME = "downtime"
    """Deleted and made anew, and something is interrupted: a person allows it for this object."""
    HOLD = "hold"
    """Not at all: a new name is needed."""


class ReplacementRow(Row):
    """Which way a refused change at ``path`` takes; ``when`` sees ``live`` and ``desired``.

    ``says`` is what is done, ``costs`` what it costs, both told in the plan.
    """

    when: str = ""
    way: Way
    says: str
    costs: str
