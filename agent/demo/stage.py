"""Where the demo plays: a cluster, its clock, and requests through the paths that must not break."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, Protocol

from agent.core.model import ObjectId
from agent.shell.cluster import Cluster
from agent.shell.recording import Recording

PATHS: Final[Mapping[str, ObjectId]] = {
    "API": ObjectId("apiregistration.k8s.io", "APIService", "", "v1.library.example"),
    "webhook": ObjectId("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "librarian"),
    "web": ObjectId("networking.k8s.io", "Ingress", "reading-room", "reading-room"),
}
"""The serving paths of the sample releases, by the names under which the demo tells of them."""

SAMPLED_EVERY: Final = 0.1
"""Seconds between two requests through one path."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Requests through one path so far; ``trouble`` is what the last one that failed was told."""

    asked: int = 0
    lost: int = 0
    trouble: str = ""

    @property
    def answered(self) -> int:
        """How many got a right answer."""
        return self.asked - self.lost

    def with_answer(self, trouble: str) -> Tally:
        """The tally after one more request; ``trouble`` is empty where the answer was right."""
        return Tally(self.asked + 1, self.lost + bool(trouble), trouble or self.trouble)

    def since(self, before: Tally) -> Tally:
        """What came after ``before``."""
        return Tally(self.asked - before.asked, self.lost - before.lost, self.trouble)


class Stage(Protocol):
    """A cluster in which time passes and requests are sent through ``PATHS`` all the while."""

    @property
    def cluster(self) -> Cluster:
        """The port that the agent works through."""
        ...

    def now(self) -> float:
        """Seconds of the Unix epoch on the cluster's clock."""
        ...

    def let_pass(self, seconds: float) -> None:
        """Let so much of the cluster's time pass, sampling."""
        ...

    def seen(self) -> Mapping[str, Tally]:
        """What was asked and answered since the stage began to sample, by path."""
        ...

    def recorded(self) -> AbstractContextManager[Callable[[], Recording]]:
        """Record every state inside the block; after it the recording can be had."""
        ...
