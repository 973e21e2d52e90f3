"""The adapters of the port: each contract test runs against every one of them."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.shell.cluster import Cluster
from agent.shell.embedded import EmbeddedCluster
from agent.shell.kube import KubeCluster, connect
from tests.contract.bench import Bench, named, namespace
from tests.rig import components
from tests.rig.cluster import Cluster as RigCluster

KUBE = pytest.param(
    "kube",
    marks=[
        pytest.mark.cluster,
        pytest.mark.skipif(sys.platform != "linux", reason="the control plane needs Linux"),
    ],
)


@pytest.fixture(params=["embedded", KUBE])
def bench(request: pytest.FixtureRequest) -> Bench:
    """An adapter with a namespace ``shop``."""
    return _with_namespace(request.getfixturevalue(f"{request.param}_bench"))


@pytest.fixture
def server(kube_bench: Bench) -> Bench:
    """The API server's adapter alone, for what is the server's own wording."""
    return _with_namespace(kube_bench)


def _with_namespace(bench: Bench) -> Bench:
    bench.apply(namespace())
    account = named("v1", "ServiceAccount", "default", "shop")
    bench.until("the default ServiceAccount of shop", lambda: bench.live(account))
    return bench


@pytest.fixture
def embedded_bench() -> Bench:
    """The adapter of the model in this process."""
    cluster = EmbeddedCluster()
    return Bench(cluster, cluster.advance, cluster.acting_as, ca_bundle="")


@pytest.fixture
def kube_bench(cluster: RigCluster, tmp_path: Path) -> Iterator[Bench]:
    """The adapter of a real API server."""
    opened: list[KubeCluster] = []

    def acting_as(namespace: str, name: str) -> Cluster:
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        token = cluster.api.request("POST", path, review)["status"]["token"]
        where = tmp_path / f"{namespace}-{name}"
        where.write_text(json.dumps(components.kubeconfig(cluster.ca_bundle, token)))
        opened.append(connect(str(where), None))
        return opened[-1]

    opened.append(connect(str(cluster.kubeconfig), None))
    yield Bench(opened[0], time.sleep, acting_as, cluster.ca_bundle)
    for one in opened:
        one.close()
