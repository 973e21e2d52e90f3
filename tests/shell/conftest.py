"""Fixtures of the shell's tests: a scripted server and its adapter, a repo and its mirror."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.shell.kube import KubeCluster, connect
from agent.shell.repo import Repo
from tests.shell.gitrepos import GitRepo
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


@pytest.fixture
def origin(tmp_path: Path) -> GitRepo:
    """A repo to push to."""
    return GitRepo(tmp_path / "origin")


@pytest.fixture
def repo(origin: GitRepo, tmp_path: Path) -> Iterator[Repo]:
    """Our mirror of ``origin``."""
    repo = Repo(str(origin.folder), tmp_path / "cache")
    yield repo
    repo.close()
