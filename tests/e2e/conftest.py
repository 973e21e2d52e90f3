"""Upgrades for the tests: a layout of Calico in a cluster with its old release in service."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.releases import Layout, enterprise, oss
from tests.e2e.upgrade import Upgrade
from tests.rig.cluster import Cluster
from tests.rig.plugin import ROUTING

LAYOUTS: dict[str, Callable[[], Layout]] = {"calico-enterprise": enterprise, "calico-oss": oss}


@pytest.fixture
def by_cluster_ip(request: pytest.FixtureRequest) -> bool:
    """Whether kube-apiserver leaves it to kube-proxy which endpoint it reaches."""
    return bool(request.config.getoption(ROUTING) == "off")


@pytest.fixture(params=LAYOUTS)
def upgrade(
    cluster: Cluster, tmp_path: Path, request: pytest.FixtureRequest, *, by_cluster_ip: bool
) -> Upgrade:
    """An upgrade of each layout; nothing is committed yet."""
    return Upgrade(cluster, tmp_path, LAYOUTS[request.param](), by_cluster_ip=by_cluster_ip)


@pytest.fixture
def enterprise_upgrade(cluster: Cluster, tmp_path: Path, *, by_cluster_ip: bool) -> Upgrade:
    """An upgrade of the Enterprise layout; nothing is committed yet."""
    return Upgrade(cluster, tmp_path, enterprise(), by_cluster_ip=by_cluster_ip)
