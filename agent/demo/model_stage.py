"""The stage inside the process: the embedded cluster, whose time the demo moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from agent.core.simulation.world import World
from agent.core.states import Event
from agent.core.terms import Terms
from agent.demo.stage import PATHS, SAMPLED_EVERY, Tally
from agent.shell.embedded import EmbeddedCluster
from agent.shell.recording import DELETED, Recording

START: Final = 1_736_157_600.0
"""2025-01-06 10:00:00 in UTC, epoch seconds."""


class ModelStage:
    """Samples at each tenth of a second of the model's time: the worst endpoint of a path counts."""

    def __init__(self) -> None:
        self.cluster = EmbeddedCluster(START)
        self._seen = dict.fromkeys(PATHS, Tally())

    def now(self) -> float:
        """The model's time."""
        return self.cluster.now()

    def let_pass(self, seconds: float) -> None:
        """Move the model's time on, a sample at a time."""
        for _ in range(round(seconds / SAMPLED_EVERY)):
            self.cluster.advance(SAMPLED_EVERY)
            for name, pointer in PATHS.items():
                reply = self.cluster.request(pointer)
                self._seen[name] = self._seen[name].with_answer("" if reply.is_right else str(reply))

    def seen(self) -> Mapping[str, Tally]:
        """What was asked and answered so far."""
        return dict(self._seen)

    @contextmanager
    def recorded(self) -> Iterator[Callable[[], Recording]]:
        """Nothing is watched: the model remembers every write."""
        first = self.cluster.world
        yield lambda: _history(first, self.cluster.world)


def _history(first: World, last: World) -> Recording:
    events = (
        Event(event.version, "", event.id, None if event.type == DELETED else event.body)
        for event in last.events_after(first.version)
    )
    return Recording(first.version, first.objects(), tuple(events), (), Terms())
