"""A webhook with failurePolicy Fail stands on the server that moves: pods can be made all the time.

The operator's own fix points it at the new server while that is not ready yet.
"""

from __future__ import annotations

import pytest

from agent.core.orders import Order
from tests.e2e.judges import assert_gone, assert_in_service
from tests.e2e.releases import SIDECAR
from tests.e2e.results import note
from tests.e2e.upgrade import SAMPLES, Upgrade
from tests.rig.sampler import Probe

SCENARIO = "with a sidecar webhook"
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"namespace": "default", "labels": {"applicationlayer.projectcalico.org/sidecar": "true"}},
    "spec": {"containers": [{"name": "web", "image": "standin/http:v1"}]},
}


def injected(upgrade: Upgrade) -> Probe:
    """A probe: a labelled pod is made (dry run) and has what the webhook puts in."""
    return upgrade.cluster.through_webhook(POD, expect="applicationlayer.projectcalico.org/injected")


def test_api_and_webhook_move_together_nothing_lost(enterprise_upgrade: Upgrade) -> None:
    upgrade = enterprise_upgrade
    old, new = upgrade.layout.old_files(SIDECAR), upgrade.layout.new_files(SIDECAR, ready_after="5")
    upgrade.start(old)
    with upgrade.watching(injected(upgrade)) as watch:
        upgrade.commit(new, "new release")
        upgrade.sync()
    verdict = upgrade.judged(watch, old, new)
    note(upgrade.named(SCENARIO), watch.result, verdict)
    assert watch.result.valid, str(watch.result)
    assert watch.result.samples >= 2 * SAMPLES
    assert watch.result.lost == 0, str(watch.result)
    assert verdict.is_kept, [*map(str, verdict.broken), *verdict.unseen]
    assert_in_service(upgrade, new)
    assert_gone(upgrade, old, new)


@pytest.mark.slow
def test_applied_then_pruned_no_pod_can_be_made(enterprise_upgrade: Upgrade) -> None:
    upgrade = enterprise_upgrade
    old, new = upgrade.layout.old_files(SIDECAR), upgrade.layout.new_files(SIDECAR, ready_after="5")
    upgrade.start(old)
    with upgrade.watching(injected(upgrade)) as watch:
        upgrade.commit(new, "new release")
        upgrade.sync(Order.NAIVE)
    note(upgrade.named(SCENARIO), watch.result, naive=True)
    assert watch.result.valid, str(watch.result)
    assert watch.result.by_probe["webhook:pods"][1] >= SAMPLES // 10, str(watch.result)
