"""The table of what the scenarios came to: rows as files, so that every worker adds its own; build/e2e.md."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from typing import Any

from agent.core.prediction import Prediction, differences
from agent.core.promise import Verdict
from tests.rig.sampler import Result

BUILD = Path(__file__).parents[2] / "build"
COLUMNS = (
    "scenario",
    "samples",
    "lost",
    "states",
    "broken states",
    "lowest foretold, recorded",
    "naive lost",
    "naive lowest foretold, recorded",
)
HEAD = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|\n"


def note(
    scenario: str,
    result: Result,
    verdict: Verdict | None = None,
    foretold: Prediction | None = None,
    *,
    naive: bool = False,
) -> None:
    """Put a scenario's figures into the table; a later run of it replaces them."""
    rows = BUILD / "e2e"
    rows.mkdir(parents=True, exist_ok=True)
    with (rows / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = rows / f"{scenario.replace(' ', '-')}.json"
        row = json.loads(path.read_text()) if path.exists() else {}
        row |= {"scenario": scenario}
        if naive:
            row |= {"naive lost": f"{result.lost} of {result.samples}"}
        else:
            row |= {"samples": result.samples, "lost": result.lost}
            row |= {"states": verdict.states, "broken states": verdict.broken_states} if verdict else {}
        if verdict and foretold:
            column = "naive lowest foretold, recorded" if naive else "lowest foretold, recorded"
            row[column] = _side_by_side(verdict, foretold)
        path.write_text(json.dumps(row))
        (BUILD / "e2e.md").write_text(HEAD + "".join(_line(row) for row in _all(rows)))


def _all(rows: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(rows.glob("*.json"))]


def _line(row: dict[str, Any]) -> str:
    return f"| {' | '.join(str(row.get(column, '')) for column in COLUMNS)} |\n"


def _side_by_side(verdict: Verdict, foretold: Prediction) -> str:
    """The fewest endpoints of any path that the rehearsal knows: foretold, and recorded."""
    recorded = [path.lowest for path in verdict.paths if path.name in foretold.lowest]
    said = min((count for count in foretold.lowest.values() if count is not None), default=None)
    seen = min((count for count in recorded if count is not None), default=None)
    return f"{said}, {seen}; {len(differences(verdict, foretold))} differences"
