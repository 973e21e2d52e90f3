"""What Helm leaves in a cluster: objects under its field manager, and its own record of the release."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

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


class Helm:
    """Helm at work in one namespace."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._version = 0

    def install(self, *bodies: dict[str, Any]) -> None:
        """As Helm 3 does at first: creates without a last-applied annotation."""
        for body in bodies:
            collection = self._cluster.path(body).rpartition("/")[0]
            self._cluster.api.create(f"{collection}?fieldManager={HELM}", annotated(body))
        self._keep(bodies)

    def upgrade(self, *bodies: dict[str, Any]) -> None:
        """As Helm 3 does later: strategic merge patches."""
        for body in bodies:
            path = f"{self._cluster.path(body)}?fieldManager={HELM}"
            self._cluster.api.patch(path, annotated(body), STRATEGIC)
        self._keep(bodies)

    def apply(self, *bodies: dict[str, Any]) -> None:
        """As Helm 4 does: server-side apply."""
        for body in bodies:
            path = f"{self._cluster.path(body)}?fieldManager={HELM}&force=true"
            self._cluster.api.request("PATCH", path, annotated(body), APPLY)
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
