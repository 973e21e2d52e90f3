"""A plan right after a sync is empty, and stays so whatever controllers and other people do beside it."""

from __future__ import annotations

from collections.abc import Callable

from tests.corpus_live.install import Install, differences
from tests.corpus_live.others import Others

MANAGER = "kube-controller-manager"


def assert_nothing_to_do(install: Install) -> None:
    """No change and no step but for objects that the server does not take; why not is said."""
    plan = install.restarted().plan()
    refused = install.refused(plan)
    assert differences(plan) == []
    assert {step.key for step in plan.steps if step.id not in refused} == set()
    assert all(refused.values()), refused
    assert plan.unchanged + len(refused) == len(install.wanted())
    assert plan.unchanged > 0


def test_plan_after_sync_is_empty(install: Install, record_property: Callable[[str, object], None]) -> None:
    plan = install.restarted().plan()
    record_property("objects compared", plan.unchanged)
    record_property("objects refused", len(install.refused(plan)))
    assert_nothing_to_do(install)


def test_plan_after_a_restart_of_the_controllers_is_empty(install: Install) -> None:
    install.cluster.plane.restart(MANAGER)
    # A namespace gets its ServiceAccount once the new process runs its controllers.
    install.cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "after-restart"}})
    assert_nothing_to_do(install)


def test_plan_after_others_annotate_scale_and_apply_is_empty(install: Install) -> None:
    others = Others(install)
    others.write()
    assert others.written["annotate"] > 0
    assert others.written["apply"] + others.written["apply the same"] > 0
    assert_nothing_to_do(install)
    others.withdraw()
    assert_nothing_to_do(install)
