"""The command `trapeze` as a process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def trapeze(config: Path, *words: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """Run a command of trapeze with a configuration, in the network of the tests."""
    command = [sys.executable, "-m", "agent", *words, "--config", str(config)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False)
