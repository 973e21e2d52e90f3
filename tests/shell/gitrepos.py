"""Git repos for tests, made by git itself with fixed names and times."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from agent.shell.repo import Repo


class GitRepo:
    """A repo with a work tree to commit from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main", ".")

    def git(self, *arguments: str) -> str:
        """A git command in the work tree; its output without the final newline."""
        environment = {
            **os.environ,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_NAME": "t",
            "GIT_AUTHOR_EMAIL": "t@example.com",
            "GIT_COMMITTER_NAME": "t",
            "GIT_COMMITTER_EMAIL": "t@example.com",
        }
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=environment, check=True, capture_output=True, text=True
        )
        return done.stdout.rstrip("\n")

    def commit(self, files: Mapping[str, str | bytes | None]) -> str:
        """Write files (None removes one), commit them all, and give the commit."""
        for name, content in files.items():
            file = self.folder / name
            if content is None:
                file.unlink()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=change")
        return self.git("rev-parse", "HEAD")


def config_map(name: str, value: str = "1") -> str:
    """A ConfigMap's manifest."""
    return f'apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{v: "{value}"}}\n'


def listed(repo: Repo, commit: str, *paths: str) -> list[str]:
    """The paths of the manifests that a mirror finds."""
    return sorted(repo.blobs(commit, paths).blobs)
