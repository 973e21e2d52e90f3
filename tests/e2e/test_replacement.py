"""A Deployment's selector and a binding's role change under requests: nothing is lost, there and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.front import assert_nothing_lost, coloured, watching
from tests.e2e.judges import assert_in_service
from tests.e2e.results import note
from tests.e2e.site import Site
from tests.e2e.upgrade import SETTLE
from tests.rig.cluster import Cluster


@pytest.mark.cluster
def test_another_selector_and_another_role_lose_no_request_there_and_back(
    cluster: Cluster, tmp_path: Path
) -> None:
    site = Site(cluster, tmp_path, "front", settle=SETTLE)
    red, blue = coloured("red"), coloured("blue")
    site.start(red)
    for old, new, where in ((red, blue, "there"), (blue, red, "back")):
        with watching(site, old, new) as seen:
            site.commit(new, where)
            site.sync()
        note(f"selector and role {where}", seen.result, seen.verdict)
        assert_nothing_lost(seen)
        assert_in_service(site, new)
    keys = [outcome.step.key for outcome in site.outcomes if not outcome.error]
    assert keys.count("replace Deployment front/web") == 2
    assert keys.count("replace RoleBinding front/web") == 2
    sets = list(cluster.objects("apps/v1", "ReplicaSet", "front"))
    assert [len(row["metadata"].get("ownerReferences") or ()) for row in sets] == [1]
