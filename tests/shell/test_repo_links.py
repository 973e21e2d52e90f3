"""Links and submodules of a commit: what is followed, once and within it, and what is refused."""

from __future__ import annotations

import pytest

from agent.core.model import Severity
from agent.core.refs import Ref, RefKind
from agent.errors import SourceError
from agent.shell.repo import Repo
from tests.shell.gitrepos import GitRepo, config_map, listed

MAIN = Ref(RefKind.ANY, "main")


def link(origin: GitRepo, links: dict[str, str]) -> None:
    for name, target in links.items():
        (origin.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (origin.folder / name).symlink_to(target)


def test_links_within_the_commit_are_followed(origin: GitRepo, repo: Repo) -> None:
    """What is linked is part of the set, as for kubectl (argoproj/argo-cd#9843)."""
    link(origin, {"apps/in.yaml": "../shared/a.yaml", "apps/folder": "../shared", "apps/NOTES.md": "in.yaml"})
    commit = origin.commit({"shared/a.yaml": config_map("a"), "shared/deep/b.yaml": config_map("b")})
    assert repo.resolve(MAIN) == commit
    found = repo.blobs(commit, ["apps"])
    assert sorted(found.blobs) == ["apps/folder/a.yaml", "apps/folder/deep/b.yaml", "apps/in.yaml"]
    assert [(f.severity, str(f.origin)) for f in found.findings] == [
        (Severity.WARNING, "apps/NOTES.md:1 (document 1)")
    ]
    by_path = repo.find(commit, ["apps/in.yaml", "apps/folder/deep/b.yaml", "apps/folder", "shared/a.yaml"])
    assert by_path == {
        "apps/in.yaml": found.blobs["apps/in.yaml"].blob_id,
        "apps/folder/deep/b.yaml": found.blobs["apps/folder/deep/b.yaml"].blob_id,
        "shared/a.yaml": found.blobs["apps/in.yaml"].blob_id,
    }
    assert listed(repo, commit, "shared") == ["shared/a.yaml", "shared/deep/b.yaml"]


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("/etc/passwd", "a symbolic link out of the repository is not followed"),
        ("../../../etc/passwd", "a symbolic link out of the repository is not followed"),
        ("../apps/../../x.yaml", "a symbolic link out of the repository is not followed"),
        ("gone.yaml", "a symbolic link names nothing at this commit"),
        ("second.yaml", "a symbolic link behind another is not followed"),
        ("bad.yaml", "a symbolic link behind another is not followed"),
    ],
)
def test_a_link_that_leads_nowhere_good_is_an_error(
    origin: GitRepo, repo: Repo, target: str, problem: str
) -> None:
    """Links that leave the repo read files of the agent's host (argoproj/argo-cd#12593)."""
    link(origin, {"apps/bad.yaml": target, "apps/second.yaml": "a.yaml"})
    origin.commit({"apps/a.yaml": config_map("a")})
    found = repo.blobs(repo.resolve(MAIN), ["apps"])
    assert sorted(found.blobs) == ["apps/a.yaml", "apps/second.yaml"]
    assert [(f.severity, f.message) for f in found.findings] == [(Severity.OBJECT, problem)]
    assert "passwd" not in repr(found)


def test_a_link_in_a_circle_ends(origin: GitRepo, repo: Repo) -> None:
    link(origin, {"loop/self": "."})
    origin.commit({"loop/a.yaml": config_map("a")})
    found = repo.blobs(repo.resolve(MAIN), ["loop"])
    assert sorted(found.blobs) == ["loop/a.yaml", "loop/self/a.yaml"]
    assert [(f.severity, str(f.origin)) for f in found.findings] == [
        (Severity.OBJECT, "loop/self/self:1 (document 1)")
    ]


def test_a_path_of_bad_links_alone_is_told(origin: GitRepo, repo: Repo) -> None:
    link(origin, {"bad/out.yaml": "../../../etc/passwd"})
    commit = origin.commit({"apps/a.yaml": config_map("a")})
    assert repo.resolve(MAIN) == commit
    assert listed(repo, commit, "apps") == ["apps/a.yaml"]
    with pytest.raises(SourceError, match=r"0 manifests .*bad/out.yaml:1 .*out of the repository") as raised:
        repo.blobs(commit, ["bad"])
    assert "passwd" not in str(raised.value)


def test_submodules_are_not_followed(origin: GitRepo, repo: Repo) -> None:
    origin.commit({"apps/a.yaml": config_map("a")})
    origin.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},apps/sub")
    origin.git("commit", "--quiet", "--message=submodule")
    found = repo.blobs(repo.resolve(MAIN), ["apps"])
    assert sorted(found.blobs) == ["apps/a.yaml"]
    assert [(f.severity, str(f.origin).partition(":")[0]) for f in found.findings] == [
        (Severity.WARNING, "apps/sub")
    ]
