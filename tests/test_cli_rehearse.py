"""A rehearsal beside the plan: in `preview`, of a snapshot and of a live cluster."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.cli_place import Place, Run
from tests.shell.releases import ingress, namespace, web

BLUE = {"a.yaml": namespace("front"), "b.yaml": web("blue"), "c.yaml": ingress("front/blue")}
GREEN = {"a.yaml": namespace("front"), "b.yaml": web("green"), "c.yaml": ingress("front/green")}
DOCS = Path(__file__).parents[1] / "docs"
KEPT = "the promise is kept in all"
LIMIT = 65_536


@pytest.fixture
def upgraded(place: Place, trapeze: Run) -> Place:
    """Release blue in service, release green in Git."""
    place.repo.commit(BLUE)
    assert trapeze("sync", "--until-done").code == 0
    assert trapeze("snapshot", "live.json").code == 0
    place.repo.commit(GREEN)
    return place


@pytest.mark.parametrize("words", [("preview", "--base"), ("preview", "--live", "live.json"), ("plan",)])
def test_the_same_upgrade_is_rehearsed_from_wherever_it_is_planned(
    upgraded: Place, trapeze: Run, words: tuple[str, ...]
) -> None:
    base = upgraded.repo.git("rev-parse", "main~1")
    words = (*words, base) if words[-1] == "--base" else words
    ran = trapeze(*words, "--rehearse")
    assert ran.code == 2
    assert ran.out.index("In this order") < ran.out.index("Rehearsal of set set-1") < ran.out.index(KEPT)
    shown = json.loads(trapeze(*words, "--rehearse", "-o", "json").out)
    for name, value in (("plan", shown), ("rehearsal", shown["rehearsal"])):
        schema = json.loads((DOCS / f"{name}.schema.json").read_text(encoding="utf-8"))
        jsonschema.validate(value, schema)
    assert (shown["rehearsal"]["base"], shown["rehearsal"]["verdict"]) == (base, "kept")
    assert "rehearsal" not in json.loads(trapeze(*words, "-o", "json").out)


def test_a_comment_says_the_verdict_first_and_folds_the_rest(upgraded: Place, trapeze: Run) -> None:
    base = upgraded.repo.git("rev-parse", "main~1")
    told = trapeze("preview", "--base", base, "--rehearse", "-o", "markdown").out
    assert len(told) <= LIMIT
    assert f"**Rehearsed: {KEPT}" in told[:600]
    assert told.index("**In this order**") < told.index("The rehearsal: every serving path, step by step")
    assert "| serving path |" in told
    assert told.count("<details>") == told.count("</details>") == 2


def test_an_order_that_breaks_the_promise_is_not_safe(upgraded: Place, trapeze: Run) -> None:
    base = upgraded.repo.git("rev-parse", "main~1")
    assert trapeze("preview", "--base", base, "--order", "naive").code == 2
    ran = trapeze("preview", "--base", base, "--order", "naive", "--rehearse")
    assert ran.code == 3
    assert "Broken: serving path: Ingress front/front" in ran.out


def test_a_first_release_is_rehearsed_from_nothing(place: Place, trapeze: Run) -> None:
    place.repo.commit(BLUE)
    ran = trapeze("plan", "--rehearse")
    assert ran.code == 2
    assert "Rehearsal of set set-1: nothing to" in ran.out
