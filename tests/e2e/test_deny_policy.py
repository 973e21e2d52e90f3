"""A deny policy holds the new server down, and only the API that moves can delete it.

The deadlock of tigera/operator#5143: whoever moves the APIService first, or takes the old server's rights
away, can never delete the policy.
"""

from __future__ import annotations

import pytest

from agent.core.model import ObjectId
from agent.core.orders import Order
from tests.e2e.judges import assert_gone, assert_in_service
from tests.e2e.objects import API_SERVICE, BINDING, DENY_BLOCKS, DENY_STORED, NEW, points_at, subjects
from tests.e2e.releases import DENY
from tests.e2e.results import note
from tests.e2e.site import bodies
from tests.e2e.timeline import Timeline
from tests.e2e.upgrade import SAMPLES, Upgrade

STORED = "/apis/crd.projectcalico.org/v1/namespaces/calico-system/networkpolicies"


def test_deny_policy_goes_through_the_old_server_before_the_api_moves(enterprise_upgrade: Upgrade) -> None:
    upgrade = enterprise_upgrade
    old = upgrade.layout.old_files(DENY)
    new = upgrade.layout.new_files(blocked_by=DENY_BLOCKS, ready_after="3")
    upgrade.start(old)
    with upgrade.watching() as watch:
        upgrade.commit(new, "new release")
        upgrade.sync()
    verdict = upgrade.judged(watch, old, new)
    note(upgrade.named("deny policy"), watch.result, verdict)
    assert watch.result.valid, str(watch.result)
    assert watch.result.samples >= SAMPLES
    assert watch.result.lost == 0, str(watch.result)
    assert verdict.is_kept, [*map(str, verdict.broken), *verdict.unseen]
    assert_in_service(upgrade, new)
    assert_gone(upgrade, old, new)
    assert_right_order(Timeline(watch.recording), upgrade, [*bodies(old).keys() - bodies(new).keys()])


def assert_right_order(times: Timeline, upgrade: Upgrade, retired: list[ObjectId]) -> None:
    """Widened, unblocked, moved, emptied, narrowed; the namespace last."""
    old = upgrade.layout.old.namespace
    widened = times.first(BINDING, lambda body: subjects(body) == {old, NEW})
    unblocked = times.gone(DENY_STORED)
    moved = times.first(API_SERVICE, lambda body: points_at(body) == NEW)
    emptied = times.last_gone(times.pods_of(old))
    narrowed = times.first(BINDING, lambda body: subjects(body) == {NEW})
    assert widened < unblocked < moved < emptied < narrowed
    watched = [key for key in retired if key in times.recording.first]
    deleted = {key: times.gone(key) for key in watched}
    assert len(deleted) > 10
    assert moved < min(deleted.values())
    assert max(deleted, key=lambda key: deleted[key]).kind == "Namespace"


def test_applied_then_pruned_never_gets_rid_of_the_policy(enterprise_upgrade: Upgrade) -> None:
    upgrade = enterprise_upgrade
    old = upgrade.layout.old_files(DENY)
    upgrade.start(old)
    with upgrade.watching() as watch:
        upgrade.commit(upgrade.layout.new_files(blocked_by=DENY_BLOCKS), "new release")
        with pytest.raises(TimeoutError):
            upgrade.sync(Order.NAIVE, within=15)
    note(upgrade.named("deny policy"), watch.result, naive=True)
    assert watch.result.valid, str(watch.result)
    assert watch.result.lost >= SAMPLES // 2, str(watch.result)
    assert upgrade.cluster.api.find(f"{STORED}/allow-tigera.default-deny") is not None
