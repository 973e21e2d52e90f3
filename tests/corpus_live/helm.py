"""What Helm leaves in a cluster: objects under its field manager, and its own record of the release."""

from __future__ import annotations

import base64
import gzip
import json
import subprocess
from pathlib import Path
from typing import Any, Protocol

from tests.rig.api import APPLY, STRATEGIC
from tests.rig.cluster import Cluster

HELM = "helm"
RELEASE = "shop"


def annotated(body: dict[str, Any]) -> dict[str, Any]:
    """The object as Helm sends it: with the release's name, which no chart says."""
    metadata = body["metadata"]
    notes = {"meta.helm.sh/release-name": RELEASE, "meta.helm.sh/release-namespace": metadata["namespace"]}
    labels = {**metadata.get("labels", {}), "app.kubernetes.io/managed-by": "Helm"}
    return {**body, "metadata": {**metadata, "annotations": notes, "labels": labels}}


def record(version: int, status: str, *bodies: dict[str, Any], namespace: str) -> dict[str, Any]:
    """The Secret in which Helm keeps a version of the release (helm.sh/docs/topics/advanced)."""
    manifest = "".join(f"---\n{json.dumps(body)}\n" for body in bodies)
    content = json.dumps({"name": RELEASE, "version": version, "manifest": manifest}).encode()
    packed = base64.b64encode(base64.b64encode(gzip.compress(content))).decode()
    labels = {"owner": "helm", "name": RELEASE, "status": status, "version": str(version)}
    name = f"sh.helm.release.v1.{RELEASE}.v{version}"
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "helm.sh/release.v1",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "data": {"release": packed},
    }


class Helm(Protocol):
    """Helm at work on the release ``shop`` of one namespace, whose charts are the bodies as they stand."""

    def release(self, *bodies: dict[str, Any]) -> None:
        """Install them, or upgrade what is installed."""

    def forget(self) -> None:
        """Take the records away."""


class StandIn:
    """What Helm sends, sent by hand: ``applies`` as Helm 4 does."""

    def __init__(self, cluster: Cluster, namespace: str, *, applies: bool = False) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._applies = applies
        self._version = 0

    def release(self, *bodies: dict[str, Any]) -> None:
        """Creates without a last-applied annotation, then strategic merge patches; or server-side applies."""
        for body in bodies:
            path = f"{self._cluster.path(body)}?fieldManager={HELM}"
            if self._applies:
                self._cluster.api.request("PATCH", f"{path}&force=true", annotated(body), APPLY)
            elif self._version:
                self._cluster.api.patch(path, annotated(body), STRATEGIC)
            else:
                collection = self._cluster.path(body).rpartition("/")[0]
                self._cluster.api.create(f"{collection}?fieldManager={HELM}", annotated(body))
        self._keep(bodies)

    def forget(self) -> None:
        """Take the records away."""
        for version in range(1, self._version + 1):
            self._cluster.api.delete(self._secret(version))

    def _keep(self, bodies: tuple[dict[str, Any], ...]) -> None:
        if self._version:
            labels = {"metadata": {"labels": {"status": "superseded"}}}
            self._cluster.api.patch(self._secret(self._version), labels, STRATEGIC)
        self._version += 1
        secrets = self._secret(self._version).rpartition("/")[0]
        made = record(self._version, "deployed", *bodies, namespace=self._namespace)
        self._cluster.api.create(secrets, made)

    def _secret(self, version: int) -> str:
        name = f"sh.helm.release.v1.{RELEASE}.v{version}"
        return f"/api/v1/namespaces/{self._namespace}/secrets/{name}"


class Itself:
    """A program of Helm's own."""

    def __init__(self, cluster: Cluster, namespace: str, program: Path, folder: Path) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._program = program
        self._chart = folder / "chart"
        (self._chart / "templates").mkdir(parents=True)
        (self._chart / "Chart.yaml").write_text(f"apiVersion: v2\nname: {RELEASE}\nversion: 1.0.0\n")

    def release(self, *bodies: dict[str, Any]) -> None:
        """``helm upgrade --install``."""
        text = "".join(f"---\n{json.dumps(body)}\n" for body in bodies)
        (self._chart / "templates" / "all.yaml").write_text(text)
        self._run("upgrade", "--install", RELEASE, str(self._chart))

    def forget(self) -> None:
        """Take the records away."""
        secrets = f"/api/v1/namespaces/{self._namespace}/secrets"
        for one in self._cluster.api.get(f"{secrets}?labelSelector=owner%3Dhelm")["items"]:
            self._cluster.api.delete(f"{secrets}/{one['metadata']['name']}")

    def _run(self, *words: str) -> None:
        where = ["--kubeconfig", str(self._cluster.kubeconfig), "--namespace", self._namespace]
        home = {"HOME": str(self._chart.parent), "PATH": "/usr/bin:/bin"}
        done = subprocess.run(
            [self._program, *words, *where], env=home, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
