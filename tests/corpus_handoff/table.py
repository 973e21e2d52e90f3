"""The table of the upgrades: a file for each, so that every worker adds its own; build/handoffs.md."""

from __future__ import annotations

import json
from pathlib import Path

from agent.core.prediction import differences
from tests.corpus_handoff.handoff import Came

BUILD = Path(__file__).parents[2] / "build"
TITLES = (
    "upgrade",
    "states",
    "broken",
    "interrupted as announced",
    "samples",
    "lost",
    "lost as announced",
    "paths",
    "lowest",
    "lowest foretold",
    "otherwise than foretold",
    "downtime allowed",
    "held for a person",
    "leftovers",
    "s",
)
HEAD = f"| {' | '.join(TITLES)} |\n|{'---|' * len(TITLES)}\n"


def note(upgrade: str, came: Came) -> None:
    """Put an upgrade's figures into the table; a later run replaces them."""
    rows = BUILD / "handoffs"
    rows.mkdir(parents=True, exist_ok=True)
    verdict = came.verdict
    lowest = min(((p.lowest or 0, p.of) for p in verdict.paths if p.of), default=None)
    cells = (
        upgrade,
        verdict.states,
        verdict.broken_states,
        came.interrupted,
        came.samples.samples,
        len(came.lost),
        came.samples.lost - len(came.lost),
        len(verdict.paths),
        f"{lowest[0]} of {lowest[1]}" if lowest else "",
        min((count for count in came.foretold.lowest.values() if count is not None), default=""),
        "; ".join(map(str, differences(verdict, came.foretold))),
        ", ".join(came.allowed),
        "; ".join(came.held)[:300],
        len(came.leftovers),
        round(came.seconds),
    )
    path = rows / f"{upgrade.replace(' ', '-')}.json"
    path.write_text(json.dumps(cells))
    every = [json.loads(one.read_text()) for one in sorted(rows.glob("*.json"))]
    lines = [f"| {' | '.join(str(cell).replace('|', '/') for cell in row)} |\n" for row in every]
    (BUILD / "handoffs.md").write_text(HEAD + "".join(lines))
