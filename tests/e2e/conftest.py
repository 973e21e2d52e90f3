"""Upgrades for the tests: a layout of Calico in a cluster with its old release in service."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.releases import Layout, enterprise, oss
from tests.e2e.upgrade import Upgrade
from tests.rig.cluster import Cluster

LAYOUTS: dict[str, Callable[[], Layout]] = {"calico-enterprise": enterprise, "calico-oss": oss}


@pytest.fixture(params=LAYOUTS)
def upgrade(cluster: Cluster, tmp_path: Path, request: pytest.FixtureRequest) -> Upgrade:
    """An upgrade of each layout; nothing is committed yet."""
    return Upgrade(cluster, tmp_path, LAYOUTS[request.param]())


@pytest.fixture
def enterprise_upgrade(cluster: Cluster, tmp_path: Path) -> Upgrade:
    """An upgrade of the Enterprise layout; nothing is committed yet."""
    return Upgrade(cluster, tmp_path, enterprise())
