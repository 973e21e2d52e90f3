"""The releases of the corpus: unpacked once, read as a set, planned pair by pair.

The corpus stands beside the checkout and is no part of it; without it these tests are skipped.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tarfile
import tempfile
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from agent.build import kinds_of
from agent.core import manifests
from agent.core.model import Desired
from agent.core.plan import Maker
from agent.core.preview import between
from agent.core.situation import Rules
from agent.core.yamlread import read_documents
from tests.core.bodies import RULES
from tests.core.casefiles import shipped
from tests.rig.build import cache_home

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
ARCHIVE = CORPUS / "releases.tar.xz"
INDEX = CORPUS / "INDEX.md"
NAMESPACE = "installed"
"""Where objects go that name no namespace, as people do with ``kubectl -n``."""

OTHER_PROFILES = {
    ("service-ca-operator", "release-4.1"): ("06_config.yaml",),
    ("service-ca-operator", "release-4.10"): ("05_deploy-ibm-cloud-managed.yaml",),
    ("service-ca-operator", "release-4.16"): ("05_deploy-ibm-cloud-managed.yaml",),
    ("service-ca-operator", "release-4.22"): ("05_deploy-ibm-cloud-managed.yaml",),
}
"""Files that hold an object of the release once more, differing, for another kind of cluster."""

PARTS = {
    ("tekton-pipeline", "0.58.0"): ("tekton-all/2024-05", "pipelines.yaml"),
    ("tekton-pipeline", "1.2.0"): ("tekton-all/2025-07", "pipelines.yaml"),
    ("tekton-dashboard", "0.45.0"): ("tekton-all/2024-05", "dashboard.yaml"),
    ("tekton-dashboard", "0.59.0"): ("tekton-all/2025-07", "dashboard.yaml"),
    ("tekton-results", "0.9.2"): ("tekton-all/2024-05", "results.yaml"),
    ("tekton-results", "0.15.2"): ("tekton-all/2025-07", "results.yaml"),
}
"""Releases that stand in the corpus only as a file of a larger one."""

UNNAMED = {"knative-serving": "generateName gives a new object at each sync"}
"""Projects with Jobs that have no name: told, and left out."""


class Pair(NamedTuple):
    """An upgrade of the corpus."""

    project: str
    base: str
    head: str

    def __str__(self) -> str:
        """``project base to head``, as pytest shows it."""
        return f"{self.project} {self.base} to {self.head}"


@cache
def unpacked() -> Path:
    """The folder with the releases, outside the checkout and kept for the next run."""
    digest = hashlib.sha256(ARCHIVE.read_bytes()).hexdigest()[:24]
    folder = cache_home() / "corpus" / digest
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(dir=folder.parent))
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(new, filter="data")
        try:
            new.rename(folder)
        except OSError:
            shutil.rmtree(new)  # another worker was first
    return folder


def versions(project: str) -> list[str]:
    """The versions of a project, oldest first."""
    found = [path.name for path in (unpacked() / project).iterdir()]
    return sorted(found, key=lambda version: [int(number) for number in re.findall(r"\d+", version)])


def releases() -> list[tuple[str, str]]:
    """Every project and version; none without the corpus."""
    if not ARCHIVE.is_file():
        return []
    return [(p.name, version) for p in sorted(unpacked().iterdir()) for version in versions(p.name)]


def pairs() -> list[Pair]:
    """Every two versions of one project that follow each other."""
    every = releases()
    return [
        Pair(project, base, head) for (project, base), (other, head) in pairwise(every) if project == other
    ]


def files_of(project: str, version: str, *, whole: bool = False) -> dict[str, Path]:
    """The files of a release by their paths in it; ``whole`` with those of other profiles."""
    place, part = PARTS.get((project, version), (f"{project}/{version}", "*"))
    folder = unpacked() / place
    left_out = () if whole else OTHER_PROFILES.get((project, version), ())
    files = [path for path in sorted(folder.rglob(part)) if path.is_file() and path.name not in left_out]
    return {str(path.relative_to(folder)): path for path in files}


@cache
def release(project: str, version: str, *, whole: bool = False) -> Desired:
    """One release, read as a set; ``whole`` with the files of other profiles."""
    files = files_of(project, version, whole=whole)
    readings = {name: read_documents(path.read_bytes(), name) for name, path in files.items()}
    return manifests.load(readings, kinds_of(), set_name=project, revision=version, namespace=NAMESPACE)


@cache
def upgrade(pair: Pair) -> Maker:
    """What makes the plan of an upgrade, as ``trapeze preview`` makes it."""
    base, head = _named(release(pair.project, pair.base)), _named(release(pair.project, pair.head))
    return Maker(between(base, head, shipped(), RULES, Rules(f"trapeze/{pair.project}")))


def _named(wanted: Desired) -> Desired:
    """The release without its objects that have no name: what is left of it is whole."""
    others = tuple(finding for finding in wanted.findings if "generateName" not in str(finding))
    return replace(wanted, findings=others) if wanted.set_name in UNNAMED else wanted
