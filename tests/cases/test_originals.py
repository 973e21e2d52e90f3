"""Original cases of comparing, pruning and ordering, each by its checks."""

from __future__ import annotations

import pytest

from agent.core.model import Action, Category, path_text
from agent.core.plan import Maker
from agent.core.steps import Plan, Verb
from tests.cases.originals import CASES, case

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not beside the checkout")


def differs(made: Maker) -> dict[str, list[str]]:
    """The paths that differ, by object."""
    changed = [change for change in made.plan().changes if change.action is Action.UPDATE]
    return {str(change.id): [path_text(field.path) for field in change.fields] for change in changed}


def order(plan: Plan) -> list[str]:
    return [step.key for step in plan.steps]


@pytest.mark.parametrize("name", ["21", "24", "25", "55"])
def test_no_drift(name: str) -> None:
    plan = case(name).plan()
    assert (plan.changes, plan.steps, plan.findings) == ((), (), ())


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("18", {"ConfigMap app/text": ["data.cpu"]}),
        ("49", {"Service app/web": ["spec.type"]}),
    ],
)
def test_drift_of_exactly_these_paths(name: str, paths: dict[str, list[str]]) -> None:
    assert differs(case(name)) == paths


def test_19_duplicate_env_names() -> None:
    made = case("19")
    (step,) = made.plan().steps
    assert step.body is not None
    (container,) = step.body["spec"]["template"]["spec"]["containers"]
    assert sorted(entry["name"] for entry in container["env"]) == ["NODE_ENV", "REGION", "TLS"]


def test_23_aggregated_cluster_role() -> None:
    made = case("23")
    (change,) = made.plan().changes
    assert change.id.name == "tool-view"
    assert change.category is Category.SHARED_SUBJECT_REWRITE
    assert "aggregate-to-admin" in change.reason


def test_26_dunder_key() -> None:
    (change,) = case("26").plan().changes
    assert [path_text(field.path) for field in change.fields] == ["data['__init__.py']"]


def test_17_what_a_broken_document_may_hold_is_no_change() -> None:
    plan = case("17").plan()
    assert (plan.changes, plan.steps, plan.gone, plan.is_done) == ((), (), (), False)
    (finding,) = plan.findings
    assert "(document 2): did not find expected node content" in str(finding)
    (warning,) = plan.warnings
    assert warning.endswith("kept until the errors are mended: ConfigMap app/two")


def test_27_order_of_lists() -> None:
    found = differs(case("27"))
    assert list(found) == ["Deployment app/web"]
    args, containers = found["Deployment app/web"]
    assert args.startswith("spec.template.spec.containers[c].args")
    assert containers.startswith("spec.template.spec.initContainers")


def test_29_selector_changed_by_hand_is_a_repoint() -> None:
    changes = {str(change.id): change for change in case("29").plan().changes}
    assert changes["Service app/web"].category is Category.REPOINT
    assert "track=hand" in changes["Service app/web"].reason


def test_32_group_move_deletes_nothing() -> None:
    assert {step.verb for step in case("32").plan().steps} <= {Verb.UPDATE, Verb.WIDEN, Verb.CUTOVER}


def test_34_protected_namespaces_are_let_go() -> None:
    plan = case("34").plan()
    assert order(plan) == ["let go of Namespace default", "let go of Namespace kube-system"]


def test_37_only_what_the_ledger_names_is_deleted() -> None:
    assert order(case("37").plan()) == ["delete ConfigMap app/gone"]


def test_39_custom_resources_then_their_operator_then_their_definition() -> None:
    deletes = [step for step in case("39").plan().steps if step.verb is Verb.DELETE]
    assert [step.id.kind for step in deletes] == ["Thing", "Deployment", "CustomResourceDefinition"]


def test_39_a_definition_stays_while_somebody_has_objects_of_it() -> None:
    plan = case("39", more="live-extra.yaml").plan()
    (step,) = [step for step in plan.steps if step.id.kind == "CustomResourceDefinition"]
    gates = {gate.name: gate for gate in step.gates}
    assert "Thing.example.test elsewhere/of-a-user is there" in gates["without-objects"].reason


def test_40_webhook_after_its_backend_serves() -> None:
    plan = case("40", fresh=True).plan()
    steps = [step.id.kind for step in plan.steps if step.id.name == "guard"]
    assert steps == ["Service", "Deployment", "ValidatingWebhookConfiguration"]
    assert "serves" in {gate.name for gate in plan.steps[-1].gates}


def test_46_conversion_moves_when_the_new_backend_serves_and_the_old_one_goes_after_it() -> None:
    plan = case("46").plan()
    assert order(plan) == [
        "create Service app/widget-hook",
        "cutover CustomResourceDefinition widgets.example.test",
        "delete Service app/hook",
    ]
    assert "serves" in {gate.name for gate in plan.steps[1].closed_gates}
    assert not plan.steps[2].is_open


def test_47_selector_that_cannot_change_holds_the_service_too() -> None:
    plan = case("47").plan()
    changes = {change.id.kind: change for change in plan.changes}
    assert "refuses to change spec.selector in place" in changes["Deployment"].reason
    assert changes["Service"].category is Category.REPOINT
    assert not [step for step in plan.open_steps if step.id.kind == "Service"]


def test_49_cluster_ip_none_is_named_as_refused_in_place() -> None:
    (change,) = case("49", "head-headless.yaml").plan().changes
    assert "refuses to change spec.clusterIP in place" in change.reason
