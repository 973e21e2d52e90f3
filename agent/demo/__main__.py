"""``python -m agent.demo [--kubeconfig FILE] [--pause SECONDS]``."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rich.console import Console

from agent.build import health_of, kinds_of, policy_of, source_of, syncer_of
from agent.core.model import Body, Desired, ObjectId
from agent.core.promise import Verdict
from agent.core.serving import Routes
from agent.core.terms import Terms
from agent.demo.model_stage import ModelStage
from agent.demo.real_stage import RealStage
from agent.demo.releases import SAMPLES, ReleaseRepo
from agent.demo.screen import Screen
from agent.demo.stage import Stage
from agent.demo.story import Act, Story
from agent.errors import TrapezeError
from agent.settings import DEFAULT_FILE, load_settings
from agent.shell.recording import Recording, judge
from agent.shell.store import LedgerStore
from agent.shell.tick import Tools

PAUSE: Final = 0.5
"""Seconds to read one tick; a real cluster's own time is slow enough."""

WIDEST: Final = 100

ENDPOINTS: Final = 2
"""Ready endpoints that a path of the samples keeps at least, once it had so many."""


def main(arguments: list[str]) -> int:
    """Play the demo; 0 when it went to its end, 1 for errors."""
    parser = argparse.ArgumentParser("python -m agent.demo", description="A handoff to watch.")
    parser.add_argument("--kubeconfig", help="play on a cluster of the test rig, in real time")
    parser.add_argument("--pause", type=float, default=PAUSE, help="seconds to read one tick (default 0.5)")
    asked = parser.parse_args(arguments)
    console = Console(highlight=False, markup=False, emoji=False)
    console.width = min(console.width, WIDEST)
    try:
        if asked.kubeconfig:
            with RealStage(asked.kubeconfig) as stage:
                play(stage, Screen(console, 0))
        else:
            play(ModelStage(), Screen(console, asked.pause))
    except (TrapezeError, TimeoutError) as error:
        sys.stderr.write(f"demo: {error}\n")
        return 1
    return 0


def play(stage: Stage, screen: Screen, samples: Path = SAMPLES) -> Mapping[str, Act]:
    """The whole story on a stage, with a repository and a cache in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="trapeze-demo-") as name:
        folder = Path(name)
        config = Path(shutil.copy(samples / DEFAULT_FILE, folder))
        settings = load_settings(config)
        library = settings.set_named("library")
        repo = ReleaseRepo(Path(library.repo), samples)
        store = LedgerStore(stage.cluster, settings.ledger_namespace)
        tables = policy_of(settings), health_of(settings), kinds_of()
        tools = Tools(stage.cluster, store, *tables, stage.now)
        syncer = syncer_of(settings, library, tools)
        routes, source = Routes(tools.policy, tools.health), source_of(settings, library)

        def judged(recording: Recording, old: str, new: str) -> Verdict:
            before, after = (_bodies(source.desired(commit, tools.kinds)) for commit in (old, new))
            return judge(recording, routes, Terms.between(before, after, routes, minimum=ENDPOINTS))

        return Story(stage, syncer, repo, screen, judged).play()


def _bodies(desired: Desired) -> Mapping[ObjectId, Body]:
    return {key: manifest.body for key, manifest in desired.manifests.items()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
