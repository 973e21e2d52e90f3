"""`kill -9` all through the replacement of a Deployment and of a binding: the same end, no request lost."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.front import assert_nothing_lost, coloured, watching
from tests.e2e.judges import assert_in_service
from tests.e2e.mortal import A_STEP, Moment, killed_at, killed_until_the_end, twice
from tests.e2e.results import note
from tests.e2e.site import Site
from tests.e2e.upgrade import SETTLE
from tests.rig.cluster import Cluster

pytestmark = pytest.mark.cluster
MOMENTS = (
    Moment("before", "delete RoleBinding web", 1),
    Moment("after", "delete RoleBinding web", 1),
    Moment("after", "delete Deployment web", 1),
    Moment("after", "apply Deployment web", 1),
    Moment("before", "apply Service web", 1),
    Moment("after", "apply Service web", 1),
)
"""In the order of the handoff; each process begins where the one before it was killed."""


def test_killed_at_points_of_a_replacement_same_end_nothing_lost(cluster: Cluster, tmp_path: Path) -> None:
    site = started(cluster, tmp_path)

    dying = partial(killed_at, site.config, MOMENTS)
    replaced(site, ("red", "blue"), dying, f"replacement killed at {len(MOMENTS)} points")


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_killed_around_every_write_of_a_replacement_nothing_lost_there_and_back(
    cluster: Cluster, tmp_path: Path
) -> None:
    site = started(cluster, tmp_path)
    kills: list[int] = []
    for way in (("red", "blue"), ("blue", "red")):
        name = f"replacement {way[0]} to {way[1]} killed at every write"
        replaced(site, way, lambda: kills.append(killed_until_the_end(site.config, A_STEP)), name)
    assert min(kills) > 15


def started(cluster: Cluster, folder: Path) -> Site:
    """The red release in service."""
    site = Site(cluster, folder, "front", settle=SETTLE)
    site.start(coloured("red"))
    return site


def replaced(site: Site, way: tuple[str, str], dying: Callable[[], object], scenario: str) -> None:
    """From one colour to the other, through processes that die, to the end."""
    old, new = map(coloured, way)
    with watching(site, old, new) as seen:
        site.commit(new, scenario)
        dying()
        site.sync()
    note(scenario, seen.result, seen.verdict)
    assert_nothing_lost(seen)
    assert twice(site.config) == []
    assert_in_service(site, new)
    sets = list(site.cluster.objects("apps/v1", "ReplicaSet", "front"))
    assert [len(row["metadata"].get("ownerReferences") or ()) for row in sets] == [1]
