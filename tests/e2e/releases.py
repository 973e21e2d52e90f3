"""The two layouts of Calico's API server as releases: fixture files, and certificates made when a test runs.

Each release has an authority of its own, so that its caBundle verifies its own backend and no other.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.rig.kubelet.knobs import PREFIX
from tests.rig.pki import Authority

FIXTURES = Path(__file__).parent / "fixtures"
CORE = FIXTURES / "core"
PLACEHOLDER = "CA_BUNDLE"
DENY = "default-deny.yaml"
"""A policy that drops the way of the new API server to kube-apiserver."""
SIDECAR = "sidecar.yaml"
"""A webhook that the API server's pods serve beside the API."""
Files = dict[str, str]


@dataclass(frozen=True)
class Side:
    """One release of a layout: its folder, and where its server stands."""

    folder: Path
    namespace: str
    deployment: str
    service: str
    secret: str

    def files(self, authority: Authority, **knobs: str) -> Files:
        """The release's files, with certificates of ``authority``; ``knobs`` are set on the server's pods."""
        paths = sorted(self.folder.glob("*.yaml"))
        files = {path.name: path.read_text().replace(PLACEHOLDER, authority.bundle) for path in paths}
        files["certificates.yaml"] = written([self._certificate(authority)])
        if knobs:
            files["server.yaml"] = with_knobs(files["server.yaml"], knobs)
        return files

    def _certificate(self, authority: Authority) -> dict[str, Any]:
        host = f"{self.service}.{self.namespace}.svc"
        pair = authority.issue(host, (host,))
        data = {"tls.crt": pair.certificate, "tls.key": pair.key}
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "kubernetes.io/tls",
            "metadata": {"name": self.secret, "namespace": self.namespace},
            "data": {key: base64.b64encode(value).decode() for key, value in data.items()},
        }


@dataclass(frozen=True)
class Layout:
    """An old and a new release; ``old_authority`` and ``new_authority`` sign their certificates."""

    name: str
    old: Side
    new: Side
    old_authority: Authority = field(default_factory=lambda: Authority.create("old release"))
    new_authority: Authority = field(default_factory=lambda: Authority.create("new release"))

    def old_files(self, *optional: str, **knobs: str) -> Files:
        """The old release; with what is ``optional`` (Enterprise: DENY, SIDECAR)."""
        return _without(self.old.files(self.old_authority, **knobs), optional)

    def new_files(self, *optional: str, **knobs: str) -> Files:
        """The new release; with what is ``optional`` (Enterprise: SIDECAR)."""
        return _without(self.new.files(self.new_authority, **knobs), optional)


def _without(files: Files, wanted: tuple[str, ...]) -> Files:
    return {name: text for name, text in files.items() if name in wanted or name not in (DENY, SIDECAR)}


def _new_side(folder: Path) -> Side:
    return Side(folder, "calico-system", "calico-apiserver", "calico-api", "calico-apiserver-certs")


def enterprise() -> Layout:
    """Calico Enterprise: all is renamed but one shared binding."""
    folder = FIXTURES / "calico-enterprise"
    old = Side(folder / "old", "tigera-system", "tigera-apiserver", "tigera-api", "tigera-apiserver-certs")
    return Layout("calico-enterprise", old, _new_side(folder / "new"))


def oss() -> Layout:
    """Calico OSS: five shared bindings, in which only the subject's namespace changes."""
    folder = FIXTURES / "calico-oss"
    old = Side(folder / "old", "calico-apiserver", "calico-apiserver", "calico-api", "calico-apiserver-certs")
    return Layout("calico-oss", old, _new_side(folder / "new"))


def documents(text: str) -> list[dict[str, Any]]:
    """The objects of a file."""
    return [body for body in YAML(typ="safe", pure=True).load_all(text) if body]


def written(bodies: list[dict[str, Any]]) -> str:
    """Objects as a file, in block style: kubectl's reader ends text between brackets at a question mark."""
    out = io.StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.dump_all(bodies, out)
    return out.getvalue()


def with_knobs(text: str, knobs: Mapping[str, str]) -> str:
    """The file with knobs (see tests.rig.kubelet.knobs) on the pods of its Deployments."""
    bodies = documents(text)
    for body in bodies:
        if body["kind"] == "Deployment":
            metadata = body["spec"]["template"]["metadata"]
            metadata["annotations"] = {PREFIX + k.replace("_", "-"): v for k, v in knobs.items()}
    return written(bodies)
