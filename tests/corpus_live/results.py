"""What each release came to, in build/corpus_live.md: rows as files, so that every worker adds its own."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from typing import Any

from tests.corpus_live.install import Install
from tests.corpus_live.search import Tally

BUILD = Path(__file__).parents[2] / "build"
COLUMNS = (
    "project",
    "version",
    "objects",
    "refused by the server",
    "plan after sync",
    "after a restart",
    "after others",
    "live edits tried",
    "live edits found",
    "Git edits tried",
    "Git edits found",
)
HEAD = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n"


def note(install: Install, **cells: object) -> None:
    """Put figures of a release into the table, by column with ``_`` for spaces; a later run replaces them."""
    rows = BUILD / "corpus_live"
    rows.mkdir(parents=True, exist_ok=True)
    with (rows / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = rows / f"{install.project}-{install.version}.json"
        row = json.loads(path.read_text()) if path.exists() else {}
        row |= {"project": install.project, "version": install.version}
        row |= {name.replace("_", " "): cell for name, cell in cells.items()}
        path.write_text(json.dumps(row))
        (BUILD / "corpus_live.md").write_text(HEAD + "".join(_line(row) for row in _all(rows)))


def note_edits(install: Install, where: str, tally: Tally) -> None:
    """Edits that took effect, and those of them that the plan named as it should."""
    tried = tally.found + len(tally.missed)
    note(install, **{f"{where}_edits_tried": tried, f"{where}_edits_found": tally.found})


def _all(rows: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(rows.glob("*.json"))]


def _line(row: dict[str, Any]) -> str:
    return f"| {' | '.join(str(row.get(column, '')) for column in COLUMNS)} |\n"
