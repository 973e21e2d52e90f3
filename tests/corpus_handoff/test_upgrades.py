"""Between two releases, forward and back: nothing drops, nothing is left, or the plan says why it waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.core.prediction import differences
from tests.corpus.releases import Pair, pairs
from tests.corpus_handoff.handoff import Handoff
from tests.corpus_handoff.table import note
from tests.corpus_live.backends import everything_serves
from tests.rig.cluster import Cluster
from tests.rig.controlplane import ControlPlane
from tests.rig.plugin import BASELINE

PROJECTS = frozenset(
    {
        "argo-cd",
        "knative-serving",
        "kueue",
        "metallb",
        "prometheus-operator",
        "service-ca-operator",
        "tekton-all",
        "tekton-dashboard",
        "tekton-pipeline",
        "tekton-trigger",
    }
)
IN_MAKE_TEST = frozenset(
    {"tekton-pipeline 0.12.0 to 0.13.0", "service-ca-operator release-4.16 to release-4.22"}
)

BESIDE = (
    Pair("tekton-pipeline", "0.44.0", "0.58.0"),
    Pair("tekton-pipeline", "0.58.0", "1.2.0"),
    Pair("tekton-pipeline", "0.12.0", "1.2.0"),
    Pair("tekton-dashboard", "0.45.0", "0.59.0"),
    Pair("tekton-results", "0.9.2", "0.15.2"),
)
"""Upgrades that go on into the parts of larger releases, and one that leaps over all in between."""

UPGRADES = [
    pytest.param(pair, id=str(pair), marks=() if str(pair) in IN_MAKE_TEST else pytest.mark.slow)
    for pair in (*(pair for pair in pairs() if pair.project in PROJECTS), *(BESIDE if pairs() else ()))
]


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("pair", UPGRADES)
def test_an_upgrade_forward_and_back(
    control_plane: ControlPlane, request: pytest.FixtureRequest, tmp_path: Path, pair: Pair
) -> None:
    cluster = Cluster(control_plane)
    try:
        with everything_serves(cluster):
            handoff = Handoff(cluster, tmp_path, pair.project, pair.base)
            handoff.sync(within=200)
            for version, way in ((pair.head, "forward"), (pair.base, "back")):
                came = handoff.go_to(version)
                note(f"{pair} {way}", came)
                assert [str(one) for one in (*came.verdict.broken, *came.verdict.unseen)] == []
                assert came.lost == []
                assert came.leftovers == ()
                assert differences(came.verdict, came.foretold) == ()
    finally:
        control_plane.check()
        request.config.stash[BASELINE].restore(control_plane.api)
