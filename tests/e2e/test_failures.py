"""The new server never comes up, or is lost again: the old one serves as long as it is needed."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from agent.core.steps import Verb
from agent.shell.report import Report
from tests.e2e.command import trapeze
from tests.e2e.judges import assert_gone, assert_in_service
from tests.e2e.objects import API_SERVICE, NEW, SERVER, is_ready, points_at
from tests.e2e.results import note
from tests.e2e.timeline import Timeline
from tests.e2e.upgrade import SAMPLES, Upgrade, Watch
from tests.rig.kubelet.knobs import PREFIX

KNOB = f"{PREFIX}never-ready"
NEW_SERVICE = "Service calico-system/calico-api"
CUTOVER = f"cutover {API_SERVICE}"


def test_new_server_never_ready_old_one_serves_and_a_revert_cleans_up(enterprise_upgrade: Upgrade) -> None:
    upgrade = enterprise_upgrade
    old, new = upgrade.layout.old_files(), upgrade.layout.new_files(never_ready="true")
    upgrade.start(old)
    with upgrade.watching() as watch:
        begun = time.time()
        upgrade.commit(new, "new release")
        upgrade.syncer().tick()
        since = upgrade.ledger().holds[CUTOVER].since
        upgrade.tick_until(lambda _: watch.sampler.so_far().samples >= SAMPLES // 2)
        assert begun <= since <= time.time()
        assert_held(upgrade, since)
        upgrade.commit(old, "back to the old release")
        upgrade.sync()
    assert_lossless(watch)
    # The leftovers of the new release are what goes; everything of the old one stays.
    verdict = upgrade.judged(watch, {**prefixed(new), **old}, old)
    note(upgrade.named("never ready, reverted"), watch.result, verdict)
    assert verdict.is_kept, [*map(str, verdict.broken), *verdict.unseen]
    assert_in_service(upgrade, old)
    assert_gone(upgrade, new, old)


def assert_held(upgrade: Upgrade, since: float) -> None:
    """The ledger and `trapeze status` say what is held, since when and why; the old server has the API."""
    live = upgrade.cluster.get("apiregistration.k8s.io/v1", "APIService", API_SERVICE.name)
    assert live is not None
    assert points_at(live) == upgrade.layout.old.namespace
    hold = upgrade.ledger().holds[CUTOVER]
    assert hold.since == since
    assert "0 of 2 endpoints ready" in hold.reason
    said = trapeze(upgrade.config, "status", "--output", "json")
    assert said.returncode == 0, said.stderr
    assert CUTOVER in said.stdout
    assert "0 of 2 endpoints ready" in said.stdout


@pytest.mark.slow
def test_new_server_never_ready_mended_by_the_next_release(enterprise_upgrade: Upgrade) -> None:
    upgrade = enterprise_upgrade
    old, bad = upgrade.layout.old_files(), upgrade.layout.new_files(never_ready="true")
    new = {**bad, "server.yaml": upgrade.layout.new_files()["server.yaml"]}
    upgrade.start(old)
    with upgrade.watching() as watch:
        upgrade.commit(bad, "new release")
        upgrade.syncer().tick()
        upgrade.commit(new, "the new release, mended")
        upgrade.sync()
    assert_lossless(watch)
    verdict = upgrade.judged(watch, old, new)
    note(upgrade.named("never ready, mended"), watch.result, verdict)
    assert verdict.is_kept, [*map(str, verdict.broken), *verdict.unseen]
    assert_in_service(upgrade, new)
    assert_gone(upgrade, old, new)


def test_new_server_lost_before_the_cutover_is_held_again(enterprise_upgrade: Upgrade) -> None:
    upgrade = enterprise_upgrade
    old, new = upgrade.layout.old_files(), upgrade.layout.new_files(never_ready="true")
    upgrade.start(old)
    with upgrade.watching() as watch:
        upgrade.commit(new, "new release")
        upgrade.syncer().tick()
        # Between two ticks, so that none can cut over while the new server is ready.
        turn(upgrade, 0, 1, never_ready=None)
        wait_ready_pods(upgrade, 2)
        turn(upgrade, 0, 1, never_ready="true")
        wait_ready_pods(upgrade, 0)
        assert "0 of 2 endpoints ready" in reason(upgrade.syncer().tick())
        turn(upgrade, 0, never_ready=None)
        wait_ready_pods(upgrade, 1)
        # One of two is not the capacity that the old server has.
        assert "1 of 2 endpoints ready" in reason(upgrade.syncer().tick())
        turn(upgrade, 1, never_ready=None)
        upgrade.sync()
    assert_lossless(watch)
    verdict = upgrade.judged(watch, old, new)
    note(upgrade.named("lost before the cutover"), watch.result, verdict)
    # The test took the new server's endpoints itself: nothing pointed there.
    assert not verdict.unseen
    assert {broken.subject.partition(" [")[0] for broken in verdict.broken} == {NEW_SERVICE}
    assert_in_service(upgrade, new)
    assert_gone(upgrade, old, new)


def test_new_server_lost_after_the_cutover_is_pointed_back_and_moved_again(
    enterprise_upgrade: Upgrade,
) -> None:
    upgrade = enterprise_upgrade
    old, new = upgrade.layout.old_files(), upgrade.layout.new_files()
    upgrade.start(old)
    with upgrade.watching() as watch:
        upgrade.commit(new, "new release")
        upgrade.tick_until(did(Verb.CUTOVER))
        upgrade.cluster.wait_available(API_SERVICE.name)
        lost_at = time.time()
        turn(upgrade, 0, 1, never_ready="true")
        upgrade.tick_until(did(Verb.POINT_BACK))
        upgrade.cluster.wait_available(API_SERVICE.name)
        back_at = time.time()
        turn(upgrade, 0, 1, never_ready=None)
        upgrade.sync()
    times = Timeline(watch.recording)
    moved = times.first(API_SERVICE, lambda body: points_at(body) == NEW)
    back = times.first(API_SERVICE, lambda body: points_at(body) != NEW, after=moved)
    assert times.first(API_SERVICE, lambda body: points_at(body) == NEW, after=back) > back
    verdict = upgrade.judged(watch, old, new)
    note(upgrade.named("lost after the cutover, pointed back"), watch.result, verdict)
    assert not verdict.unseen
    assert {broken.subject.partition(" [")[0] for broken in verdict.broken} == {NEW_SERVICE, str(API_SERVICE)}
    assert all(broken.is_mended for broken in verdict.broken)
    assert watch.result.valid, str(watch.result)
    # A backend that goes all at once costs what comes between its end and the point back, and nothing else.
    assert all(lost_at <= loss.sent <= back_at for loss in watch.result.losses), str(watch.result)
    assert_in_service(upgrade, new)
    assert_gone(upgrade, old, new)


def assert_lossless(watch: Watch) -> None:
    """Every sample was answered, and there are enough of them."""
    assert watch.result.valid, str(watch.result)
    assert watch.result.samples >= SAMPLES
    assert watch.result.lost == 0, str(watch.result)


def prefixed(files: dict[str, str]) -> dict[str, str]:
    """The files under other names, to stand beside those of another release."""
    return {f"other-{name}": text for name, text in files.items()}


def did(verb: Verb) -> Callable[[Report], bool]:
    """Whether a report has a step of this verb done on the APIService."""
    return lambda report: any(
        outcome.step.verb is verb and outcome.step.id == API_SERVICE and not outcome.error
        for outcome in report.outcomes
    )


def reason(report: Report) -> str:
    """Why the cutover is held."""
    steps = report.plan.held_steps if report.plan else ()
    return "; ".join(gate.reason for step in steps if step.key == CUTOVER for gate in step.closed_gates)


def turn(upgrade: Upgrade, *numbers: int, never_ready: str | None) -> None:
    """Turn the readiness of the new server's pods, counted in the order of their names."""
    names = sorted(pod["metadata"]["name"] for pod in upgrade.cluster.pods(NEW, SERVER))
    for number in numbers:
        path = f"/api/v1/namespaces/{NEW}/pods/{names[number]}"
        upgrade.cluster.api.patch(path, {"metadata": {"annotations": {KNOB: never_ready}}})


def wait_ready_pods(upgrade: Upgrade, count: int) -> None:
    """Wait until so many of the new server's pods are ready."""
    upgrade.cluster.wait(
        f"{count} ready pods",
        lambda: sum(map(is_ready, upgrade.cluster.pods(NEW, SERVER))) == count,
    )
