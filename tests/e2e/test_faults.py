"""A handoff through a proxy at which requests are cut, refused, answered late or out of date."""

from __future__ import annotations

import time

import pytest

from agent.errors import ClusterError
from agent.shell.report import State
from tests.e2e.judges import assert_gone, assert_in_service
from tests.e2e.proxy import Fault, FaultProxy
from tests.e2e.results import note
from tests.e2e.upgrade import SAMPLES, Upgrade

WITHIN = 150.0
PAUSE = 0.2
EVERY_KIND = tuple(Fault)
OFTEN = {Fault.DISCOVERY: 2, Fault.STALE: 40}
"""One of so many requests, where it is not one of eleven: discovery is asked once a tick, sixty lists are.
An old list cannot be told from a new one: of one in eleven, no tick would see the cluster as it is."""


def test_every_kind_of_fault_in_turn_same_end_nothing_lost(enterprise_upgrade: Upgrade) -> None:
    """Fourteen kinds, each many times, in one handoff."""
    proxy = handed_over(enterprise_upgrade, EVERY_KIND, 3, "every kind of fault in turn")
    assert set(proxy.done) == set(Fault)


@pytest.mark.slow
@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.value)
def test_one_kind_of_fault_often_same_end_nothing_lost(enterprise_upgrade: Upgrade, fault: Fault) -> None:
    proxy = handed_over(enterprise_upgrade, (fault,), OFTEN.get(fault, 11), fault.value)
    assert proxy.done[fault] > 2


def handed_over(upgrade: Upgrade, faults: tuple[Fault, ...], every: int, scenario: str) -> FaultProxy:
    """A handoff through the proxy, as the agent's schedule does it: what fails is tried at the next tick."""
    old, new = upgrade.layout.old_files(), upgrade.layout.new_files(ready_after="2")
    upgrade.start(old)
    proxy = FaultProxy(upgrade.cluster, faults, every)
    own = upgrade.folder / "proxy.yaml"
    with upgrade.watching() as watch, proxy.serving(upgrade.cluster.kubeconfig, own):
        upgrade.configure(own)
        upgrade.commit(new, "new release")
        syncer = upgrade.syncer()
        deadline = time.monotonic() + WITHIN
        state = State.HELD
        while state is not State.IN_SERVICE:
            try:
                state = syncer.tick().state
            except ClusterError:
                state = State.HELD
            assert time.monotonic() < deadline, dict(proxy.done)
            time.sleep(PAUSE)
    upgrade.configure()
    verdict = upgrade.judged(watch, old, new)
    note(upgrade.named(scenario), watch.result, verdict)
    assert watch.result.valid, str(watch.result)
    assert watch.result.samples >= SAMPLES
    assert watch.result.lost == 0, str(watch.result)
    assert verdict.is_kept, [*map(str, verdict.broken), *verdict.unseen]
    assert_in_service(upgrade, new)
    assert_gone(upgrade, old, new)
    return proxy
