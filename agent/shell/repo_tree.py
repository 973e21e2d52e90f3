"""Which files of a commit are manifests: ``git ls-tree`` output against paths and globs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from agent.core.model import Finding, Origin, Severity
from agent.shell.repo_links import Followed

SUFFIXES: Final = (".yaml", ".yml", ".json")
LARGEST: Final = 32 * 2**20
"""Bytes of a file that is still read; the API server takes objects of 1.5 MiB (etcd's limit)."""

_LINK, _SUBMODULE = "120000", "160000"
_GLOB: Final = re.compile(r"[*?\[]")


class BlobRef(NamedTuple):
    """A file's content by its Git name."""

    blob_id: str
    path: str


@dataclass(frozen=True)
class Listing:
    """The manifests of a commit by path, and what in the paths is not read, with the reason."""

    blobs: Mapping[str, BlobRef]
    findings: tuple[Finding, ...]


class Match(NamedTuple):
    """What one path or glob matched: entries of the tree, and manifests among them."""

    entries: int
    manifests: int


class _Entry(NamedTuple):
    mode: str
    blob_id: str
    size: int
    path: str
    is_odd: bool


def prefix(pattern: str) -> str:
    """The folders of a path or glob before its first wildcard; empty for all."""
    parts = pattern.split("/")
    fixed = next((index for index, part in enumerate(parts) if _GLOB.search(part)), len(parts))
    return "" if pattern == "." else "/".join(parts[:fixed])


def links(output: bytes, patterns: Sequence[str]) -> Mapping[str, str]:
    """The blob ids of links that patterns match, by path; ``output`` and ``patterns`` as for ``listing``."""
    matchers = [_matcher(pattern) for pattern in patterns]
    return {
        entry.path: entry.blob_id
        for entry in _entries(output)
        if entry.mode == _LINK and any(matcher.fullmatch(entry.path) for matcher in matchers)
    }


def listing(
    output: bytes, patterns: Sequence[str], followed: Mapping[str, Followed]
) -> tuple[Listing, Mapping[str, Match]]:
    """What ``git ls-tree -r -z -l`` printed, as manifests; and what each pattern matched.

    A pattern is a file, a folder with all in it, or a glob: ``*`` within a name, ``**`` across folders;
    a glob that names a folder means all in it. What the links of ``followed`` name stands in their place; a
    link that cannot be followed and may hold manifests is an error of the source (so that nothing is pruned
    for want of it). Submodules are not followed, with a warning.
    """
    matchers = {pattern: _matcher(pattern) for pattern in patterns}
    matches = dict.fromkeys(patterns, Match(0, 0))
    blobs: dict[str, BlobRef] = {}
    findings: list[Finding] = []
    for entry in _with_links(output, followed):
        hits = [pattern for pattern, matcher in matchers.items() if matcher.fullmatch(entry.path)]
        if not hits:
            continue
        finding = _unread(entry, followed.get(entry.path))
        is_manifest = finding is None and entry.path.endswith(SUFFIXES)
        if finding is not None:
            findings.append(finding)
        if is_manifest:
            blobs[entry.path] = BlobRef(entry.blob_id, entry.path)
        for pattern in hits:
            matches[pattern] = Match(matches[pattern].entries + 1, matches[pattern].manifests + is_manifest)
    return Listing(blobs, tuple(findings)), matches


def regular_files(output: bytes, followed: Mapping[str, Followed]) -> Mapping[str, str]:
    """The blob ids of all files by path; ``output`` and ``followed`` as for ``listing``."""
    return {
        entry.path: entry.blob_id
        for entry in _with_links(output, followed)
        if entry.mode not in {_LINK, _SUBMODULE}
    }


def _entries(output: bytes) -> Iterator[_Entry]:
    for record in output.split(b"\0")[:-1]:
        head, _, name = record.partition(b"\t")
        mode, _kind, blob_id, size = head.decode("ascii").split()
        path = name.decode("utf-8", "backslashreplace")
        shown = "".join(char if char.isprintable() else repr(char)[1:-1] for char in path)
        is_odd = shown.encode() != name
        yield _Entry(mode, blob_id, 0 if size == "-" else int(size), shown, is_odd)


def _with_links(output: bytes, followed: Mapping[str, Followed]) -> Iterator[_Entry]:
    """The entries of a tree; in place of a link those that it names, under its own path."""
    for entry in _entries(output):
        link = followed.get(entry.path)
        if link is None or link.problem:
            yield entry
            continue
        for named in _entries(link.tree):
            inner = named.path.removeprefix(link.target).removeprefix("/")
            yield named._replace(path=f"{entry.path}/{inner}" if inner else entry.path)


def _unread(entry: _Entry, link: Followed | None) -> Finding | None:
    """Why an entry is not read, or None."""
    at = Origin(entry.path, 1, 1)
    last = entry.path.rpartition("/")[2]
    is_manifest = entry.path.endswith(SUFFIXES)
    if entry.mode == _LINK:
        severity = Severity.OBJECT if is_manifest or "." not in last else Severity.WARNING
        problem = link.problem if link and link.problem else "a symbolic link behind another is not followed"
        return Finding(severity, problem, at, "put the file itself into the path")
    if entry.mode == _SUBMODULE:
        return Finding(Severity.WARNING, "a submodule is not followed", at, "make a set of its own for it")
    if is_manifest and entry.is_odd:
        return Finding(Severity.OBJECT, "the file's name is not readable text", at, "rename the file")
    if is_manifest and entry.size > LARGEST:
        message = f"the file has {entry.size / 2**20:.0f} MiB, and at most {LARGEST // 2**20} are read"
        return Finding(Severity.OBJECT, message, at, "split it")
    return None


def _matcher(pattern: str) -> re.Pattern[str]:
    if pattern == ".":
        return re.compile(r".*", re.DOTALL)
    text = ""
    for part in re.split(r"(\*\*/|\*\*|\*|\?|\[[^]/]+\])", pattern):
        match part:
            case "**/":
                text += r"(?:.*/)?"
            case "**":
                text += r".*"
            case "*":
                text += r"[^/]*"
            case "?":
                text += r"[^/]"
            case _ if part.startswith("[") and part.endswith("]"):
                text += "[" + ("^" + part[2:-1] if part[1] == "!" else part[1:-1]).replace("\\", r"\\") + "]"
            case _:
                text += re.escape(part)
    return re.compile(text + r"(?:/.*)?", re.DOTALL)
