"""Two processes sync the same set at once on a real API server: no request lost, no state broken, one end."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.e2e.command import trapeze
from tests.e2e.judges import assert_gone, assert_in_service
from tests.e2e.upgrade import Upgrade


@pytest.mark.timeout(240)
def test_two_processes_on_one_set_lose_nothing_and_come_to_one_end(enterprise_upgrade: Upgrade) -> None:
    upgrade = enterprise_upgrade
    old, new = upgrade.layout.old_files(), upgrade.layout.new_files(ready_after="3")
    upgrade.start(old)
    with upgrade.watching() as watch, ThreadPoolExecutor(2) as pool:
        upgrade.commit(new, "new release")
        words = ("sync", "--until-done", "--timeout", "120")
        running = [pool.submit(trapeze, upgrade.config, *words, timeout=180) for _ in range(2)]
        done = [one.result() for one in running]
    assert [one.returncode for one in done] == [0, 0], "\n".join(one.stdout + one.stderr for one in done)
    assert watch.result.lost == 0, str(watch.result)
    verdict = upgrade.judged(watch, old, new)
    assert verdict.is_kept, [*map(str, verdict.broken), *verdict.unseen]
    assert_in_service(upgrade, new)
    assert_gone(upgrade, old, new)
