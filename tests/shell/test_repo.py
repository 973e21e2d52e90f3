"""The mirror of a Git repo: refs told apart, trees listed, blobs read, errors with a way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.core.refs import Ref, RefKind
from agent.errors import SourceError
from agent.shell import repo_tree
from agent.shell.repo import Repo
from tests.shell.gitrepos import GitRepo, config_map, listed

BRANCH, TAG, COMMIT, ANY = RefKind.BRANCH, RefKind.TAG, RefKind.COMMIT, RefKind.ANY


def test_branch_and_tag_of_one_name_are_told_apart(origin: GitRepo, repo: Repo) -> None:
    """A setting that says `v1` alone would deploy whichever git prefers (ESMCI/manage_externals#26)."""
    tagged = origin.commit({"a.yaml": config_map("a", "tag")})
    origin.git("tag", "--annotate", "--message=one", "v1")
    origin.git("switch", "--quiet", "--create", "v1")
    branched = origin.commit({"a.yaml": config_map("a", "branch")})
    assert repo.resolve(Ref(TAG, "v1")) == tagged
    assert repo.resolve(Ref(BRANCH, "v1")) == branched
    assert repo.resolve(Ref(ANY, "refs/heads/v1")) == branched
    assert repo.resolve(Ref(ANY, "main")) == tagged
    with pytest.raises(
        SourceError, match=r"it is a branch and a tag; say ref: \{branch: v1\} or ref: \{tag: v1\}"
    ):
        repo.resolve(Ref(ANY, "v1"))


def test_a_ref_follows_pushes_also_forced_ones(origin: GitRepo, repo: Repo) -> None:
    first = origin.commit({"a.yaml": config_map("a", "1")})
    assert repo.resolve(Ref(ANY, "main")) == first
    origin.git("commit", "--quiet", "--amend", "--message=other")
    amended = origin.git("rev-parse", "HEAD")
    assert repo.resolve(Ref(BRANCH, "main")) == amended
    assert repo.has(first)


def test_commits_by_full_and_short_id(origin: GitRepo, repo: Repo) -> None:
    first = origin.commit({"a.yaml": config_map("a", "1")})
    origin.commit({"a.yaml": config_map("a", "2")})
    assert not repo.has(first)
    assert repo.resolve(Ref(COMMIT, first[:9])) == first
    assert repo.resolve(Ref(COMMIT, first)) == first
    assert repo.resolve(Ref(ANY, first[:9])) == first
    with pytest.raises(SourceError, match="no branch or tag has it; write the full id of a pushed commit"):
        repo.resolve(Ref(COMMIT, "0" * 40))


def test_a_commit_that_no_branch_has_is_asked_for_by_id(origin: GitRepo, repo: Repo) -> None:
    lost = origin.commit({"a.yaml": config_map("a", "1")})
    origin.git("config", "uploadpack.allowAnySHA1InWant", "true")
    origin.git("commit", "--quiet", "--amend", "--message=other")
    assert repo.resolve(Ref(COMMIT, lost)) == lost


@pytest.mark.parametrize(
    ("ref", "message"),
    [
        (Ref(BRANCH, "mian"), "resolving branch mian of .*: there is no such branch; did you mean main?"),
        (Ref(TAG, "v9"), "there is no such tag; did you mean v1?"),
        (Ref(ANY, "qqqqq"), "there is no such branch or tag; it has 2 of them"),
    ],
)
def test_an_unknown_ref(origin: GitRepo, repo: Repo, ref: Ref, message: str) -> None:
    origin.commit({"a.yaml": config_map("a")})
    origin.git("tag", "v1")
    with pytest.raises(SourceError, match=message):
        repo.resolve(ref)


def test_a_tag_that_names_no_commit(origin: GitRepo, repo: Repo) -> None:
    origin.commit({"a.yaml": config_map("a")})
    origin.git("tag", "blob", origin.git("rev-parse", "HEAD:a.yaml"))
    with pytest.raises(SourceError, match=r"resolving tag blob of .*: it names no commit"):
        repo.resolve(Ref(TAG, "blob"))


def test_paths_and_globs(origin: GitRepo, repo: Repo) -> None:
    origin.commit(
        dict.fromkeys(
            ("top.yaml", "a/x.yml", "a/y.json", "a/b/z.yaml", "ab/n.yaml", "a/README.md", "a/s.yaml.bak"),
            "k: v\n",
        )
        | {"a/ü [1].yaml": "k: v\n"}
    )
    commit = repo.resolve(Ref(ANY, "main"))
    assert listed(repo, commit, ".") == [
        "a/b/z.yaml",
        "a/x.yml",
        "a/y.json",
        "a/ü [1].yaml",
        "ab/n.yaml",
        "top.yaml",
    ]
    assert listed(repo, commit, "a") == ["a/b/z.yaml", "a/x.yml", "a/y.json", "a/ü [1].yaml"]
    assert listed(repo, commit, "a/*.y[am]*") == ["a/x.yml", "a/ü [1].yaml"]
    assert listed(repo, commit, "*/b", "top.yaml") == ["a/b/z.yaml", "top.yaml"]
    assert listed(repo, commit, "**/*.yaml") == ["a/b/z.yaml", "a/ü [1].yaml", "ab/n.yaml", "top.yaml"]
    assert listed(repo, commit, "a/?.[!j]*") == ["a/x.yml"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("none", "reading none at commit {commit} of .*: there is no such path; check path and ref"),
        ("docs", "reading docs at commit {commit} of .*: 0 manifests .* among 2 files; check the path"),
    ],
)
def test_an_empty_source(origin: GitRepo, repo: Repo, path: str, message: str) -> None:
    """A wrong path pruned everything, or hung without a word (argoproj/argo-cd#10987)."""
    origin.commit({"docs/README.md": "", "docs/a.yaml.BAK": "", "a.yaml": config_map("a")})
    commit = repo.resolve(Ref(ANY, "main"))
    with pytest.raises(SourceError, match=message.format(commit=commit)):
        repo.blobs(commit, ["a.yaml", path])


def test_files_that_are_not_read(origin: GitRepo, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repo_tree, "LARGEST", 2**20)
    origin.commit({"a.yaml": config_map("a"), "big.yaml": b"#" * (3 * 2**20), "new\nline.yaml": "k: v\n"})
    found = repo.blobs(repo.resolve(Ref(ANY, "main")), ["."])
    assert sorted(found.blobs) == ["a.yaml"]
    assert [str(f).partition(";")[0] for f in found.findings] == [
        "big.yaml:1 (document 1): the file has 3 MiB, and at most 1 are read",
        "new\\nline.yaml:1 (document 1): the file's name is not readable text",
    ]


def test_blobs_are_read_through_one_process(origin: GitRepo, repo: Repo) -> None:
    origin.commit(
        {f"{n}.yaml": config_map(f"c{n}") for n in range(20)} | {"crlf.yaml": b"a: 1\r\n", "empty.yaml": b""}
    )
    found = repo.blobs(repo.resolve(Ref(ANY, "main")), ["."])
    contents = repo.read(ref.blob_id for ref in found.blobs.values())
    assert contents[found.blobs["7.yaml"].blob_id].decode() == config_map("c7")
    assert contents[found.blobs["crlf.yaml"].blob_id] == b"a: 1\r\n"
    assert contents[found.blobs["empty.yaml"].blob_id] == b""
    with pytest.raises(SourceError, match="reading files of"):
        repo.read(["0" * 40])
    assert repo.read([found.blobs["7.yaml"].blob_id])


def test_kept_commits_outlive_a_forced_push_and_gc(origin: GitRepo, repo: Repo, tmp_path: Path) -> None:
    old = origin.commit({"a.yaml": config_map("a", "1")})
    assert repo.resolve(Ref(ANY, "main")) == old
    repo.keep("web", [old])
    origin.git("commit", "--quiet", "--amend", "--message=other")
    new = repo.resolve(Ref(ANY, "main"))
    (mirror,) = (tmp_path / "cache" / "repos").iterdir()
    origin.git("--git-dir", str(mirror), "gc", "--quiet", "--prune=now")
    assert listed(repo, old, ".") == ["a.yaml"]
    repo.keep("web", [new])
    repo.keep("other", [new])
    refs = origin.git("--git-dir", str(mirror), "for-each-ref", "--format=%(refname)", "refs/trapeze/keep")
    assert refs.split() == [f"refs/trapeze/keep/other/{new}", f"refs/trapeze/keep/web/{new}"]
    with pytest.raises(SourceError, match="keeping ffffffffffff of"):
        repo.keep("web", ["f" * 40])


@pytest.mark.parametrize("url", ["{folder}", "file://{folder}", "{folder}/.git"])
def test_local_urls(origin: GitRepo, tmp_path: Path, url: str) -> None:
    commit = origin.commit({"a.yaml": config_map("a")})
    assert Repo(url.format(folder=origin.folder), tmp_path / "cache").resolve(Ref(ANY, "main")) == commit


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            "{tmp}/none",
            "asking for the refs of .*/none: .* does not appear to be a git repository.*; check the repo's",
        ),
        (
            "https://user:marker@127.0.0.1:9/a.git?token=marker",
            "asking for the refs of https://\\*\\*\\*@127.0.0.1:9/a.git: .*; check",
        ),
        ("git://127.0.0.1:9/a.git", "transport 'git' not allowed"),
        ("ext::sh -c true", "transport 'ext' not allowed"),
    ],
)
def test_a_repo_that_cannot_be_read(tmp_path: Path, url: str, message: str) -> None:
    with pytest.raises(SourceError, match=message) as raised:
        Repo(url.format(tmp=tmp_path), tmp_path / "cache").resolve(Ref(ANY, "main"))
    assert "marker" not in str(raised.value)
    assert not [path for path in (tmp_path / "cache").rglob("*") if "marker" in path.name]


def test_a_repo_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_SSH_COMMAND", "sleep 60 #")
    with pytest.raises(
        SourceError, match=r"asking for the refs of ssh://.*did not complete in 0.2 secs.*; check the host"
    ):
        Repo("ssh://host.invalid/a.git", tmp_path / "cache", timeout=0.2).resolve(Ref(ANY, "main"))


def test_a_repo_that_wants_credentials_asks_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_SSH_COMMAND", "echo Permission denied '(publickey)' >&2; exit 255 #")
    with pytest.raises(SourceError, match=r"Permission denied .*; check the credentials"):
        Repo("ssh://host.invalid/a.git", tmp_path / "cache").resolve(Ref(ANY, "main"))


def test_hooks_of_the_mirror_do_not_run(origin: GitRepo, repo: Repo, tmp_path: Path) -> None:
    origin.commit({"a.yaml": config_map("a")})
    repo.resolve(Ref(ANY, "main"))
    (mirror,) = (tmp_path / "cache" / "repos").iterdir()
    hook = mirror / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    repo.resolve(Ref(BRANCH, "main"))
    origin.commit({"a.yaml": config_map("a", "2")})
    repo.resolve(Ref(ANY, "main"))
    assert not (tmp_path / "ran").exists()


def test_a_cache_that_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("")
    with pytest.raises(SourceError, match=r"making a mirror in .*; set cache_dir"):
        Repo("/none", tmp_path / "cache").resolve(Ref(ANY, "main"))
