"""Other tools at work on a release: kubectl, Helm, and the package that Flux applies and prunes with."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from agent.core.orders import Order
from tests.corpus_live.helm import Itself
from tests.e2e.releases import Files, documents, written
from tests.rig.cluster import Cluster
from tests.rig.golang import GoProgram
from tests.rig.tools import APPLIERS, HELM_3, HELM_4

NAMESPACE: Final = "default"
"""Where Helm keeps its records."""


class Tool(Protocol):
    """A tool that brings a cluster from one release to the next."""

    def release(self, files: Files) -> None:
        """Apply the files, and take away what only the files before had."""


@dataclass
class _Applier:
    """A program of ours that is told the cluster by its environment; ``before`` is what it applied last."""

    cluster: Cluster
    folder: Path
    before: list[dict[str, Any]] = field(default_factory=list)


class Kubectl(_Applier):
    """``kubectl apply`` of the files in the order of their names, then ``kubectl delete`` of what is gone."""

    def release(self, files: Files) -> None:
        """Nothing is waited for; namespaces go before, as kubectl knows no order of kinds."""
        bodies = objects(files)
        if spaces := [body for body in bodies if body["kind"] == "Namespace"]:
            self._run("apply", _file(self.folder, "namespaces", spaces))
        self._run("apply", _file(self.folder, "wanted", bodies))
        names = {name_of(body) for body in bodies}
        stale = [body for body in self.before if name_of(body) not in names]
        if stale:
            self._run("delete", _file(self.folder, "stale", stale), "--wait=false")
        self.before = bodies

    def _run(self, verb: str, file: Path, *words: str) -> None:
        _run(self.cluster, "kubectl", verb, "--filename", str(file), *words)


class Helm:
    """``helm upgrade --install`` of a chart that holds the files as they stand."""

    def __init__(self, cluster: Cluster, folder: Path, program: GoProgram) -> None:
        self._helm = Itself(cluster, NAMESPACE, program.build(), folder)

    def release(self, files: Files) -> None:
        """Without --wait, as by default."""
        self._helm.release(*objects(files))


class Flux(_Applier):
    """The stages, waits and the prune of Flux's kustomize-controller, by its own package."""

    def release(self, files: Files) -> None:
        """ApplyAllStaged, then DeleteAll."""
        bodies = objects(files)
        wanted, former = (_file(self.folder, n, b) for n, b in (("new", bodies), ("old", self.before)))
        _run(self.cluster, "flux", str(wanted), str(former))
        self.before = bodies


PROGRAMS: Final = {"kubectl": APPLIERS, "helm-3": HELM_3, "helm-4": HELM_4, "flux": APPLIERS}
ORDERS: Final = {"kubectl": Order.KUBECTL, "helm-3": Order.HELM, "helm-4": Order.HELM, "flux": Order.FLUX}


def tool(name: str, cluster: Cluster, folder: Path) -> Tool:
    """The tool of that name; its program is built already."""
    if name == "kubectl":
        return Kubectl(cluster, folder)
    return Flux(cluster, folder) if name == "flux" else Helm(cluster, folder, PROGRAMS[name])


def objects(files: Files) -> list[dict[str, Any]]:
    """All objects of a release, file by file."""
    return [body for _, text in sorted(files.items()) for body in documents(text)]


def name_of(body: dict[str, Any]) -> tuple[str, str, str]:
    """Kind, namespace and name."""
    metadata = body["metadata"]
    return body["kind"], metadata.get("namespace", ""), metadata["name"]


def _file(folder: Path, name: str, bodies: list[dict[str, Any]]) -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(written(bodies))
    return path


def _run(cluster: Cluster, *words: str) -> None:
    home = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig)}
    done = subprocess.run([APPLIERS.build(), *words], env=home, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
