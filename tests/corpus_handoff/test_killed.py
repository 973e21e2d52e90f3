"""`kill -9` all through an upgrade of Tekton, and started again: the same end, nothing lost, nothing left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.corpus.releases import pairs
from tests.corpus_handoff.handoff import Handoff
from tests.corpus_handoff.table import note
from tests.corpus_live.backends import everything_serves
from tests.e2e.mortal import killed_until_the_end
from tests.rig.cluster import Cluster
from tests.rig.controlplane import ControlPlane
from tests.rig.plugin import BASELINE


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(not pairs(), reason="the releases do not stand beside the checkout")
def test_killed_again_and_again_until_nothing_is_left_to_write(
    control_plane: ControlPlane, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    cluster = Cluster(control_plane)
    kills = 0

    def dying() -> None:
        nonlocal kills
        config = tmp_path / "trapeze.yaml"
        config.write_text(json.dumps(handoff.raw))
        kills = killed_until_the_end(config)

    try:
        with everything_serves(cluster):
            handoff = Handoff(cluster, tmp_path, "tekton-pipeline", "0.12.0")
            handoff.sync(within=200)
            came = handoff.go_to("0.13.0", dying)
            note(f"tekton-pipeline 0.12.0 to 0.13.0 killed {kills} times", came)
            assert kills > 15
            assert [str(one) for one in (*came.verdict.broken, *came.verdict.unseen)] == []
            assert came.lost == []
            assert came.held == ()
            assert came.leftovers == ()
    finally:
        control_plane.check()
        request.config.stash[BASELINE].restore(control_plane.api)
