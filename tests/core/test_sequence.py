"""The order of steps: added first, then what unblocks, moves, what goes, namespaces at the end."""

from __future__ import annotations

from agent.core.model import Category, Form, ObjectId
from agent.core.sequence import in_order
from agent.core.steps import Step, Verb
from tests.core.scenes import FRONT, app, ingress, pod_of, running, scene, workload

SPACE = ObjectId("", "Namespace", "", "shop")
CONFIG = ObjectId("", "ConfigMap", "shop", "settings")
ACCOUNT = ObjectId("", "ServiceAccount", "shop", "old")
BLUE = ObjectId("apps", "Deployment", "shop", "blue")
SERVICE = ObjectId("", "Service", "shop", "blue")


def step(verb: Verb, key: ObjectId) -> Step:
    return Step(key, verb, Category.ADDITIVE, Form.FINAL, "")


def ordered(*steps: Step) -> list[str]:
    """The keys of the steps in their order, where an Ingress leads to the Service of a Deployment."""
    text = app("blue") + ingress("blue")
    return [one.key for one in in_order(scene(text, text, *running("blue")), reversed(steps))]


def test_kinds_of_steps_follow_each_other() -> None:
    steps = (
        step(Verb.CREATE, CONFIG),
        step(Verb.CUTOVER, FRONT),
        step(Verb.DELETE, ACCOUNT),
        step(Verb.DELETE, SPACE),
    )
    assert ordered(*steps) == [one.key for one in steps]


def test_what_is_made_goes_by_the_order_table() -> None:
    steps = (step(Verb.CREATE, SPACE), step(Verb.CREATE, ACCOUNT), step(Verb.CREATE, BLUE))
    assert ordered(*steps) == [one.key for one in steps]


def test_users_go_before_what_they_use() -> None:
    steps = (step(Verb.DELETE, FRONT), step(Verb.DELETE, SERVICE), step(Verb.DELETE, BLUE))
    assert ordered(*steps) == [one.key for one in steps]


def test_a_circle_of_references_ends_all_the_same() -> None:
    pods = []
    for name, owner in (("a", "b"), ("b", "a")):
        ref = {"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": f"Pod-shop-{owner}"}
        pods.append(pod_of(workload(), name, ownerReferences=[ref]))
    steps = [step(Verb.DELETE, ObjectId("", "Pod", "shop", name)) for name in ("a", "b")]
    found = in_order(scene("", "", *pods), steps)
    assert sorted(each.key for each in found) == ["delete Pod shop/a", "delete Pod shop/b"]
