"""The levers as people pull them: what each command says, and that status and history show it."""

from __future__ import annotations

import json

import pytest

from tests.cli_place import Place, Run
from tests.shell.releases import binding, namespace, server

OLD = {"a.yaml": namespace("old"), "b.yaml": server("old"), "c.yaml": binding("old")}
NEW = {"a.yaml": namespace("new"), "b.yaml": server("new"), "c.yaml": binding("new")}


@pytest.fixture
def moved(place: Place, trapeze: Run) -> Place:
    """The move to another namespace, as far as it goes without a person."""
    place.repo.commit(OLD)
    assert trapeze("sync", "--until-done").code == 0
    place.repo.commit(NEW)
    ran = trapeze("sync", "--until-done", "--timeout", "3600")
    assert ran.code == 3
    assert "only a person can act: delete Namespace old: needs approval" in ran.err
    assert "`trapeze approve set-1 'delete Namespace old'`" in ran.err
    return place


def test_the_command_of_the_hold_is_the_one_that_ends_it(moved: Place, trapeze: Run) -> None:
    ran = trapeze("approve", "set-1", "delete Namespace old", "--reason", "reviewed")
    user = moved.world.whoami()
    assert (ran.code, ran.out) == (0, f"set set-1: approve 'delete Namespace old': reviewed, by {user}\n")
    assert trapeze("sync", "--until-done").code == 0
    told = trapeze("history").out
    assert "generation 1 (" in told
    assert f"approve 'delete Namespace old': reviewed, by {user}" in told
    assert "pruned Namespace old of generation 1" in told
    assert told.index("in service") < told.index("approve") < told.index("pruned Namespace old")
    shown = json.loads(trapeze("history", "set-1", "-o", "json").out)["sets"][0]
    assert [act["kind"] for act in shown["acts"]] == ["approve"]
    assert {"kind": "Namespace", "name": "old"}.items() <= shown["pruned"][-1].items()
    assert "| pruned Namespace old of generation 1 |" in trapeze("history", "-o", "markdown").out


def test_status_says_what_people_decided_and_how_to_lift_it(moved: Place, trapeze: Run) -> None:
    assert trapeze("suspend", "set-1", "-r", "audit").code == 0
    assert trapeze("abort", "set-1").out.startswith("set set-1: abort to generation 1 (")
    ran = trapeze("sync", "--until-done")
    assert ran.code == 3
    assert f"suspended by {moved.world.whoami()}: audit; `trapeze resume set-1`" in ran.err
    told = " ".join(trapeze("status").out.split())
    assert "suspend: audit, by" in told
    assert "`trapeze resume set-1`" in told
    assert "abort to generation 1" in told
    assert "`trapeze unpin set-1`" in told
    shown = json.loads(trapeze("status", "-o", "json").out)["sets"][0]
    assert (shown["suspended"]["reason"], shown["pinned"]["generation"]) == ("audit", 1)
    assert trapeze("resume", "set-1").code == 0
    assert "`trapeze approve set-1 'delete Namespace new'`" in trapeze("sync", "--until-done").err
    assert trapeze("approve", "set-1", "delete Namespace new").code == 0
    assert trapeze("sync", "--until-done").code == 0
    assert json.loads(trapeze("status", "-o", "json").out)["sets"][0]["newest"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("approve", "set-1", "delete Namespace nowhere"), "waiting are: 'delete Namespace old'"),
        (("override", "set-1", "delete Namespace old", "-r", "x", "--gate", "ready"), "closed are: approved"),
        (("rollback", "set-1", "--to", "7"), "has no generation 7; it remembers 1, 2"),
        (("unpin", "set-1"), "is not pinned"),
        (("resume", "set-1"), "is not suspended"),
        (("approve", "set-1", "prunes"), "may be pruned already"),
        (("pin", "set-9"), "no set is called set-9"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value[:2]),
)
def test_what_cannot_be_decided_is_an_error_with_what_can(
    moved: Place, trapeze: Run, words: tuple[str, ...], said: str
) -> None:
    before = moved.world.world.version
    ran = trapeze(*words)
    assert (ran.code, ran.out) == (1, "")
    assert said in ran.err
    assert moved.world.world.version == before


def test_an_override_wants_a_reason(moved: Place, trapeze: Run) -> None:
    assert moved.folder.exists()
    assert trapeze("override", "set-1", "delete Namespace old").code == 1
    ran = trapeze("override", "set-1", "delete Namespace old", "--gate", "approved", "-r", "empty")
    assert ran.out.startswith("set set-1: override 'delete Namespace old', gate approved: empty, by")
    assert trapeze("sync", "--until-done").code == 0
