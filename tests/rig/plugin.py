"""The pytest side of the rig: one control plane for each worker, started when a test first asks for it."""

import sys
from collections.abc import Iterator

import pytest

from tests.rig.build import RigError, require_linux
from tests.rig.cleanup import Baseline
from tests.rig.cluster import Cluster
from tests.rig.controlplane import ControlPlane
from tests.rig.netns import enter_new_network

ROUTING = "--aggregator-routing"
BASELINE = pytest.StashKey[Baseline]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that picks how kube-apiserver reaches aggregated servers and webhooks."""
    words = "kube-apiserver's --enable-aggregator-routing: to ready endpoints (on), to the ClusterIP (off)"
    parser.addoption(ROUTING, choices=("on", "off"), default="on", help=words)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses a control plane, and say where none can run; before -m selects."""
    reason = ""
    if sys.platform != "linux":
        try:
            require_linux()
        except RigError as error:
            reason = str(error)
    for item in items:
        if "control_plane" in getattr(item, "fixturenames", ()):
            item.add_marker("cluster")
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def control_plane(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """The worker's control plane; the process moves into its network for the rest of the session."""
    enter_new_network()
    with ControlPlane.start(aggregator_routing=request.config.getoption(ROUTING) == "on") as plane:
        request.config.stash[BASELINE] = Baseline.take(plane.api)
        yield plane


@pytest.fixture
def cluster(control_plane: ControlPlane, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A cluster for one test, left as it was found."""
    control_plane.check()
    yield Cluster(control_plane)
    control_plane.check()
    request.config.stash[BASELINE].restore(control_plane.api)
