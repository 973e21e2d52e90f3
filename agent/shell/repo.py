"""A Git repo, read through a bare mirror of our own: refs, trees and blobs; never a work tree."""

from __future__ import annotations

import difflib
import fcntl
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import Final

from git.cmd import Git

from agent.core.refs import Ref, RefKind
from agent.errors import SourceError
from agent.shell.git_command import GitCommand, mask
from agent.shell.repo_links import Followed, target_of
from agent.shell.repo_tree import SUFFIXES, Listing, links, listing, prefix, regular_files

_FETCHED: Final = "refs/trapeze/fetched"
_KEPT: Final = "refs/trapeze/keep"
_FULL_ID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_LIST: Final = ("ls-tree", "-r", "-z", "-l", "--full-tree")
_SHORT: Final = 12
"""Digits of a commit in messages."""


class Repo:
    """One repo. ``url`` is a local path or a file, https or ssh URL; ``timeout`` is in seconds a command.

    The mirror lives in ``cache_dir`` and is made at first use. Instances may be used from several threads
    and processes: what writes to the mirror holds one lock file. ``close`` ends the reading process.
    """

    def __init__(self, url: str, cache_dir: Path, timeout: float = 300.0) -> None:
        self.url = url
        self.shown = mask(url)
        name = re.sub(r"[^a-z0-9]+", "-", self.shown.lower()).strip("-")[-40:]
        self._folder = cache_dir / "repos" / f"{name}-{hashlib.sha256(url.encode()).hexdigest()[:12]}.git"
        self._git = GitCommand(self._folder, url, timeout)
        self._reader: Git | None = None
        self._reading = Lock()

    def resolve(self, ref: Ref) -> str:
        """The commit that the ref names in the repo now, fetched if the mirror lacks it.

        Names are looked up whole (refs/heads/x, refs/tags/x), so a branch and a tag of one name are told
        apart; a name without its kind that is both is refused.

        Raises:
            SourceError: the repo cannot be reached or read, or the ref is unknown or ambiguous.
        """
        with self._exclusive():
            if ref.kind is RefKind.COMMIT:
                return self._commit(ref.name)
            wanted = _full_names(ref)
            tips = self._advertised(*wanted, *(f"{name}^{{}}" for name in wanted))
            found = [name for name in wanted if name in tips]
            if len(found) > 1:
                raise SourceError(
                    f"resolving {ref.name} of {self.shown}: it is a branch and a tag; "
                    f"say ref: {{branch: {ref.name}}} or ref: {{tag: {ref.name}}}"
                )
            if not found and ref.kind is RefKind.ANY and re.fullmatch(r"[0-9a-f]{7,64}", ref.name):
                return self._commit(ref.name)
            if not found:
                raise self._unknown(ref)
            commit = tips.get(f"{found[0]}^{{}}", tips[found[0]])
            return commit if self.has(commit) else self._fetch_ref(found[0], ref)

    def has(self, commit: str) -> bool:
        """Whether the mirror has this commit; the full id is needed."""
        if not _FULL_ID.fullmatch(commit) or not self._folder.is_dir():
            return False
        return self._git.ask("cat-file", "-e", f"{commit}^{{commit}}").status == 0

    def blobs(self, commit: str, paths: Sequence[str]) -> Listing:
        """The manifests (.yaml, .yml, .json; regular files) that paths or globs name at a commit.

        Raises:
            SourceError: a path does not exist at the commit, or holds no manifest.
        """
        starts = sorted({prefix(path) for path in paths})
        options = [] if "" in starts else ["--", *starts]
        doing = f"listing {', '.join(paths)} at {commit[:_SHORT]}"
        output = self._git.run(doing, *_LIST, commit, *options)
        found, matches = listing(output, paths, self._follow(commit, links(output, paths)))
        for path, match in matches.items():
            where = f"reading {path} at commit {commit} of {self.shown}"
            if not match.entries:
                raise SourceError(f"{where}: there is no such path; check path and ref of the set")
            if not match.manifests:
                reasons = "".join(f"; {finding}" for finding in found.findings)
                count = f"0 manifests ({', '.join(SUFFIXES)}) among {match.entries} files"
                raise SourceError(f"{where}: {count}; check the path{reasons}")
        return found

    def find(self, commit: str, files: Iterable[str]) -> Mapping[str, str]:
        """The blob ids of files at a commit; a file that is not there, or is no file, is left out.

        Raises:
            SourceError: the commit cannot be read.
        """
        wanted = set(files)
        if not wanted:
            return {}
        tops = sorted({file.partition("/")[0] for file in wanted})
        output = self._git.run(f"looking for files at {commit[:_SHORT]}", *_LIST, commit, "--", *tops)
        on_the_way = {*wanted, *(str(folder) for file in wanted for folder in PurePosixPath(file).parents)}
        found = {path: blob for path, blob in links(output, ["."]).items() if path in on_the_way}
        contents = regular_files(output, self._follow(commit, found))
        return {file: contents[file] for file in wanted & contents.keys()}

    def _follow(self, commit: str, found: Mapping[str, str]) -> dict[str, Followed]:
        """What links name at a commit, by their paths; ``found`` has their blob ids."""
        followed: dict[str, Followed] = {}
        texts = self.read(found.values()) if found else {}
        for path, blob_id in found.items():
            target = target_of(path, texts[blob_id])
            if target is None:
                followed[path] = Followed(problem="a symbolic link out of the repository is not followed")
                continue
            doing = f"following {path} at {commit[:_SHORT]}"
            tree = self._git.run(doing, *_LIST, commit, *(["--", target] if target else []))
            problem = "" if tree else "a symbolic link names nothing at this commit"
            followed[path] = Followed(target, tree, problem)
        return followed

    def read(self, blob_ids: Iterable[str]) -> Mapping[str, bytes]:
        """The contents of blobs, through one ``git cat-file --batch`` that stays.

        Raises:
            SourceError: a blob is missing from the mirror.
        """
        with self._reading:
            reader = self._open_reader()
            try:
                return {blob_id: reader.get_object_data(blob_id)[3] for blob_id in blob_ids}
            except (OSError, ValueError) as error:
                reader.clear_cache()
                raise self._git.failed("reading files", f"{error}; remove {self._folder}") from error

    def archive(self, commit: str) -> bytes:
        """The whole tree of a commit as a tar file. Raises SourceError."""
        return self._git.run(f"copying the tree of {commit[:_SHORT]}", "archive", "--format=tar", commit)

    def keep(self, set_name: str, commits: Iterable[str]) -> None:
        """Keep exactly these commits for a set, so that neither gc nor a forced push takes them away.

        Raises:
            SourceError: the mirror lacks one of them.
        """
        wanted = {f"{_KEPT}/{set_name}/{commit}": commit for commit in commits}
        with self._exclusive():
            output = self._git.run(
                "listing kept commits", "for-each-ref", "--format=%(refname)", f"{_KEPT}/{set_name}/"
            )
            kept = set(output.decode().split())
            for name in sorted(wanted.keys() - kept):
                self._git.run(f"keeping {wanted[name][:_SHORT]}", "update-ref", name, wanted[name])
            for name in sorted(kept - wanted.keys()):
                self._git.run(f"letting go of {name}", "update-ref", "-d", name)

    def close(self) -> None:
        """End the process that reads blobs; a later read starts another."""
        with self._reading:
            if self._reader is not None:
                self._reader.clear_cache()
                self._reader = None

    def _open_reader(self) -> Git:
        if self._reader is None:
            self._reader = self._git.process()
        return self._reader

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Alone with the mirror, which is made where it is missing."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = (self._folder / "trapeze.lock").open("w")
        except OSError as error:
            raise SourceError(
                f"making a mirror in {self._folder}: {error.strerror}; set cache_dir"
            ) from error
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (self._folder / "HEAD").is_file():
                self._git.run("making a mirror", "init", "--bare", "--quiet", "--template=")
            yield

    def _advertised(self, *patterns: str) -> dict[str, str]:
        """What the repo says its refs are, by full name; ``^{}`` marks what an annotated tag points at."""
        output = self._git.run("asking for the refs", "ls-remote", "--", self.url, *patterns)
        lines = [line.split("\t", 1) for line in output.decode("utf-8", "replace").splitlines()]
        return {name: object_id for object_id, name in lines if not patterns or name in patterns}

    def _fetch(self, doing: str, *refspecs: str) -> None:
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--force")
        self._git.run(doing, "fetch", *options, "--", self.url, *refspecs)

    def _fetch_ref(self, name: str, ref: Ref) -> str:
        local = f"{_FETCHED}/{name.removeprefix('refs/')}"
        self._fetch(f"fetching {ref}", f"+{name}:{local}")
        outcome = self._git.ask("rev-parse", "--verify", "--quiet", f"{local}^{{commit}}")
        if outcome.status != 0:
            raise SourceError(
                f"resolving {ref} of {self.shown}: it names no commit; name a branch or a tag of a commit"
            )
        return outcome.output.decode().strip()

    def _commit(self, name: str) -> str:
        if self.has(name):
            return name
        self._fetch("fetching all", f"+refs/heads/*:{_FETCHED}/heads/*", f"+refs/tags/*:{_FETCHED}/tags/*")
        if _FULL_ID.fullmatch(name) and not self.has(name):
            self._git.ask("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", self.url, name)
        outcome = self._git.ask("rev-parse", "--verify", f"{name}^{{commit}}")
        if outcome.status != 0:
            reason = "several begin so" if "ambiguous" in outcome.error else "no branch or tag has it"
            raise SourceError(
                f"resolving commit {name} of {self.shown}: {reason}; write the full id of a pushed commit"
            )
        return outcome.output.decode().strip()

    def _unknown(self, ref: Ref) -> SourceError:
        word = "branch or tag" if ref.kind is RefKind.ANY else ref.kind.value
        folders = {RefKind.BRANCH: ("refs/heads/",), RefKind.TAG: ("refs/tags/",)}.get(
            ref.kind, ("refs/heads/", "refs/tags/")
        )
        names = [
            name.removeprefix(folder)
            for name in self._advertised()
            for folder in folders
            if name.startswith(folder)
        ]
        close = difflib.get_close_matches(
            ref.name, [name for name in names if not name.endswith("^{}")], 3, 0.5
        )
        hint = f"did you mean {', '.join(close)}?" if close else f"it has {len(names)} of them"
        return SourceError(f"resolving {ref} of {self.shown}: there is no such {word}; {hint}")


def _full_names(ref: Ref) -> tuple[str, ...]:
    if ref.kind is RefKind.BRANCH:
        return (f"refs/heads/{ref.name}",)
    if ref.kind is RefKind.TAG:
        return (f"refs/tags/{ref.name}",)
    if ref.name == "HEAD" or ref.name.startswith("refs/"):
        return (ref.name,)
    return (f"refs/heads/{ref.name}", f"refs/tags/{ref.name}")
