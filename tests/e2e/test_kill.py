"""`kill -9` at chosen writes of a handoff, and started again: the same end, no request lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.e2e.judges import assert_gone, assert_in_service
from tests.e2e.mortal import Moment, killed_at, killed_until_the_end
from tests.e2e.objects import DENY_BLOCKS
from tests.e2e.releases import DENY, Files
from tests.e2e.results import note
from tests.e2e.upgrade import SAMPLES, Upgrade

HEAD = "replace ConfigMap trapeze-calico"
BINDING = "apply ClusterRoleBinding calico-apiserver-access-calico-crds"
API = "apply APIService v3.projectcalico.org"

# In the order of the handoff; each process begins where the one before it was killed.
MOMENTS = {
    "before the first intent": Moment("before", HEAD, 1),
    "after the first intent": Moment("after", HEAD, 1),
    "among the additive steps": Moment("after", "apply ServiceAccount calico-apiserver", 1),
    "after the binding is widened": Moment("after", BINDING, 1),
    "after the deny policy is deleted": Moment("after", "delete NetworkPolicy allow-tigera.default-deny", 1),
    "before the cutover": Moment("before", API, 1),
    "after the cutover": Moment("after", API, 1),
    "after the old server is deleted": Moment("after", "delete Deployment tigera-apiserver", 1),
    "before the binding is narrowed": Moment("before", BINDING, 1),
    "after the namespace is deleted": Moment("after", "delete Namespace tigera-system", 1),
}


def test_killed_at_ten_points_of_one_handoff_same_end_nothing_lost(enterprise_upgrade: Upgrade) -> None:
    handed_over(enterprise_upgrade, list(MOMENTS), "killed at ten points")


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_once_same_end_nothing_lost(enterprise_upgrade: Upgrade, moment: str) -> None:
    handed_over(enterprise_upgrade, [moment], f"killed {moment}")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_killed_again_and_again_until_nothing_is_left_to_write(upgrade: Upgrade) -> None:
    old, new = upgrade.layout.old_files(), upgrade.layout.new_files(ready_after="2")

    def dying() -> None:
        assert killed_until_the_end(upgrade.config) > 15

    judged(upgrade, (old, new), dying, "killed again and again")


def handed_over(upgrade: Upgrade, moments: list[str], scenario: str) -> None:
    """A handoff with a deny policy in the way, killed at each moment; judged like one that was not."""
    old = upgrade.layout.old_files(DENY)
    new = upgrade.layout.new_files(blocked_by=DENY_BLOCKS, ready_after="2")

    def dying() -> None:
        killed_at(upgrade.config, map(MOMENTS.__getitem__, moments))

    judged(upgrade, (old, new), dying, scenario)


def judged(upgrade: Upgrade, releases: tuple[Files, Files], dying: Callable[[], None], scenario: str) -> None:
    """From one release to the other, through processes that die, to the end."""
    old, new = releases
    upgrade.start(old)
    with upgrade.watching() as watch:
        upgrade.commit(new, "new release")
        dying()
        upgrade.sync()
    verdict = upgrade.judged(watch, old, new)
    note(upgrade.named(scenario), watch.result, verdict)
    assert watch.result.valid, str(watch.result)
    assert watch.result.samples >= SAMPLES
    assert watch.result.lost == 0, str(watch.result)
    assert verdict.is_kept, [*map(str, verdict.broken), *verdict.unseen]
    assert_in_service(upgrade, new)
    assert_gone(upgrade, old, new)
