"""Several sets of one cluster: what they share, hand over, wait for and hold."""

from __future__ import annotations

from tests.shell.job import reasons
from tests.shell.neighbours import Town
from tests.shell.releases import CONFIG, namespace, web

FRONT = namespace("front")


def config(name: str, colour: str = "red") -> str:
    return (CONFIG % colour).replace("settings", name)


def uid(town: Town, name: str) -> str:
    body = town.get("ConfigMap", f"default/{name}")
    assert body is not None
    return str(body["metadata"]["uid"])


def test_an_object_that_two_sets_want_alike_is_shared_and_written_once() -> None:
    town = Town().add("one", config("both")).add("two", config("both"), config("own"))
    assert town.run() == ["create ConfigMap default/both", "create ConfigMap default/own"]
    assert (town.members("one"), town.members("two")) == ({"both"}, {"both", "own"})
    assert town.owner("ConfigMap", "default/both") == "one"
    assert town.run() == []


def test_a_shared_object_outlives_the_set_that_wrote_it_and_that_set_alone_shares_it_out() -> None:
    town = Town().add("one", config("both"), config("own")).add("two", config("both"))
    town.run()
    before = uid(town, "both")
    town.release("one", config("own"))
    assert "ConfigMap default/both is left to set two" in town.plan("one").warnings
    assert town.run() == ["update ConfigMap default/both"]
    assert uid(town, "both") == before
    assert town.owner("ConfigMap", "default/both") == "two"
    assert (town.members("one"), town.members("two")) == ({"own"}, {"both"})
    town.release("two", config("other"))
    assert town.run() == ["create ConfigMap default/other", "delete ConfigMap default/both"]


def test_a_set_that_only_shares_an_object_leaves_it_to_the_one_that_wrote_it() -> None:
    town = Town().add("one", config("both")).add("two", config("both"), config("own"))
    town.run()
    town.release("two", config("own"))
    assert town.run() == []
    assert town.owner("ConfigMap", "default/both") == "one"
    assert town.members("two") == {"own"}


def test_an_object_that_both_sets_want_no_more_goes_once() -> None:
    town = Town().add("one", config("both"), config("a")).add("two", config("both"), config("b"))
    town.run()
    town.release("one", config("a"))
    town.release("two", config("b"))
    assert town.run() == ["delete ConfigMap default/both"]
    assert (town.members("one"), town.members("two")) == ({"a"}, {"b"})


def test_of_two_sets_that_want_it_otherwise_the_later_holds_and_both_are_named() -> None:
    town = Town().add("one", config("both", "red")).add("two", config("both", "blue"), config("own"))
    town.run("one")
    for _ in range(3):
        town.tick("two")
    plan = town.plan("two")
    said = reasons(plan, "update ConfigMap default/both")
    assert "set one has it, and set two wants it otherwise" in said
    assert plan.needs_a_person
    body = town.get("ConfigMap", "default/both")
    assert body is not None
    assert body["data"] == {"colour": "red"}
    assert town.get("ConfigMap", "default/own") is not None


def test_where_neither_has_made_it_the_set_that_is_configured_first_makes_it() -> None:
    town = Town().add("one", config("both", "red")).add("two", config("both", "blue"))
    town.tick("two")
    assert "set one wants it too" in reasons(town.plan("two"), "create ConfigMap default/both")
    assert town.run("one") == ["create ConfigMap default/both"]


def test_an_object_moved_from_one_set_to_another_is_handed_over_without_a_delete() -> None:
    town = Town().add("one", FRONT, web("blue"), config("moved")).add("two", config("own"))
    town.run()
    before = uid(town, "moved")
    town.release("one", FRONT, web("blue"))
    town.release("two", config("own"), config("moved", "blue"))
    assert town.run() == ["update ConfigMap default/moved"]
    assert (uid(town, "moved"), town.owner("ConfigMap", "default/moved")) == (before, "two")
    assert "moved" not in town.members("one")
    town.release("two", config("own"), config("moved", "green"))
    assert town.run() == ["update ConfigMap default/moved"]


def test_two_sets_that_swap_their_objects_come_to_rest() -> None:
    town = Town().add("one", config("a")).add("two", config("b"))
    town.run()
    before = {name: uid(town, name) for name in "ab"}
    town.release("one", config("b", "blue"))
    town.release("two", config("a", "blue"))
    assert sorted(town.run()) == ["update ConfigMap default/a", "update ConfigMap default/b"]
    assert {name: uid(town, name) for name in "ab"} == before
    assert (town.members("one"), town.members("two")) == ({"b"}, {"a"})


def test_a_successor_that_is_itself_going_protects_nothing() -> None:
    town = Town().add("one", config("both"), config("a")).add("two", config("both"), config("b"))
    town.run()
    town.say("two", is_absent=True)
    town.release("one", config("a"))
    written = town.run()
    assert sorted(written) == ["delete ConfigMap default/b", "delete ConfigMap default/both"]


def test_nothing_goes_while_it_is_not_known_what_another_set_wants() -> None:
    town = Town().add("one", config("a"), config("b")).add("two", config("c"))
    town.run()
    head = town.release("two", config("c"), config("a"))
    town.gits["two"].unreadable.add(head)
    town.release("one", config("b"))
    for _ in range(3):
        town.tick("one")
    assert "others: set two: the path does not exist" in reasons(
        town.plan("one"), "delete ConfigMap default/a"
    )
    town.gits["two"].unreadable.clear()
    town.run()
    assert town.owner("ConfigMap", "default/a") == "two"


def test_a_successor_that_comes_in_the_middle_of_the_deletes_is_seen_before_the_next_one() -> None:
    town = Town().add("one", config("a"), config("b"), config("c")).add("two", config("other"))
    town.run()
    town.release("one", config("a"))
    town.heard = lambda: town.release("two", config("other"), config("c"))
    town.tick("one")
    assert town.get("ConfigMap", "default/b") is None
    town.run()
    assert town.owner("ConfigMap", "default/c") == "two"


def test_a_newer_commit_that_comes_in_the_middle_of_the_deletes_saves_what_it_names() -> None:
    town = Town().add("one", config("a"), config("b"), config("c"))
    town.run()
    before = uid(town, "c")
    town.release("one", config("a"))
    town.heard = lambda: town.release("one", config("a"), config("c"))
    town.tick("one")
    town.run()
    assert uid(town, "c") == before
    assert town.get("ConfigMap", "default/b") is None


def test_a_set_under_a_new_name_goes_on_with_what_stands_and_writes_nothing_but_its_label() -> None:
    town = Town().add("old", FRONT, web("blue"), config("x"))
    town.run()
    before = uid(town, "x")
    town.forget("old")
    town.add("new", FRONT, web("blue"), config("x", "blue"), formerly=frozenset({"old"}))
    written = town.run()
    assert not [key for key in written if not key.startswith("update")]
    assert (uid(town, "x"), town.owner("ConfigMap", "default/x")) == (before, "new")
    assert town.members("old") == set()
    town.release("new", FRONT, web("blue"))
    assert town.run() == ["delete ConfigMap default/x"]


def test_under_a_new_name_that_does_not_say_so_nothing_is_deleted_and_the_way_out_is_told() -> None:
    town = Town().add("old", config("x"), config("z"))
    town.run()
    town.forget("old")
    town.add("new", config("x"), config("z"))
    assert town.run() == []
    town.release("new", config("x", "blue"))
    for _ in range(3):
        town.tick("new")
    assert "say formerly: [old]" in reasons(town.plan("new"), "update ConfigMap default/x")
    assert town.get("ConfigMap", "default/z") is not None


def test_a_set_waits_until_those_that_it_depends_on_are_in_service() -> None:
    town = Town().add("base", FRONT, web("blue"))
    town.add("top", config("x"), depends_on=("base",))
    town.tick("top")
    assert "after: set base is not in service: it was never synced" in reasons(
        town.plan("top"), "create ConfigMap default/x"
    )
    town.tick("base")
    assert "generation 1 is rolling-out" in reasons(town.plan("top"), "create ConfigMap default/x")
    assert town.get("ConfigMap", "default/x") is None
    town.run()
    town.release("base", FRONT, web("blue", replicas=3))
    town.release("top", config("x", "blue"))
    assert "is not taken up yet" in reasons(town.plan("top"), "update ConfigMap default/x")
    assert town.run()[-1] == "update ConfigMap default/x"


CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.shop.example}
spec:
  group: shop.example
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
"""
WIDGET = "apiVersion: shop.example/v1\nkind: Widget\nmetadata: {name: w, namespace: default}\n"


def test_a_definition_stays_while_another_set_has_or_wants_objects_of_it() -> None:
    town = Town().add("defs", CRD, config("x"), allow=frozenset({"CustomResourceDefinition"}))
    town.run()
    town.add("uses", WIDGET)
    town.release("defs", config("x"))
    key = "delete CustomResourceDefinition widgets.shop.example"
    assert "set uses wants Widget.shop.example default/w" in reasons(town.plan("defs"), key)
    town.run("uses")
    said = reasons(town.plan("defs"), key)
    assert "Widget.shop.example default/w is there, of set uses" in said
    town.release("uses", config("other"))
    town.run()
    assert town.get("CustomResourceDefinition.apiextensions.k8s.io", "widgets.shop.example") is None
