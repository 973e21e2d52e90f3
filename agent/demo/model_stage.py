"""The stage inside the process: the embedded cluster, whose time the demo moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agent.demo.stage import PATHS, SAMPLED_EVERY, Tally
from agent.shell.embedded import EmbeddedCluster

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
