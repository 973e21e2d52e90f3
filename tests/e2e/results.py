"""The table of what the scenarios came to: rows as files, so that every worker adds its own; build/e2e.md."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from typing import Any

from agent.core.promise import Verdict
from tests.rig.sampler import Result

BUILD = Path(__file__).parents[2] / "build"
HEAD = "| scenario | samples | lost | states | broken states | naive lost |\n|---|---|---|---|---|---|\n"


def note(scenario: str, result: Result, verdict: Verdict | None = None, *, naive: bool = False) -> None:
    """Put a scenario's figures into the table; a later run of it replaces them."""
    rows = BUILD / "e2e"
    rows.mkdir(parents=True, exist_ok=True)
    with (rows / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = rows / f"{scenario.replace(' ', '-')}.json"
        row = json.loads(path.read_text()) if path.exists() else {}
        row |= {"scenario": scenario}
        if naive:
            row |= {"naive": f"{result.lost} of {result.samples}"}
        else:
            row |= {"samples": result.samples, "lost": result.lost}
            row |= {"states": verdict.states, "broken": verdict.broken_states} if verdict else {}
        path.write_text(json.dumps(row))
        (BUILD / "e2e.md").write_text(HEAD + "".join(_line(row) for row in _all(rows)))


def _all(rows: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(rows.glob("*.json"))]


def _line(row: dict[str, Any]) -> str:
    cells = [str(row.get(key, "")) for key in ("scenario", "samples", "lost", "states", "broken", "naive")]
    return f"| {' | '.join(cells)} |\n"
