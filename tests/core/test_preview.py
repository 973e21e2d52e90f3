"""A preview: what an upgrade from one revision to another would do, planned without a cluster."""

from __future__ import annotations

from agent.core.ledger import GenerationState
from agent.core.manifests import load
from agent.core.model import Action, Category, Desired, ObjectId
from agent.core.plan import make_plan
from agent.core.preview import between
from agent.core.situation import Rules
from agent.core.steps import Plan
from agent.core.yamlread import read_documents
from tests.shell.job import HEALTH, KINDS, MANAGER, POLICY, SET
from tests.shell.releases import CONFIG, binding, ingress, namespace, server, web

OLD = (namespace("old"), server("old"), binding("old"))
NEW = (namespace("new"), server("new"), binding("new"))
BLUE = (namespace("front"), web("blue"), ingress("front/blue"))
GREEN = (namespace("front"), web("green"), ingress("front/green"))


def desired(revision: str, *texts: str) -> Desired:
    readings = {f"{n}.yaml": read_documents(text.encode(), f"{n}.yaml") for n, text in enumerate(texts)}
    return load(readings, KINDS, set_name=SET, revision=revision, namespace="default")


def preview(base: tuple[str, ...] | None, head: tuple[str, ...], **rules: frozenset[str]) -> Plan:
    before = None if base is None else desired("one", *base)
    return make_plan(between(before, desired("two", *head), POLICY, HEALTH, Rules(MANAGER, **rules)))  # type: ignore[arg-type]  # the sets of names among the rules


def keys(plan: Plan) -> list[str]:
    return [step.key for step in plan.steps]


def test_first_release_everything_is_made_in_the_order_of_the_table() -> None:
    plan = preview(None, OLD)
    assert keys(plan) == [
        "create Namespace old",
        "create ServiceAccount old/api",
        "create ClusterRoleBinding api-storage",
        "create Service old/api",
        "create Deployment old/api",
    ]
    assert (plan.generation, plan.base_revision, plan.revision) == (1, "", "two")


def test_subject_move_widens_first_and_prunes_users_before_what_they_use() -> None:
    plan = preview(OLD, NEW)
    assert keys(plan) == [
        "create Namespace new",
        "create ServiceAccount new/api",
        "widen ClusterRoleBinding api-storage",
        "create Service new/api",
        "create Deployment new/api",
        "delete Service old/api",
        "delete Deployment old/api",
        "delete ServiceAccount old/api",
        "narrow ClusterRoleBinding api-storage",
        "delete Namespace old",
    ]
    assert (plan.generation, plan.base_revision) == (2, "one")


def test_pointer_moves_after_its_new_backend_and_before_the_old_one_goes() -> None:
    assert keys(preview(BLUE, GREEN)) == [
        "create Service front/green",
        "create Deployment front/green",
        "cutover Ingress front/front",
        "delete Service front/blue",
        "delete Deployment front/blue",
    ]


def test_the_same_content_is_no_plan_at_all() -> None:
    plan = preview(BLUE, BLUE)
    assert (plan.steps, plan.changes, plan.unchanged) == ((), (), 4)


def test_a_namespace_needs_a_person_unless_the_set_allows_it() -> None:
    assert preview(OLD, NEW).needs_a_person
    assert not preview(OLD, NEW, allow=frozenset({"Namespace old"})).needs_a_person
    assert not preview(OLD, NEW, allow=frozenset({"Namespace"})).needs_a_person


def test_nothing_is_said_to_belong_to_others_or_to_be_unserved() -> None:
    thing = "apiVersion: example.test/v1\nkind: Thing\nmetadata: {name: a, namespace: nowhere}\n"
    plan = preview(OLD, (*NEW, thing))
    assert plan.warnings == ()
    assert [f for f in plan.findings if "serves no" in f.message] == []


def test_every_field_that_differs_is_told_with_its_category() -> None:
    plan = preview((CONFIG % "red",), (CONFIG % "blue",))
    (change,) = plan.changes
    assert (change.id, change.action) == (ObjectId("", "ConfigMap", "default", "settings"), Action.UPDATE)
    assert [str(field) for field in change.fields] == ["data.colour: 'red' -> 'blue' (git)"]
    assert change.category is Category.ADDITIVE


def test_the_base_revision_is_in_service_until_the_head_is() -> None:
    ledger = between(desired("one", *OLD), desired("two", *NEW), POLICY, HEALTH, Rules(MANAGER)).ledger
    assert [(g.number, g.state) for g in ledger.generations] == [
        (1, GenerationState.RETIRING),
        (2, GenerationState.ROLLING_OUT),
    ]
    assert all(entry.uid for entry in ledger.entries.values())
