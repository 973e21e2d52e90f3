"""What Git says: a set's manifests at a commit, and what was applied from earlier ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from agent.core import ledger, manifests
from agent.core.encrypted import encrypted_file
from agent.core.kinds import Kinds
from agent.core.model import Body, Desired, ObjectId
from agent.core.refs import Ref, RefKind
from agent.core.render_tool import RENDERED
from agent.core.yamlread import Reading, read_documents
from agent.errors import SourceError
from agent.settings import SetConfig
from agent.shell.readings import Readings
from agent.shell.rendering import Renderer
from agent.shell.repo import Repo


class Applied(NamedTuple):
    """The bodies of ledger entries' bases, in their order, and why some are missing.

    A base that is missing is no evidence: who gets a reason here must not take anything away.
    """

    bodies: Mapping[ObjectId, tuple[Body, ...]]
    missing: tuple[str, ...]


class Source:
    """Manifests of one repo, parsed once for each content and kept below ``cache_dir``.

    With a ``renderer`` they are what it makes of a commit.
    """

    def __init__(self, repo: Repo, cache_dir: Path, renderer: Renderer | None = None) -> None:
        self.repo = repo
        self._renderer = renderer
        self._readings = Readings(cache_dir)

    def snapshot(self, commit: str, paths: Sequence[str]) -> Mapping[str, Reading]:
        """The files that ``paths`` name at a commit, read; what is not followed is a finding in its place.

        Raises:
            SourceError: a path does not exist or holds no manifest, or the mirror cannot be read.
        """
        if self._renderer is not None:
            return self._renderer.readings(commit)
        listing = self.repo.blobs(commit, paths)
        files = self._read({path: ref.blob_id for path, ref in listing.blobs.items()})
        unread = {f.origin.file: Reading((), (f,)) for f in listing.findings if f.origin}
        return {**files, **unread}

    def desired(self, config: SetConfig, commit: str, kinds: Kinds) -> Desired:
        """What Git wants of a set at a commit. Raises SourceError like ``snapshot``."""
        files = self.snapshot(commit, config.paths)
        return manifests.load(files, kinds, set_name=config.name, revision=commit, namespace=config.namespace)

    def applied(self, entries: Iterable[ledger.Entry]) -> Applied:
        """What was applied for each ledger entry, read again from Git in the form of ``Manifest.body``."""
        members = list(entries)
        found, missing = self.bodies_at({base for entry in members for base in entry.bases})
        bodies: dict[ObjectId, tuple[Body, ...]] = {}
        reasons = list(missing.values())
        for entry in members:
            bases = []
            for base in entry.bases:
                body = manifests.as_applied(found[base], entry.id) if base in found else None
                if body is not None:
                    bases.append(body)
                elif base in found:
                    reasons.append(f"{base.file} document {base.document} at {base.commit} is not {entry.id}")
            bodies[entry.id] = tuple(bases)
        return Applied(bodies, tuple(sorted(reasons)))

    def bodies_at(
        self, sources: Iterable[ledger.Source]
    ) -> tuple[Mapping[ledger.Source, Body], Mapping[ledger.Source, str]]:
        """The documents as written, and for those that cannot be had the reason."""
        found: dict[ledger.Source, Body] = {}
        missing: dict[ledger.Source, str] = {}
        by_commit: dict[str, list[ledger.Source]] = {}
        for source in sources:
            by_commit.setdefault(source.commit, []).append(source)
        for commit, wanted in by_commit.items():
            try:
                self.repo.resolve(Ref(RefKind.COMMIT, commit))
                readings = self._at(commit, {source.file for source in wanted})
            except SourceError as error:
                missing |= dict.fromkeys(wanted, str(error))
                continue
            bodies = {
                (file, doc.origin.document): doc.body
                for file, reading in readings.items()
                for doc in reading.documents
            }
            for source in wanted:
                body = bodies.get((source.file, source.document))
                if body is None:
                    missing[source] = f"{source.file} has no document {source.document} at {commit}"
                else:
                    found[source] = body
        return found, missing

    def _at(self, commit: str, files: Collection[str]) -> dict[str, Reading]:
        """Files of a commit by name, rendered ones too."""
        rendered = {file for file in files if file.startswith(RENDERED)}
        readings = self._read(self.repo.find(commit, set(files) - rendered))
        if rendered and self._renderer is not None:
            readings |= self._renderer.readings(commit)
        return readings

    def _read(self, blobs: Mapping[str, str]) -> dict[str, Reading]:
        """Readings of files by their blob ids; only contents never seen are fetched and parsed."""
        known = {file: self._readings.get(blob_id, file) for file, blob_id in blobs.items()}
        contents = self.repo.read({blobs[file] for file, reading in known.items() if reading is None})
        readings: dict[str, Reading] = {}
        for file, reading in known.items():
            if reading is None:
                data = contents[blobs[file]]
                encrypted = encrypted_file(data, file)
                fresh = Reading((), (encrypted,)) if encrypted else read_documents(data, file)
                self._readings.put(blobs[file], file, fresh)
                readings[file] = fresh
            else:
                readings[file] = reading
        return readings
