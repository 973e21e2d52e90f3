"""`kill -9` at points of the removal of a whole set: all of it goes once, and nobody else loses anything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.shell.report import State
from tests.e2e.front import assert_nothing_lost, coloured, watching
from tests.e2e.judges import assert_absent
from tests.e2e.mortal import Moment, killed_at, twice
from tests.e2e.releases import Files, documents
from tests.e2e.results import note
from tests.e2e.site import Site
from tests.e2e.upgrade import SETTLE
from tests.rig.cluster import Cluster

pytestmark = pytest.mark.cluster
NEIGHBOUR = "beside"
MOMENTS = (
    Moment("before", "delete Service web", 1),
    Moment("after", "delete Service web", 1),
    Moment("after", "delete Deployment web", 1),
    Moment("before", "delete Namespace front", 1),
    Moment("after", "delete Namespace front", 1),
    Moment("before", "delete ConfigMap trapeze-front", 1),
    Moment("after", "delete ConfigMap trapeze-front", 1),
)
"""In the order of the removal; each process begins where the one before it was killed."""


def test_killed_at_points_of_a_removal_nothing_is_left(cluster: Cluster, tmp_path: Path) -> None:
    site = standing(cluster, tmp_path)

    removed(site, lambda: killed_at(site.config, MOMENTS), f"set removed, killed at {len(MOMENTS)} points")


def standing(cluster: Cluster, folder: Path) -> Site:
    """The set in service, and somebody else's Service of the same form."""
    site = Site(cluster, folder, "front", settle=SETTLE, prune={"allow": ["Namespace front"]})
    others = coloured("red")["release.yaml"]
    for word in ("namespace: ", "name: ", "namespaces/"):
        others = others.replace(f"{word}front", f"{word}{NEIGHBOUR}")
    cluster.apply(documents(others), manager="others")
    site.start(coloured("red"))
    return site


def removed(site: Site, dying: Callable[[], object], scenario: str) -> None:
    """To the end of the set, through processes that die; judged with requests to the one beside it."""
    files: Files = {"red.yaml": coloured("red")["release.yaml"]}
    site.cluster.wait_ready(NEIGHBOUR, "web")
    with watching(site, files, {}, NEIGHBOUR) as seen:
        site.configure(state="absent")
        dying()
        site.tick_until(lambda report: report.state is State.ABSENT)
    note(scenario, seen.result, seen.verdict)
    assert_nothing_lost(seen)
    assert twice(site.config) == []
    assert_absent(site, files)
