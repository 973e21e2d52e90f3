"""A recorded sync and what ``verify`` says of it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.cli_place import Place, Run
from tests.shell.releases import ingress, namespace, web

BLUE = {"a.yaml": namespace("front"), "b.yaml": web("blue"), "c.yaml": ingress("front/blue")}
GREEN = {"a.yaml": namespace("front"), "b.yaml": web("green"), "c.yaml": ingress("front/green")}
SCHEMA = Path(__file__).parents[1] / "docs" / "verdict.schema.json"


def recorded(place: Place, trapeze: Run, order: str) -> str:
    """An upgrade whose pointer moves, recorded while it is carried out in this order."""
    place.repo.commit(BLUE)
    assert trapeze("sync", "--until-done").code == 0
    place.world.advance(30)
    place.repo.commit(GREEN)
    ran = trapeze("sync", "--until-done", "--order", order, "--record", "moves.jsonl.gz")
    assert ran.code == 0, ran.err
    return "moves.jsonl.gz"


def rehearsed(place: Place, trapeze: Run, budget: str) -> None:
    """The same upgrade rehearsed in our order, for ``--predicted foretold.json``."""
    base = place.repo.git("rev-parse", "main~1")
    foretold = trapeze("rehearse", "--base", base, "--budget", budget, "-o", "json")
    assert foretold.code == 0, foretold.err
    (place.folder / "foretold.json").write_text(foretold.out, encoding="utf-8")


def test_a_gated_upgrade_is_verified_from_its_recording_alone(place: Place, trapeze: Run) -> None:
    file = recorded(place, trapeze, "gated")
    (place.folder / "trapeze.yaml").unlink()
    ran = trapeze("verify", file)
    assert (ran.code, ran.err) == (0, "")
    assert "none dropped; lowest capacity" in ran.out
    assert "Ingress front/front" in ran.out


def test_what_the_naive_order_broke_is_told(place: Place, trapeze: Run) -> None:
    file = recorded(place, trapeze, "naive")
    ran = trapeze("verify", file)
    assert ran.code == 3
    assert "pointed too early: Ingress front/front" in ran.out
    shown = json.loads(trapeze("verify", file, "--output", "json").out)
    jsonschema.validate(shown, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert not shown["kept"]
    assert {"pointed too early", "serving path"} <= {broken["invariant"] for broken in shown["broken"]}


def test_as_markdown_every_path_is_a_row(place: Place, trapeze: Run) -> None:
    file = recorded(place, trapeze, "gated")
    lines = trapeze("verify", file, "-o", "markdown").out.splitlines()
    assert lines[0].startswith("**")
    assert "| serving path | lowest | at |" in lines
    assert [line for line in lines if "Service" in line and "2 of 2" in line]


def test_a_path_that_must_keep_more_than_it_ever_had_is_not_held_to_it(place: Place, trapeze: Run) -> None:
    file = recorded(place, trapeze, "gated")
    assert trapeze("verify", file, "--minimum", "2").code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "is empty"), ("{}\n", "no recording"), ("no: json\n", "line 1"), (None, "cannot be read")],
)
def test_a_file_that_is_no_recording_is_one_clear_error(
    place: Place, trapeze: Run, text: str | None, said: str
) -> None:
    if text is not None:
        (place.folder / "other.jsonl").write_text(text, encoding="utf-8")
    ran = trapeze("verify", "other.jsonl")
    assert (ran.code, ran.out) == (1, "")
    assert "other.jsonl" in ran.err
    assert said in ran.err
    assert ran.err.count("\n") == 1


def test_what_a_rehearsal_foretold_stands_beside_what_was_recorded(place: Place, trapeze: Run) -> None:
    file = recorded(place, trapeze, "gated")
    rehearsed(place, trapeze, budget="20")
    ran = trapeze("verify", file, "--predicted", "foretold.json")
    assert (ran.code, ran.err) == (0, "")
    assert "PREDICTED" in ran.out
    assert "as foretold by the rehearsal of" in ran.out
    assert "otherwise" not in ran.out
    shown = json.loads(trapeze("verify", file, "--predicted", "foretold.json", "-o", "json").out)
    jsonschema.validate(shown, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert shown["differences"] == []
    lowest = {path["name"]: path["lowest"] for path in shown["paths"]}
    (front,) = (name for name in lowest if name.startswith("Ingress front/front"))
    assert shown["predicted"]["lowest"][front] == lowest[front] == 2


def test_where_it_went_otherwise_than_foretold_is_told(place: Place, trapeze: Run) -> None:
    file = recorded(place, trapeze, "naive")
    rehearsed(place, trapeze, budget="5")
    lines = trapeze("verify", file, "--predicted", "foretold.json", "-o", "markdown").out.splitlines()
    assert "| serving path | predicted | lowest | at |" in lines
    assert any("at least 2 foretold, 0 recorded" in line for line in lines)


def test_a_file_that_foretells_nothing_is_one_clear_error(place: Place, trapeze: Run) -> None:
    file = recorded(place, trapeze, "gated")
    for text in ("[]", "{}", "no json"):
        (place.folder / "foretold.json").write_text(text, encoding="utf-8")
        ran = trapeze("verify", file, "--predicted", "foretold.json")
        assert (ran.code, ran.out) == (1, "")
        assert "--predicted foretold.json: " in ran.err


def test_a_recording_is_never_overwritten(place: Place, trapeze: Run) -> None:
    file = recorded(place, trapeze, "gated")
    ran = trapeze("sync", "--record", file)
    assert (ran.code, ran.out) == (1, "")
    assert file in ran.err


RECREATED = web("blue").replace("  replicas: 2\n", "  replicas: 2\n  strategy: {type: Recreate}\n")
ALLOWED = {"repo": "repo", "ref": "main", "path": ".", "allow_downtime": ["Deployment front/blue"]}


def test_downtime_that_a_person_allowed_is_foretold_as_announced_and_held_against_nobody(
    place: Place, trapeze: Run
) -> None:
    place.config(ALLOWED)
    place.repo.commit({**BLUE, "b.yaml": RECREATED})
    assert trapeze("sync", "--until-done").code == 0
    place.repo.commit({"b.yaml": RECREATED.replace("standin/http:1", "standin/http:2")})
    base = place.repo.git("rev-parse", "main~1")
    foretold = trapeze("rehearse", "--base", base, "--budget", "50", "-o", "json")
    assert json.loads(foretold.out)["verdict"] == "announced"
    assert "Ingress front/front [shop.example /] may be interrupted: the downtime is allowed" in foretold.out
    (place.folder / "foretold.json").write_text(foretold.out, encoding="utf-8")
    assert trapeze("sync", "--until-done", "--record", "moves.jsonl.gz").code == 0
    ran = trapeze("verify", "moves.jsonl.gz", "--predicted", "foretold.json")
    assert (ran.code, ran.err) == (0, ""), ran.out
