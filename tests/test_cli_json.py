"""What each command prints for programs is what the published schema says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agent.core.acts import ActKind
from agent.core.adoption import Match
from agent.core.ledger import GenerationState
from agent.core.model import Severity
from tests.cli_place import Place, Ran, Run
from tests.shell.releases import CONFIG, binding, namespace, server

DOCS = Path(__file__).parents[1] / "docs"
OLD = {
    "a.yaml": namespace("old"),
    "b.yaml": server("old"),
    "c.yaml": binding("old"),
    "d.yaml": CONFIG % "red",
}
NEW = {"a.yaml": namespace("new"), "b.yaml": server("new"), "c.yaml": binding("new")}
GONE = "delete Namespace old"


def schema(name: str) -> Any:
    return json.loads((DOCS / f"{name}.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def moved(place: Place, trapeze: Run) -> Place:
    """A set with two generations, one that retires, and something of every decision."""
    place.repo.commit(OLD)
    assert trapeze("adopt", "set-1", "--revision", "main").code == 3
    assert trapeze("adopt", "set-1", "--undo").code == 0
    assert trapeze("sync", "--until-done").code == 0
    place.repo.commit(NEW)
    assert trapeze("sync", "--until-done", "--timeout", "3600").code == 3
    for words in (
        ("approve", "set-1", GONE),
        ("revoke", "set-1", GONE, "-r", "not yet"),
        ("override", "set-1", GONE, "-r", "empty", "--gate", "approved"),
        ("abort", "set-1", "-r", "again"),
        ("unpin", "set-1"),
        ("pin", "set-1"),
        ("suspend", "set-1"),
    ):
        assert trapeze(*words).code == 0
    return place


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("status", ("status",)),
        ("history", ("history",)),
        ("explanation", ("explain", "ClusterRoleBinding", "api-storage")),
        ("explanation", ("explain", "Namespace", "new")),
        ("findings", ("validate",)),
    ],
)
def test_it_fits_its_schema(moved: Place, trapeze: Run, name: str, words: tuple[str, ...]) -> None:
    moved.repo.commit({**NEW, "d.yaml": CONFIG % "red" + "extra: 1\n"})
    assert_fits(name, trapeze(*words, "-o", "json"))


def test_an_adoption_fits_its_schema(place: Place, trapeze: Run) -> None:
    place.repo.commit({"a.yaml": CONFIG % "red"})
    assert_fits("adoption", trapeze("adopt", "set-1", "--revision", "main", "--dry-run", "-o", "json"))


def assert_fits(name: str, ran: Ran) -> None:
    assert ran.err == ""
    Draft202012Validator.check_schema(schema(name))
    assert [
        error.message for error in Draft202012Validator(schema(name)).iter_errors(json.loads(ran.out))
    ] == []


def test_what_was_revoked_opens_nothing_and_is_told_in_history_alone(moved: Place, trapeze: Run) -> None:
    approvals = json.loads(trapeze("status", "-o", "json").out)["sets"][0]["approvals"]
    assert [act["kind"] for act in approvals] == ["override"]
    assert trapeze("revoke", "set-1", GONE).code == 0
    assert f"nothing of '{GONE}' was approved" in trapeze("revoke", "set-1", GONE).err
    told = trapeze("history", "-o", "json").out
    assert [act["kind"] for act in json.loads(told)["sets"][0]["acts"]][-1] == "revoke"
    assert trapeze("resume", "set-1").code == 0
    assert "needs approval" in trapeze("sync", "--until-done", "--timeout", "60").err
    assert "old" in {key.name for key in moved.world.world.objects() if key.kind == "Namespace"}
    assert trapeze("approve", "set-1", GONE).code == 0
    assert trapeze("sync", "--until-done").code == 0
    assert "old" not in {key.name for key in moved.world.world.objects() if key.kind == "Namespace"}


def test_the_schemas_name_every_value_of_our_enums() -> None:
    for name in ("status", "history"):
        definitions = schema(name)["$defs"]
        assert definitions["act"]["properties"]["kind"]["enum"] == [kind.value for kind in ActKind]
        states = definitions["generation"]["properties"]["state"]["enum"]
        assert sorted(states) == sorted(state.value for state in GenerationState)
    match = schema("adoption")["properties"]["objects"]["items"]["properties"]["match"]
    assert match["enum"] == [match.value for match in Match]
    levels = schema("findings")["properties"]["findings"]["items"]["properties"]["level"]["enum"]
    assert len(levels) == len({Severity.WARNING, Severity.OBJECT})
