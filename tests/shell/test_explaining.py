"""The command explain, on a repo alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.cli import app
from agent.errors import ConfigError
from tests.core.test_explain import RELEASE
from tests.shell.gitrepos import GitRepo


def repo_of(folder: Path) -> str:
    repo = GitRepo(folder)
    repo.commit({"release.yaml": RELEASE})
    return str(folder)


def test_explain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = repo_of(tmp_path / "repo")
    assert (
        app(["explain", "deployment", "default/web", "--repo", repo, "-o", "json"], standalone_mode=False)
        == 0
    )
    assert [one["holder"]["kind"] for one in json.loads(capsys.readouterr().out)["namedBy"]] == ["Service"]


def test_nobody_by_that_name_is_an_error(tmp_path: Path) -> None:
    repo = repo_of(tmp_path / "repo")
    with pytest.raises(ConfigError, match="Deployment nothing: there is no such object"):
        app(["explain", "Deployment", "nothing", "--repo", repo], standalone_mode=False)
