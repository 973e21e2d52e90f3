"""What is made new waits for its kind, its namespace and, where it points, for its backend."""

from __future__ import annotations

from dataclasses import replace

from agent.core.creation import Creation
from agent.core.model import GroupKind, ObjectId
from agent.core.situation import Situation
from agent.core.steps import GateState
from tests.core.histories import deleting, obj
from tests.core.scenes import FRONT, app, gates, ingress, running, said, scene, unread

CONFIG = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
"""
SETTINGS = ObjectId("", "ConfigMap", "shop", "settings")
SPACE = obj("v1", "Namespace", "shop")


def waits(situation: Situation, key: ObjectId = SETTINGS, *, is_pointer: bool = False) -> list[str]:
    """What the closed gates of the create say."""
    made = Creation(gates(situation)).of(situation.desired.manifests[key], is_pointer=is_pointer)
    return [said(gate) for gate in made if not gate.is_open]


def unserved(situation: Situation, kind: GroupKind) -> Situation:
    return replace(situation, live=replace(situation.live, unserved=frozenset({kind})))


def test_in_a_namespace_that_stands_nothing_is_waited_for() -> None:
    assert waits(scene("", CONFIG, SPACE)) == []


def test_a_namespace_that_the_set_brings_needs_not_stand_yet() -> None:
    brought = CONFIG + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
    assert waits(scene("", brought)) == []


def test_a_namespace_that_nobody_brings_holds_and_is_told() -> None:
    situation = scene("", CONFIG)
    assert waits(situation) == ["held housed: namespace shop does not exist"]
    (finding,) = Creation(gates(situation)).findings()
    assert finding.message == "namespace shop does not exist, wanted by ConfigMap shop/settings"
    assert list(Creation(gates(replace(situation, is_observed=False))).findings()) == []


def test_a_namespace_that_is_going_or_unknown_holds() -> None:
    assert waits(scene("", CONFIG, deleting(SPACE))) == ["held housed: namespace shop is being deleted"]
    blind = unread(scene("", CONFIG), "Namespace")
    assert waits(blind) == ["unknown housed: Namespace: the server answers 503"]


def test_a_kind_that_is_not_served_or_not_known_holds() -> None:
    kind = GroupKind("", "ConfigMap")
    situation = unserved(scene("", CONFIG, SPACE), kind)
    assert waits(situation) == ["held served: ConfigMap is not served yet"]
    assert "the cluster serves no ConfigMap" in next(Creation(gates(situation)).findings()).message
    blind = unread(scene("", CONFIG, SPACE), "ConfigMap")
    assert waits(blind) == ["unknown served: ConfigMap: the server answers 503"]


def test_a_new_pointer_waits_for_a_backend_that_is_used() -> None:
    text = app("green") + ingress("green")
    ready = scene("", text, SPACE, *running("green"))
    assert waits(ready, FRONT, is_pointer=True) == []
    absent = scene("", text, SPACE)
    held = "held serves: Service shop/green: Service shop/green does not exist"
    assert waits(absent, FRONT, is_pointer=True) == [held]
    assert waits(absent, FRONT) == [], "what points nowhere yet waits for nothing"
    blind = unread(ready, "Pod")
    assert waits(blind, FRONT, is_pointer=True)[0].startswith(GateState.UNKNOWN.value)
