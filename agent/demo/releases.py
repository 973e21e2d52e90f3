"""The sample releases as a Git repository: one commit for each, the same on every machine."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from git import Actor, Repo

from agent.errors import SourceError

SAMPLES: Final = Path(__file__).parents[2] / "sample-repo"
BRANCH: Final = "main"
MANIFESTS: Final = "manifests"
_AUTHOR: Final = Actor("The Library", "library@library.example")
_DAY: Final = 86400
_FIRST: Final = 1_735_689_600
"""2025-01-01 in UTC, epoch seconds; fixed dates make fixed commits."""


class ReleaseRepo:
    """A repository in ``folder`` whose branch ``main`` moves on from release to release.

    Raises SourceError where the samples are not there: they are part of a checkout, not of the wheel.
    """

    def __init__(self, folder: Path, samples: Path = SAMPLES) -> None:
        self.folder = folder
        self._releases = samples / "releases"
        self._commits = 0
        if not self._releases.is_dir():
            raise SourceError(f"no releases in {samples}: the demo runs from a checkout of the project")
        Repo.init(folder, initial_branch=BRANCH).close()

    def publish(self, release: str) -> str:
        """Commit the manifests of ``release`` (a folder's name) and answer the commit."""
        target = self.folder / MANIFESTS
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self._releases / release, target)
        date = f"{_FIRST + self._commits * _DAY} +0000"
        self._commits += 1
        with Repo(self.folder) as repo:
            repo.git.add("--all", MANIFESTS)
            commit = repo.index.commit(
                f"Release {release}",
                author=_AUTHOR,
                committer=_AUTHOR,
                author_date=date,
                commit_date=date,
                skip_hooks=True,
            )
            return str(commit.hexsha)
