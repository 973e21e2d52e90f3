"""An upgrade from Git on a real cluster: the repo of a test, its configuration, its ticks, its judges."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from git import Actor
from git import Repo as GitRepo

from agent.build import health_of, policy_of, syncer_of, tools_of
from agent.core.handoff import Outcome
from agent.core.model import Body, ObjectId
from agent.core.policy import id_of
from agent.core.promise import Verdict
from agent.core.serving import Routes
from agent.core.terms import Terms
from agent.settings import Settings, load_settings
from agent.shell.kube import connect
from agent.shell.recorder import Recorder, kinds_to_record
from agent.shell.recording import Recording, judge
from agent.shell.report import Order, Report, State
from agent.shell.tick import Syncer
from tests.e2e.objects import STORED_POLICY
from tests.e2e.releases import CORE, Files, Layout, documents
from tests.rig.cluster import Cluster
from tests.rig.sampler import Result, Sampler

SET = "calico"
FOLDER = "release"
API = "projectcalico.org/v3"
PAUSE = 0.3
SAMPLES = 300
AUTHOR = Actor("releases", "releases@example.org")


@dataclass
class Watch:
    """What watched an upgrade from outside; ``result`` and ``recording`` are there when it has ended."""

    sampler: Sampler
    recorder: Recorder
    started: float = field(default_factory=time.time)
    recording: Recording = field(init=False)

    @property
    def result(self) -> Result:
        """The samples."""
        return self.sampler.result


class Upgrade:
    """One set of one cluster, synced from a repo of its own below ``folder``.

    ``cluster`` gets what stands before the first release.
    """

    def __init__(self, cluster: Cluster, folder: Path, layout: Layout, settle: float = 3.0) -> None:
        self.cluster = cluster
        self.folder = folder
        self.layout = layout
        self._settle = settle
        self._repo = GitRepo.init(folder / "repo", initial_branch="main")
        self.config = folder / "trapeze.yaml"
        self.config.write_text(json.dumps(self._configuration()))
        self.outcomes: list[Outcome] = []
        cluster.apply(CORE, manager="installer")

    def _configuration(self) -> Body:
        one = {
            "name": SET,
            "repo": "repo",
            "ref": "main",
            "path": FOLDER,
            "settle": self._settle,
            "prune": {"allow": [f"Namespace {self.layout.old.namespace}"]},
        }
        return {"kubeconfig": str(self.cluster.kubeconfig), "cache_dir": "cache", "sets": [one]}

    @property
    def settings(self) -> Settings:
        """The configuration as the agent reads it."""
        return load_settings(self.config)

    @property
    def routes(self) -> Routes:
        """The tables that serving paths are found and judged by."""
        return Routes(policy_of(self.settings), health_of(self.settings))

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

    @property
    def head(self) -> str:
        """The commit that the set's branch names."""
        return self._repo.head.commit.hexsha

    def start(self, files: Files) -> None:
        """Put a first release in service."""
        self.commit(files, "old release")
        self.sync()

    def syncer(self) -> Syncer:
        """A syncer that knows nothing yet."""
        settings = self.settings
        return syncer_of(settings, settings.set_named(SET), tools_of(settings), self.outcomes.append)

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

    def terms(self, old: Files, new: Files) -> Terms:
        """What the upgrade announces that it gives up; a path that had two ready endpoints keeps two."""
        return Terms.between(bodies(old), bodies(new), self.routes, minimum=2)

    @contextmanager
    def watching(self, samples: int = SAMPLES) -> Iterator[Watch]:
        """Samples through the aggregator and a recording; goes on after the block until there are enough."""
        probe = self.cluster.through_aggregator(API, "networkpolicies")
        own = connect(str(self.cluster.kubeconfig), pool_size=40)
        resources = kinds_to_record(own.discover(), policy_of(self.settings), [STORED_POLICY])
        sampler = self.cluster.sampling(probe)
        with sampler, Recorder(own, resources) as recorder:
            watch = Watch(sampler, recorder)
            sampler.wait_samples(10)
            yield watch
            sampler.wait_samples(samples)
        watch.recording = recorder.recording()
        own.close()

    def judged(self, watch: Watch, old: Files, new: Files) -> Verdict:
        """The promise on every state that was recorded."""
        return judge(watch.recording, self.routes, self.terms(old, new))


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
