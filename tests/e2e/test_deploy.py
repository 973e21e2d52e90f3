"""The manifests of the agent itself: the API server takes them, their rights are enough for the sample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.core.yamlread import read_documents
from agent.settings import load_settings
from tests.e2e.command import trapeze
from tests.e2e.site import Site
from tests.rig import components
from tests.rig.cluster import Cluster

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "docs" / "deploy"
RELEASES = ROOT / "sample-repo" / "releases"
NAMESPACES = ["library", "library-admission", "library-system"]


def bodies(name: str) -> list[dict[str, Any]]:
    file = DEPLOY / name
    return [document.body for document in read_documents(file.read_bytes(), name).documents]


def release(number: int) -> dict[str, str]:
    return {file.name: file.read_text() for file in sorted((RELEASES / str(number)).iterdir())}


def kubeconfig_of_the_agent(cluster: Cluster, folder: Path) -> Path:
    """A kubeconfig with a token of the agent's ServiceAccount."""
    path = "/api/v1/namespaces/trapeze-system/serviceaccounts/trapeze/token"
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = cluster.api.request("POST", path, review)["status"]["token"]
    file = folder / "agent.kubeconfig"
    file.write_text(json.dumps(components.kubeconfig(cluster.ca_bundle, token)))
    return file


@pytest.mark.timeout(180)
def test_with_exactly_these_rights_the_agent_takes_the_sample_from_one_release_to_the_next(
    cluster: Cluster, tmp_path: Path
) -> None:
    for name in ("agent.yaml", "rights.yaml"):
        for body in bodies(name):
            # The pod itself is not run here: its image is built elsewhere.
            idle = {"replicas": 0} if body["kind"] == "Deployment" else {}
            cluster.apply([{**body, "spec": {**body["spec"], **idle}} if idle else body], manager="installer")
    allow = [f"Namespace {name}" for name in NAMESPACES]
    site = Site(cluster, tmp_path, "library", settle="2s", prune={"allow": allow})
    site.configure(kubeconfig_of_the_agent(cluster, tmp_path))
    for number in (1, 2):
        site.commit(release(number), f"release {number}")
        done = trapeze(site.config, "sync", "--until-done", "--timeout", "80")
        assert done.returncode == 0, done.stdout + done.stderr
    assert site.ledger().newest is not None
    assert "Forbidden" not in done.stderr


def test_the_configuration_that_is_shipped_with_it_is_one_that_the_agent_reads(tmp_path: Path) -> None:
    config = next(body for body in bodies("agent.yaml") if body["metadata"]["name"] == "trapeze-config")
    file = tmp_path / "trapeze.yaml"
    file.write_text(config["data"]["trapeze.yaml"])
    settings = load_settings(file)
    pod = next(body for body in bodies("agent.yaml") if body["kind"] == "Deployment")["spec"]["template"][
        "spec"
    ]
    assert settings.ledger_namespace == config["metadata"]["namespace"]
    assert [one.name for one in settings.sets] == ["library"]
    assert {mount["name"] for mount in pod["containers"][0]["volumeMounts"]} == {
        v["name"] for v in pod["volumes"]
    }
    assert str(settings.cache_dir) in [mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]]
