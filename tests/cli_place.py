"""Where the command is tried: a folder with a repo and a configuration, and an embedded cluster."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agent import build, cli
from agent.build import health_of, kinds_of, policy_of
from agent.settings import Settings
from agent.shell.embedded import EmbeddedCluster
from agent.shell.store import LedgerStore
from agent.shell.tick import Tools
from tests.shell.faults import Call, Hooked
from tests.shell.gitrepos import GitRepo


class Ran(NamedTuple):
    """What a run of the command gave."""

    code: Any
    out: str
    err: str


Run = Callable[..., Ran]


class Place:
    """A folder with a repo and a trapeze.yaml in it, and a cluster whose time moves at every look."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.repo = GitRepo(folder / "repo")
        self.world = EmbeddedCluster(start=1_700_000_000)
        self.config({"repo": "repo", "ref": "main", "path": "."})

    def config(self, *sets: dict[str, Any], **more: Any) -> None:
        """Write a trapeze.yaml with these sets, named set-1, set-2 and so on."""
        named = [{"name": f"set-{number}", "settle": 0, **one} for number, one in enumerate(sets, 1)]
        text = json.dumps({"sets": named, "cache_dir": "cache", **more})
        (self.folder / "trapeze.yaml").write_text(text, encoding="utf-8")

    def tools(self, settings: Settings) -> Tools:
        """What ``agent.build.tools_of`` gives, on the cluster of this place."""

        def hook(call: Call, do: Callable[[], Any]) -> Any:
            if call.method == "discover":
                self.world.advance(1)
            return do()

        cluster = Hooked(self.world, hook)
        store = LedgerStore(cluster, settings.ledger_namespace)
        now = self.world.now
        return Tools(cluster, store, policy_of(settings), health_of(settings), kinds_of(), now)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    found = Place(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(build, "tools_of", found.tools)
    monkeypatch.setattr(build, "watched_cluster_of", lambda _: found.world)
    monkeypatch.setattr(cli.syncing, "PAUSE", 0.0)
    return found


@pytest.fixture
def trapeze(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The console script, with these words after its name."""

    def run(*words: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["trapeze", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return Ran(ended.value.code, *capsys.readouterr())

    return run
