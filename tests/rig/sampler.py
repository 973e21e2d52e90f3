"""Real requests every 100 ms from a process of its own, and what became of them.

A sample is lost when no right answer comes within 5 s; a 429 with Retry-After is tried again within them, as
clients do, and nothing else is. A slow request delays no other. A sampler that was itself held up for more
than a second has seen nothing meanwhile: it says so, and its result is not valid.
"""

import itertools
import json
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.rig.api import Api
from tests.rig.build import program
from tests.rig.controlplane import prefer

ROOT = Path(__file__).parents[2]
LONGEST_GAP = 1.0
FINISH_WITHIN = 10.0


@dataclass(frozen=True)
class Probe:
    """One request that is sent again and again.

    Attributes:
        name: how the result calls it.
        url: with scheme; https is asked as admin over connections that are kept, http on a new connection
            each time.
        body: sent as JSON.
        status: the status of a right answer.
        expect: texts that stand in the body of a right answer.
    """

    name: str
    url: str
    method: str = "GET"
    body: Any = None
    status: int = 200
    expect: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sample:
    """One sample: when it was due and sent (seconds since the epoch), how long it took, why it was lost."""

    probe: str
    due: float
    sent: float
    seconds: float
    lost: str | None


@dataclass(frozen=True)
class Result:
    """What a sampler saw.

    Attributes:
        taken: every sample, in the order in which they were due.
        stalls: the seconds by which the sampler itself was late, where that was more than one.
    """

    taken: tuple[Sample, ...]
    probes: tuple[str, ...]

    @property
    def samples(self) -> int:
        """How many samples were taken, over all probes."""
        return len(self.taken)

    @property
    def losses(self) -> list[Sample]:
        """The samples that were lost."""
        return [sample for sample in self.taken if sample.lost is not None]

    @property
    def lost(self) -> int:
        """How many were lost."""
        return len(self.losses)

    @property
    def by_probe(self) -> dict[str, tuple[int, int]]:
        """Samples taken and lost, by the probe's name."""
        taken = Counter(sample.probe for sample in self.taken)
        lost = Counter(sample.probe for sample in self.losses)
        return {name: (taken[name], lost[name]) for name in self.probes}

    @cached_property
    def stalls(self) -> list[float]:
        """The gaps between two samples of one probe, in seconds, that were longer than one second."""
        gaps: list[float] = []
        for name in self.probes:
            sent = sorted(sample.sent for sample in self.taken if sample.probe == name)
            gaps += [late - early for early, late in itertools.pairwise(sent) if late - early > LONGEST_GAP]
        return gaps

    @property
    def valid(self) -> bool:
        """Whether the sampler saw all of the time: every probe was sampled, without a stall."""
        return bool(self.probes) and not self.stalls and all(taken for taken, _lost in self.by_probe.values())

    def __str__(self) -> str:
        rows = [f"{name}: {taken} samples, {lost} lost" for name, (taken, lost) in self.by_probe.items()]
        reasons = Counter((loss.probe, loss.lost) for loss in self.losses)
        rows += [f"  {count} x {probe}: {reason}" for (probe, reason), count in reasons.most_common(20)]
        rows += (
            [f"  NOT VALID, stalled for {', '.join(f'{gap:.1f} s' for gap in self.stalls)}"]
            if self.stalls
            else []
        )
        return "\n".join(rows)


@dataclass
class Sampler:
    """A sampler process; samples between entering and leaving it."""

    folder: Path
    api: Api
    probes: tuple[Probe, ...]
    interval: float = 0.1
    result: Result = field(default=Result((), ()))
    _process: subprocess.Popen[bytes] | None = None
    _file: Path = Path()

    def __enter__(self) -> Self:
        self._file = self.folder / f"samples-{time.monotonic_ns()}.jsonl"
        setting = {
            "token": self.api.token,
            "ca": self.api.ca.decode(),
            "interval": self.interval,
            "probes": [asdict(probe) for probe in self.probes],
        }
        command = [program("setpriv"), "--pdeathsig", "KILL", sys.executable, "-m", "tests.rig.sampling"]
        with self._file.open("wb") as out:
            self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=out)
        prefer(self._process.pid)
        self._write(json.dumps(setting).encode() + b"\n")
        self.wait_samples(1)
        return self

    @property
    def pid(self) -> int | None:
        """The sampler's process id; None before it was started."""
        return self._process.pid if self._process else None

    def _write(self, line: bytes) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def so_far(self) -> Result:
        """Return what has been seen until now."""
        lines = self._file.read_text().splitlines(keepends=True)
        taken = [Sample(**json.loads(line)) for line in lines if line.endswith("\n")]
        names = tuple(probe.name for probe in self.probes)
        return Result(tuple(sorted(taken, key=lambda sample: sample.due)), names)

    def wait_samples(self, count: int, timeout: float = 120) -> Result:
        """Wait until every probe has been sampled so often; raise TimeoutError, RuntimeError when it died."""
        deadline = time.monotonic() + timeout
        while True:
            seen = self.so_far()
            if all(taken >= count for taken, _lost in seen.by_probe.values()):
                return seen
            if self._process is None or self._process.poll() is not None:
                raise RuntimeError("the sampler has ended")
            if time.monotonic() > deadline:
                raise TimeoutError(f"not {count} samples of each probe within {timeout:g} s: {seen}")
            time.sleep(
                max(0.05, (count - min(taken for taken, _ in seen.by_probe.values())) * self.interval / 2)
            )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is None:
            return
        # The end of its input tells it to stop; samples under way are waited for.
        self._process.communicate(timeout=FINISH_WITHIN)
        code = self._process.returncode
        self.result = self.so_far()
        if code != 0 and error is None:
            raise RuntimeError(f"the sampler ended with {code}")
