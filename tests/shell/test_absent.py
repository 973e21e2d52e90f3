"""``state: absent``: a set goes whole, in reverse order, from wherever it stands."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from agent.shell.report import State
from tests.shell.faults import Hooked, Kill, Killed, Note
from tests.shell.job import reasons
from tests.shell.neighbours import Town
from tests.shell.releases import CONFIG, ingress, namespace, web

FRONT = namespace("front")
BLUE = (FRONT, web("blue"), ingress("front/blue"), CONFIG % "blue")
GREEN = (FRONT, web("green"), ingress("front/green"), CONFIG % "green")


def left(town: Town) -> set[str]:
    """What stands under a set's label, and what of the ledgers is left."""
    objects = town.world.world.objects()
    labels = {key: body["metadata"].get("labels") or {} for key, body in objects.items()}
    return {str(key) for key, has in labels.items() if {"trapeze.dev/set", "trapeze.dev/ledger"} & has.keys()}


def test_a_set_goes_whole_users_before_what_they_use_and_leaves_nothing() -> None:
    town = Town().add("shop", *BLUE)
    town.run()
    town.say("shop", is_absent=True)
    written = town.run()
    order = ["Ingress front/front", "Service front/blue", "Deployment front/blue", "Namespace front"]
    places = [written.index(f"delete {key}") for key in order]
    assert places == sorted(places)
    assert len(written) == 5
    assert left(town) == set()
    assert town.tick("shop").state is State.ABSENT


def test_a_set_that_never_stood_is_absent_without_a_write() -> None:
    note = Note()
    town = Town(wrap=lambda cluster: Hooked(cluster, note)).add("shop", *BLUE, is_absent=True)
    assert town.tick("shop").state is State.ABSENT
    assert note.count("apply", "create", "replace", "delete") == 0


def test_neither_repo_nor_ref_is_needed() -> None:
    town = Town().add("shop", CONFIG % "red")
    town.run()
    town.gits["shop"].commits.clear()
    town.say("shop", is_absent=True)
    assert town.run() == ["delete ConfigMap default/settings"]
    assert left(town) == set()


@pytest.mark.parametrize("ticks", [1, 3, 5])
def test_in_the_middle_of_a_handoff_both_generations_go_once(ticks: int) -> None:
    town = Town().add("shop", *BLUE)
    town.run()
    town.release("shop", *GREEN)
    for _ in range(ticks):
        town.tick("shop")
    town.say("shop", is_absent=True)
    written = town.run()
    deletes = [key for key in written if key.startswith("delete")]
    assert len(deletes) == len(set(deletes))
    assert {"delete Deployment front/blue", "delete Deployment front/green"} <= {*town.written}
    assert left(town) == set()


def test_a_set_that_comes_back_begins_anew() -> None:
    town = Town().add("shop", *BLUE)
    town.run()
    town.say("shop", is_absent=True)
    town.run()
    town.say("shop", is_absent=False)
    assert "create Namespace front" in town.run()
    assert [g.number for g in town.ledger("shop").generations] == [1]


def test_what_takes_data_along_still_needs_a_person() -> None:
    town = Town().add("shop", FRONT, CONFIG % "red", allow=frozenset())
    town.run()
    town.say("shop", is_absent=True)
    for _ in range(5):
        town.tick("shop")
    assert "needs approval" in reasons(town.plan("shop"), "delete Namespace front")
    assert town.get("ConfigMap", "default/settings") is None


def test_a_set_stays_while_another_one_that_depends_on_it_stands() -> None:
    town = Town().add("base", FRONT, dependents=("top",)).add("top", CONFIG % "red", depends_on=("base",))
    town.run()
    town.say("base", is_absent=True)
    town.tick("base")
    said = reasons(town.plan("base"), "delete Namespace front")
    assert "set top depends on it, and still has 1 objects" in said
    town.say("top", is_absent=True)
    assert town.run() == ["delete ConfigMap default/settings", "delete Namespace front"]


def test_what_another_set_shares_is_left_to_it() -> None:
    town = Town().add("shop", FRONT, CONFIG % "red").add("other", FRONT)
    town.run()
    town.say("shop", is_absent=True)
    assert town.run() == ["delete ConfigMap default/settings", "update Namespace front"]
    assert town.owner("Namespace", "front") == "other"
    assert town.ledger("shop").entries == {}


API = Path(__file__).parents[1] / "rig" / "manifests" / "aggregated.yaml"


def test_an_api_goes_with_its_set_also_when_it_answers_no_more() -> None:
    allowed = frozenset({"Namespace", "CustomResourceDefinition"})
    town = Town().add("api", API.read_text(), allow=allowed)
    town.run()
    resource = next(r for r in town.world.discover().resources.values() if r.kind.kind == "Deployment")
    metadata = {"name": "server", "namespace": "ext"}
    idle = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {"replicas": 0}}
    town.world.apply(resource, idle, manager="somebody", take_over=True)
    town.world.advance(60)
    assert town.world.discover().failed
    town.say("api", is_absent=True)
    written = town.run()
    assert written[-1] == "delete Namespace ext"
    assert left(town) == set()
    assert town.world.discover().failed == {}


def removal(kill: Kill) -> Town:
    """A set that shall go in the middle of a handoff, up to where its process is killed."""
    town = Town().add("shop", *BLUE)
    town.run()
    town.release("shop", *GREEN)
    town.tick("shop")
    town.say("shop", is_absent=True)
    town.wrap = lambda cluster: Hooked(cluster, kill)
    with suppress(Killed):
        for _ in range(12):
            town.tick("shop")
    town.wrap = lambda cluster: cluster
    return town


@pytest.mark.parametrize("is_done", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", [1, 2, 7, 12, 20])
def test_killed_at_a_write_the_removal_goes_on_to_the_same_end(at: int, *, is_done: bool) -> None:
    kill = Kill(at, is_done)
    town = removal(kill)
    assert kill.is_dead
    town.run()
    assert left(town) == set()


@pytest.mark.slow
@pytest.mark.parametrize("is_done", [False, True], ids=["before", "after"])
def test_killed_at_every_write_the_removal_goes_on_to_the_same_end(*, is_done: bool) -> None:
    for at in count(1):
        kill = Kill(at, is_done)
        town = removal(kill)
        if not kill.is_dead:
            break
        town.run()
        assert left(town) == set(), f"killed at write {at}"
    assert at > 20
