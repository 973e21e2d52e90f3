"""One release after the other in the worker's control plane; its tests share its first sync."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.corpus import releases
from tests.corpus_live.backends import everything_serves
from tests.corpus_live.install import Install
from tests.rig.cluster import Cluster
from tests.rig.controlplane import ControlPlane
from tests.rig.plugin import BASELINE

IN_MAKE_TEST = frozenset(
    {
        ("calico-apiserver", "v3.32.0"),
        ("flannel", "v0.17.0"),
        ("gatekeeper", "v3.23.0"),
        ("ingress-nginx", "controller-v1.11.8"),
        ("knative-serving", "1.23.0"),
        ("kueue", "v0.8.4"),
        ("longhorn", "v1.10.2"),
        ("metallb", "v0.16.1"),
        ("metrics-server", "v0.8.1"),
        ("olm", "0.18.3"),
        ("prometheus-operator", "v0.80.1"),
        ("tekton-pipeline", "0.44.0"),
    }
)
"""A sixth of the corpus: of most projects one release."""

RELEASES = [
    pytest.param(one, id="-".join(one), marks=() if one in IN_MAKE_TEST else pytest.mark.slow)
    for one in releases.releases()
]


@pytest.fixture(scope="package", params=RELEASES)
def install(
    control_plane: ControlPlane, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Install]:
    """A release that is synced and has come to rest, in a cluster where every backend serves."""
    project, version = request.param
    cluster = Cluster(control_plane)
    try:
        with everything_serves(cluster):
            one = Install(cluster, tmp_path_factory.mktemp(project), project, version)
            one.make_namespaces()
            one.sync()
            yield one
    finally:
        control_plane.check()
        request.config.stash[BASELINE].restore(control_plane.api)
