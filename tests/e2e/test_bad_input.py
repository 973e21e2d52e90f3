"""Bad input against a real API server: one clear error with its place and the way out, exit code 1.

In each case Git also drops a ConfigMap that is live: it must stay, since what a broken source does not name
is no evidence that nobody wants it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import trapeze
from tests.e2e.site import Site
from tests.rig.cluster import Cluster

NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n"
GRANTS = """
apiVersion: v1
kind: ServiceAccount
metadata: {name: agent, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reads-all}
rules:
  - {apiGroups: ["*"], resources: ["*"], verbs: [get, list, watch]}
  - {apiGroups: [""], resources: [configmaps], verbs: [create, update, delete]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reads-all}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reads-all}
subjects: [{kind: ServiceAccount, name: agent, namespace: default}]
"""


def config_map(name: str, namespace: str = "shop") -> str:
    """A ConfigMap as a file."""
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: {namespace}\n"


FIRST = {"namespace.yaml": NAMESPACE, "kept.yaml": config_map("kept"), "dropped.yaml": config_map("dropped")}
NEXT = {"namespace.yaml": NAMESPACE, "kept.yaml": config_map("kept"), "added.yaml": config_map("added")}


@pytest.fixture
def site(cluster: Cluster, tmp_path: Path) -> Site:
    """A set of two ConfigMaps in service."""
    site = Site(cluster, tmp_path, "shop", settle="0s")
    site.start(FIRST)
    return site


def names(site: Site) -> set[str]:
    """The names of the ConfigMaps of the set that are live, in any namespace."""
    bodies = site.cluster.objects("v1", "ConfigMap", selector="trapeze.dev/set=shop")
    return {body["metadata"]["name"] for body in bodies}


def complaint(site: Site, *words: str) -> str:
    """Sync once; the one error that it ends with, exit code 1."""
    done = trapeze(site.config, "sync", *words)
    assert done.returncode == 1, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, done.stderr
    return errors[0]


WIDGET = "apiVersion: example.dev/v1\nkind: Widget\nmetadata:\n  name: one\n  namespace: shop\n"
MISSPELT = "apiVersion: v1\nkind: ConfigMop\nmetadata:\n  name: one\n  namespace: shop\n"

OBJECTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "broken YAML": ("kind: ConfigMap\n\tmetadata: {}\n", ("release/bad.yaml:2", "mend it")),
    "unknown kind": (MISSPELT, ("release/bad.yaml:1", "ConfigMop", "CustomResourceDefinition")),
    "missing CRD": (WIDGET, ("release/bad.yaml:1", "Widget.example.dev", "CustomResourceDefinition")),
    "missing namespace": (
        config_map("astray", "nowhere"),
        ("release/bad.yaml:1", "namespace nowhere does not exist", "add the Namespace"),
    ),
}


@pytest.mark.parametrize("case", OBJECTS)
def test_bad_document_is_told_left_out_and_prunes_nothing(site: Site, case: str) -> None:
    text, told = OBJECTS[case]
    site.commit({**NEXT, "bad.yaml": text}, case)
    error = complaint(site)
    assert all(word in error for word in told), error
    # What does not depend on the bad document goes on.
    assert names(site) == {"kept", "dropped", "added"}
    site.commit(NEXT, "mended")
    site.sync()
    assert names(site) == {"kept", "added"}


def test_bad_document_does_not_end_the_wait_with_success(site: Site) -> None:
    site.commit({**NEXT, "bad.yaml": OBJECTS["missing CRD"][0]}, "missing CRD")
    complaint(site, "--until-done", "--timeout", "2")
    assert names(site) == {"kept", "dropped", "added"}


SOURCES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "unreachable repo": ({"repo": "elsewhere"}, ("elsewhere",)),
    "unknown ref": ({"ref": "mian"}, ("mian", "main")),
    "empty path": ({"path": "relaese"}, ("relaese", "no such path", "check path and ref")),
}


@pytest.mark.parametrize("case", SOURCES)
def test_source_that_cannot_be_had_is_told_and_changes_nothing(site: Site, case: str) -> None:
    words, told = SOURCES[case]
    site.commit(NEXT, case)
    site.configure(**words)
    error = complaint(site)
    assert all(word in error for word in told), error
    assert names(site) == {"kept", "dropped"}


def test_path_that_holds_nothing_any_more_is_told_and_prunes_nothing(site: Site) -> None:
    site.commit({"README.md": "nothing here"}, "all manifests gone")
    error = complaint(site)
    assert "release" in error
    assert names(site) == {"kept", "dropped"}


def other_credentials(site: Site, token: str = "", server: str = "") -> Path:
    """The admin's kubeconfig with another token or another server."""
    whole = json.loads(site.cluster.kubeconfig.read_text())
    if token:
        whole["users"][0]["user"]["token"] = token
    if server:
        whole["clusters"][0]["cluster"]["server"] = server
    path = site.folder / "kubeconfig"
    path.write_text(json.dumps(whole))
    return path


def test_unreachable_api_server_is_told(site: Site) -> None:
    site.commit(NEXT, "next")
    site.configure(other_credentials(site, server="https://10.0.0.1:1"))
    error = complaint(site)
    assert "https://10.0.0.1:1" in error
    assert names(site) == {"kept", "dropped"}


def test_expired_credentials_are_told(site: Site) -> None:
    site.commit(NEXT, "next")
    path = other_credentials(site, token="not-" + "known")
    site.configure(path)
    error = complaint(site)
    assert "renew the credentials" in error
    assert str(path) in error
    assert names(site) == {"kept", "dropped"}


def account_token(site: Site) -> str:
    """A token of an account that may read everything, and write ConfigMaps only by create and update."""
    site.cluster.apply(GRANTS)
    path = "/api/v1/namespaces/default/serviceaccounts/agent/token"
    request = {"spec": {"expirationSeconds": 3600}}
    return str(site.cluster.api.create(path, request)["status"]["token"])


def test_credentials_without_a_right_at_all_are_told(site: Site) -> None:
    token = account_token(site)
    site.cluster.api.delete("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/reads-all")
    site.commit(NEXT, "next")
    site.configure(other_credentials(site, token=token))
    error = complaint(site)
    assert "forbidden" in error.lower()
    assert names(site) == {"kept", "dropped"}


def test_credentials_that_lack_one_right_write_nothing_of_the_handoff(site: Site) -> None:
    token = account_token(site)
    site.commit(NEXT, "next")
    site.configure(other_credentials(site, token=token))
    error = complaint(site)
    assert "may not patch ConfigMap" in error
    assert names(site) == {"kept", "dropped"}
