"""A rehearsal that starts from a real cluster, before a handoff and in the middle of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import trapeze
from tests.e2e.upgrade import Upgrade

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def rehearsed(upgrade: Upgrade, file: Path, code: int = 0) -> Any:
    """What a snapshot of the cluster as it is now tells of the rest of the way."""
    taken = trapeze(upgrade.config, "snapshot", str(file))
    assert taken.returncode == 0, taken.stderr
    told = trapeze(
        upgrade.config, "rehearse", "--live", str(file), "--budget", "60", "-o", "json", timeout=300
    )
    assert told.returncode == code, told.stdout + told.stderr
    return json.loads(told.stdout)


def test_calico_before_its_handoff_and_half_way(upgrade: Upgrade, tmp_path: Path) -> None:
    upgrade.start(upgrade.layout.old_files())
    upgrade.commit(upgrade.layout.new_files(ready_after="20"), "new release")
    first = rehearsed(upgrade, tmp_path / "first.json.gz")
    assert (first["verdict"], first["missing"], first["deadlocks"]) == ("kept", [], [])
    assert any(path["path"].startswith("APIService v3.projectcalico.org") for path in first["paths"])
    assert trapeze(upgrade.config, "sync").returncode == 3
    half = rehearsed(upgrade, tmp_path / "half.json.gz")
    assert (half["verdict"], half["missing"], half["deadlocks"]) == ("kept", [], [])
    assert any("was not ready when it was looked at" in told for told in half["assumed"])
    # All that is added has been added; what is left is the same.
    assert first["steps"][0].startswith("adds ")
    assert (half["steps"][0], half["steps"][1:]) == ("before the first step", first["steps"][1:])
    done = trapeze(upgrade.config, "sync", "--until-done", "--timeout", "120")
    assert done.returncode == 0, done.stdout + done.stderr
    last = rehearsed(upgrade, tmp_path / "last.json.gz")
    assert (last["verdict"], last["steps"], last["missing"]) == ("kept", [], [])
