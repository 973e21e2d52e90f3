"""A set's manifests out of Git, now and as applied earlier."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.core import ledger
from agent.core.kinds import KindInfo, Kinds
from agent.core.model import Form, GroupKind, ObjectId, Severity
from agent.core.refs import Ref, RefKind
from agent.errors import SourceError
from agent.settings import SetConfig
from agent.shell.repo import Repo
from agent.shell.source import Source
from tests.shell.gitrepos import GitRepo, config_map

MAIN = Ref(RefKind.ANY, "main")
KINDS = Kinds({GroupKind("", "ConfigMap"): KindInfo("configmaps", is_namespaced=True)})


@pytest.fixture
def origin(tmp_path: Path) -> GitRepo:
    return GitRepo(tmp_path / "origin")


@pytest.fixture
def source(origin: GitRepo, tmp_path: Path) -> Iterator[Source]:
    repo = Repo(str(origin.folder), tmp_path / "cache")
    yield Source(repo, tmp_path / "cache")
    repo.close()


def config(origin: GitRepo, *paths: str) -> SetConfig:
    return SetConfig(name="web", repo=str(origin.folder), ref=MAIN, paths=paths or (".",), namespace="app")


def entry(name: str, *bases: ledger.Source) -> ledger.Entry:
    return ledger.Entry(ObjectId("", "ConfigMap", "app", name), "v1", 1, bases, Form.FINAL)


def test_desired(origin: GitRepo, source: Source) -> None:
    origin.commit(
        {"b/two.yaml": config_map("c") + "---\n" + config_map("d"), "b/one.json": '{"k": [}', "x.yaml": "[\n"}
    )
    (origin.folder / "b" / "link.yaml").symlink_to("/two.yaml")
    commit = origin.commit({})
    assert source.repo.resolve(MAIN) == commit
    desired = source.desired(config(origin, "b"), commit, KINDS)
    assert desired.revision == commit
    assert [str(manifest.origin) for manifest in desired.manifests.values()] == [
        "b/two.yaml:1 (document 1)",
        "b/two.yaml:6 (document 2)",
    ]
    assert [(f.severity, str(f.origin)) for f in desired.findings] == [
        (Severity.OBJECT, "b/link.yaml:1 (document 1)"),
        (Severity.OBJECT, "b/one.json:1 (document 1)"),
    ]
    assert not desired.is_complete


def test_a_file_is_parsed_once(
    origin: GitRepo, source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin.commit({"a.yaml": config_map("a"), "copy.yaml": config_map("a"), "b.yaml": config_map("b")})
    commit = source.repo.resolve(MAIN)
    first = source.snapshot(commit, ["."])
    assert [doc.origin.file for doc in first["copy.yaml"].documents] == ["copy.yaml"]
    reads: list[set[str]] = []

    def watched(blob_ids: set[str]) -> dict[str, bytes]:
        reads.append(blob_ids)
        return dict(Repo.read(source.repo, blob_ids))

    monkeypatch.setattr(source.repo, "read", watched)
    fresh = Source(source.repo, tmp_path / "cache")
    assert source.snapshot(commit, ["."]) == first
    assert fresh.snapshot(commit, ["."]) == first
    assert reads == [set(), set()]
    origin.commit({"b.yaml": config_map("b", "2")})
    source.snapshot(source.repo.resolve(MAIN), ["."])
    assert [len(blob_ids) for blob_ids in reads] == [0, 0, 1]


def test_a_spoiled_cache_is_read_again(origin: GitRepo, source: Source, tmp_path: Path) -> None:
    origin.commit({"a.yaml": config_map("a")})
    commit = source.repo.resolve(MAIN)
    first = source.snapshot(commit, ["."])
    (kept,) = (path for path in (tmp_path / "cache" / "readings").rglob("*") if path.is_file())
    kept.write_bytes(kept.read_bytes()[:20])
    assert Source(source.repo, tmp_path / "cache").snapshot(commit, ["."]) == first


def test_what_is_kept_is_for_one_user_alone(origin: GitRepo, source: Source, tmp_path: Path) -> None:
    origin.commit({"a.yaml": config_map("a")})
    source.snapshot(source.repo.resolve(MAIN), ["."])
    kept = list((tmp_path / "cache" / "readings").rglob("*"))
    assert kept
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in kept)
    assert all(
        stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in (tmp_path / "cache" / "repos").iterdir()
    )


def test_another_reader_starts_anew(
    origin: GitRepo, source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin.commit({"a.yaml": config_map("a")})
    commit = source.repo.resolve(MAIN)
    first = source.snapshot(commit, ["."])
    monkeypatch.setattr("agent.shell.readings.reader_version", lambda: "next")
    assert Source(source.repo, tmp_path / "cache").snapshot(commit, ["."]) == first
    assert [folder.name for folder in (tmp_path / "cache" / "readings").iterdir()] == ["next"]


LIST = """
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: a, creationTimestamp: null}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: b}
  status: {}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: app}
"""


def test_applied_is_what_was_desired_then(origin: GitRepo, source: Source) -> None:
    old = origin.commit({"all.yaml": LIST, "d.yaml": config_map("d", "1")})
    assert source.repo.resolve(MAIN) == old
    then = source.desired(config(origin), old, KINDS)
    new = origin.commit({"all.yaml": None, "d.yaml": config_map("d", "2")})
    assert source.repo.resolve(MAIN) == new
    entries = [
        entry(manifest.id.name, ledger.Source(old, manifest.origin.file, manifest.origin.document))
        for manifest in then.manifests.values()
    ]
    applied = source.applied(entries)
    assert applied.missing == ()
    assert applied.bodies == {key: (manifest.body,) for key, manifest in then.manifests.items()}
    assert [base.document for one in entries for base in one.bases] == [1, 2, 3, 1]


def test_bases_keep_their_order(origin: GitRepo, source: Source) -> None:
    commits = [origin.commit({"d.yaml": config_map("d", value)}) for value in ("1", "2")]
    source.repo.resolve(MAIN)
    applied = source.applied([entry("d", *(ledger.Source(commit, "d.yaml", 1) for commit in commits))])
    assert [body["data"]["v"] for body in applied.bodies[ObjectId("", "ConfigMap", "app", "d")]] == ["1", "2"]


def test_what_cannot_be_read_again_is_told(origin: GitRepo, source: Source) -> None:
    commit = origin.commit({"d.yaml": config_map("d")})
    source.repo.resolve(MAIN)
    gone = "1" * 40
    applied = source.applied(
        [
            entry("d", ledger.Source(gone, "d.yaml", 1), ledger.Source(commit, "d.yaml", 1)),
            entry("e", ledger.Source(commit, "d.yaml", 1)),
            entry("f", ledger.Source(commit, "d.yaml", 2)),
            entry("g", ledger.Source(commit, "none.yaml", 1)),
        ]
    )
    assert [len(bodies) for bodies in applied.bodies.values()] == [1, 0, 0, 0]
    assert applied.missing == (
        f"d.yaml document 1 at {commit} is not ConfigMap app/e",
        f"d.yaml has no document 2 at {commit}",
        f"none.yaml has no document 1 at {commit}",
        (
            f"resolving commit {gone} of {origin.folder}: no branch or tag has it; "
            "write the full id of a pushed commit"
        ),
    )


def test_a_disk_that_refuses(origin: GitRepo, source: Source, tmp_path: Path) -> None:
    origin.commit({"a.yaml": config_map("a")})
    commit = source.repo.resolve(MAIN)
    (tmp_path / "cache" / "readings").write_text("")
    with pytest.raises(SourceError, match=r"keeping a parsed file in .*; set cache_dir"):
        source.snapshot(commit, ["."])
