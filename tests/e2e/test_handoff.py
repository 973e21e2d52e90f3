"""The API server of Calico moves to another namespace, in both layouts: no request lost, no state broken."""

from __future__ import annotations

import pytest

from agent.core.orders import Order
from agent.core.prediction import differences
from tests.e2e.command import trapeze
from tests.e2e.judges import assert_gone, assert_in_service
from tests.e2e.results import note
from tests.e2e.upgrade import SAMPLES, Upgrade

SLOW = [pytest.mark.slow, pytest.mark.timeout(600)]
DELAYS = pytest.mark.parametrize(
    "delay", [5, pytest.param(20, marks=SLOW), pytest.param(60, marks=SLOW)], ids="{} s".format
)


@DELAYS
def test_new_server_ready_late_nothing_lost_no_state_broken(upgrade: Upgrade, delay: int) -> None:
    old = upgrade.layout.old_files()
    new = upgrade.layout.new_files(ready_after=str(delay))
    upgrade.start(old)
    base = upgrade.head
    with upgrade.watching() as watch:
        upgrade.commit(new, "new release")
        done = trapeze(upgrade.config, "sync", "--until-done", "--timeout", str(90 + delay))
    assert done.returncode == 0, done.stdout + done.stderr
    verdict = upgrade.judged(watch, old, new)
    foretold = upgrade.foretold(base)
    note(upgrade.named(f"ready after {delay} s"), watch.result, verdict, foretold)
    assert watch.result.valid, str(watch.result)
    assert watch.result.samples >= SAMPLES
    assert watch.result.lost == 0, str(watch.result)
    assert verdict.is_kept, [*map(str, verdict.broken), *verdict.unseen]
    assert foretold.is_kept
    assert differences(verdict, foretold) == ()
    assert_in_service(upgrade, new)
    assert_gone(upgrade, old, new)


@DELAYS
def test_applied_then_pruned_loses_samples_and_breaks_states(upgrade: Upgrade, delay: int) -> None:
    old, new = upgrade.layout.old_files(), upgrade.layout.new_files(ready_after=str(delay))
    upgrade.start(old)
    base = upgrade.head
    with upgrade.watching() as watch:
        upgrade.commit(new, "new release")
        upgrade.sync(Order.NAIVE, within=90 + delay)
    verdict = upgrade.judged(watch, old, new)
    foretold = upgrade.foretold(base, Order.NAIVE)
    note(upgrade.named(f"ready after {delay} s"), watch.result, verdict, foretold, naive=True)
    assert watch.result.valid, str(watch.result)
    # From the first write until the new server answers, nearly every request fails.
    assert watch.result.lost >= delay * 6, str(watch.result)
    assert verdict.broken_states > 0
    told = {broken.invariant for broken in verdict.broken}
    assert {"rights of a running pod", "serving path"} <= told
    assert not foretold.is_kept
    assert differences(verdict, foretold) == ()
    assert_in_service(upgrade, new)
