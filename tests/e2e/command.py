"""The command `trapeze` as a process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from agent.core.prediction import Prediction, prediction_of

ROOT = Path(__file__).parents[2]


def trapeze(config: Path, *words: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """Run a command of trapeze with a configuration, in the network of the tests."""
    command = [sys.executable, "-m", "agent", *words, "--config", str(config)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False)


def foretold(config: Path, base: str, head: str, *words: str, timeout: float = 120) -> Prediction:
    """What `trapeze rehearse` says of the way between two revisions, as far as a plain history goes."""
    way = ("--base", base, "--head", head, "--budget", "1", "--output", "json")
    done = trapeze(config, "rehearse", *way, *words, timeout=timeout)
    if not done.stdout:
        raise AssertionError(done.stderr)
    return prediction_of(json.loads(done.stdout))
