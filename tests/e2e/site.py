"""A set of a cluster that is synced from a Git repo of its own: what every end-to-end test starts from."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from git import Actor
from git import Repo as GitRepo

from agent.build import syncer_of, tools_of
from agent.core.intents import Outcome
from agent.core.ledger import Ledger
from agent.core.model import Body, ObjectId
from agent.core.orders import Order
from agent.core.policy import id_of
from agent.settings import Settings, load_settings
from agent.shell.report import Report, State
from agent.shell.tick import Syncer
from tests.e2e.releases import Files, documents
from tests.rig.cluster import Cluster

FOLDER = "release"
AUTHOR = Actor("releases", "releases@example.org")
PAUSE = 0.3


class Site:
    """One set, its repo and its trapeze.yaml, both below ``folder``; ``words`` are more keys of the set."""

    def __init__(self, cluster: Cluster, folder: Path, set_name: str, **words: Any) -> None:
        self.cluster = cluster
        self.folder = folder
        self.set_name = set_name
        self._repo = GitRepo.init(folder / "repo", initial_branch="main")
        self._set = {"name": set_name, "repo": "repo", "ref": "main", "path": FOLDER, **words}
        self.config = folder / "trapeze.yaml"
        self.configure()
        self.outcomes: list[Outcome] = []

    def configure(self, kubeconfig: Path | None = None, **words: Any) -> None:
        """Write trapeze.yaml anew, with another kubeconfig or other keys of the set."""
        whole = {
            "kubeconfig": str(kubeconfig or self.cluster.kubeconfig),
            "cache_dir": "cache",
            "sets": [{**self._set, **words}],
        }
        self.config.write_text(json.dumps(whole))

    @property
    def settings(self) -> Settings:
        """The configuration as the agent reads it."""
        return load_settings(self.config)

    @property
    def head(self) -> str:
        """The commit that the branch names."""
        return self._repo.head.commit.hexsha

    def commit(self, files: Files, message: str) -> str:
        """Make these files the whole of the release; the commit."""
        folder = self.folder / "repo" / FOLDER
        folder.mkdir(exist_ok=True)
        for path in folder.iterdir():
            path.unlink()
        for name, text in files.items():
            (folder / name).write_text(text)
        self._repo.git.add(all=True)
        return self._repo.index.commit(message, author=AUTHOR, committer=AUTHOR).hexsha

    def start(self, files: Files) -> None:
        """Put a first release in service."""
        self.commit(files, "first release")
        self.sync()

    def syncer(self) -> Syncer:
        """A syncer that knows nothing yet, as in a new process."""
        settings = self.settings
        return syncer_of(
            settings, settings.set_named(self.set_name), tools_of(settings), self.outcomes.append
        )

    def sync(self, order: Order = Order.GATED, within: float = 90) -> Report:
        """Tick until the release is in service; TimeoutError names what holds."""
        return self.tick_until(lambda report: report.state is State.IN_SERVICE, order, within)

    def tick_until(
        self, seen: Callable[[Report], bool], order: Order = Order.GATED, within: float = 90
    ) -> Report:
        """Tick until a report is as wanted; TimeoutError names what holds."""
        syncer = self.syncer()
        deadline = time.monotonic() + within
        while True:
            report = syncer.tick(order)
            if seen(report):
                return report
            if time.monotonic() > deadline:
                raise TimeoutError(f"not within {within:g} s; {held(report)}")
            time.sleep(PAUSE)

    def ledger(self) -> Ledger:
        """The set's ledger as it stands in the cluster."""
        return tools_of(self.settings).store.load(self.set_name)[0]


def bodies(files: Files) -> dict[ObjectId, Body]:
    """The objects of a release by identity (all of them name their namespace)."""
    return {id_of(body): body for text in files.values() for body in documents(text)}


def held(report: Report) -> str:
    """What a report says is held, in words."""
    if report.plan is None:
        return report.state.value
    rows = [
        f"{step.key}: {'; '.join(gate.reason for gate in step.closed_gates)}"
        for step in report.plan.held_steps
    ]
    rows += [f"{gate.name}: {gate.reason}" for gate in report.plan.handover if not gate.is_open]
    return f"{report.state.value}; " + "\n".join([*rows, *report.errors])
