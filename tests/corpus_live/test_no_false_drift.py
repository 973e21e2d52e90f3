"""A plan right after a sync is empty, and stays so whatever controllers and other people do beside it."""

from __future__ import annotations

from tests.corpus_live.install import Install, differences
from tests.corpus_live.others import Others
from tests.corpus_live.results import note

MANAGER = "kube-controller-manager"


def assert_nothing_to_do(install: Install, column: str) -> None:
    """No change and no step but for objects that the server does not take; why not is said."""
    plan = install.restarted().plan()
    refused = install.refused(plan)
    note(install, **{column: len(differences(plan))})
    assert differences(plan) == []
    assert {step.key for step in plan.steps if step.id not in refused} == set()
    assert all(refused.values()), refused
    assert plan.unchanged + len(refused) == len(install.wanted())
    assert plan.unchanged > 0


def test_plan_after_sync_is_empty(install: Install) -> None:
    plan = install.restarted().plan()
    note(install, objects=plan.unchanged, refused_by_the_server=len(install.refused(plan)))
    assert_nothing_to_do(install, "plan_after_sync")


def test_plan_after_a_restart_of_the_controllers_is_empty(install: Install) -> None:
    install.cluster.plane.restart(MANAGER)
    # A namespace gets its ServiceAccount once the new process runs its controllers.
    install.cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "after-restart"}})
    assert_nothing_to_do(install, "after_a_restart")


def test_plan_after_others_annotate_scale_and_apply_is_empty(install: Install) -> None:
    others = Others(install)
    others.write()
    assert others.written["annotate"] > 0
    assert others.written["apply"] + others.written["apply the same"] > 0
    assert_nothing_to_do(install, "after_others")
    others.withdraw()
    assert_nothing_to_do(install, "after_others")
