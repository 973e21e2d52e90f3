"""Fixtures of the shell's tests: a scripted server and the adapter that talks to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.shell.kube import KubeCluster, connect
from tests.shell.wire import Wire, kubeconfig, serve


@pytest.fixture
def wire() -> Iterator[Wire]:
    """A server that answers as it is told."""
    with serve() as server:
        yield server


@pytest.fixture
def kube(wire: Wire, tmp_path: Path) -> Iterator[KubeCluster]:
    """The adapter of the scripted server, with two connections."""
    adapter = connect(kubeconfig(tmp_path, wire.url), None, pool_size=2, timeout=5)
    yield adapter
    adapter.close()
