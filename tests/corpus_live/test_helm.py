"""Releases that Helm installed first: what it declared and Git no longer has goes where the set says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus_live.helm import HELM, Helm
from tests.corpus_live.test_removal import CONFIG, NAMESPACE, WEB, Site, config, service, variables, web
from tests.rig.api import MERGE, STRATEGIC
from tests.rig.cluster import Cluster

SERVICE = f"/api/v1/namespaces/{NAMESPACE}/services/web"


def taking(cluster: Cluster, folder: Path) -> tuple[Site, Helm]:
    return Site(cluster, folder, take_over=[HELM]), Helm(cluster, NAMESPACE)


def written_by_others(cluster: Cluster) -> None:
    cluster.api.patch(f"{CONFIG}?fieldManager=somebody", {"data": {"theirs": "3"}}, MERGE)
    env = {"env": [{"name": "THEIRS", "value": "3"}]}
    spec = {"template": {"spec": {"containers": [{"name": "web", **env}]}}}
    cluster.api.patch(f"{WEB}?fieldManager=somebody", {"spec": spec}, STRATEGIC)


def test_what_helm_3_declared_and_git_lacks_goes_and_all_else_stays(cluster: Cluster, tmp_path: Path) -> None:
    """Its managedFields name the server's defaults too: those stay, by the record of the release."""
    site, helm = taking(cluster, tmp_path)
    helm.install(config(keep="1", old="2"), web("KEEP", "OLD", sidecar=True), service(80, 81))
    written_by_others(cluster)
    site.release(config(keep="1"), web("KEEP"), service(80))
    site.sync()
    assert cluster.api.get(CONFIG)["data"] == {"keep": "1", "theirs": "3"}
    assert {name: sorted(env) for name, env in variables(cluster).items()} == {"web": ["KEEP", "THEIRS"]}
    ports = cluster.api.get(SERVICE)["spec"]["ports"]
    assert [(port["port"], port["protocol"], port["targetPort"]) for port in ports] == [(80, "TCP", 80)]


def test_record_of_the_version_that_is_deployed_counts(cluster: Cluster, tmp_path: Path) -> None:
    site, helm = taking(cluster, tmp_path)
    helm.install(config(keep="1"))
    helm.upgrade(config(keep="1", old="2"))
    site.release(config(keep="1", old="2"))
    site.sync()
    site.release(config(keep="1"))
    site.sync()
    assert cluster.api.get(CONFIG)["data"] == {"keep": "1"}


def test_what_helm_4_applied_and_git_lacks_goes(cluster: Cluster, tmp_path: Path) -> None:
    site, helm = taking(cluster, tmp_path)
    helm.apply(config(keep="1", old="2"), web("KEEP", "OLD", sidecar=True))
    written_by_others(cluster)
    site.release(config(keep="1"), web("KEEP"))
    site.sync()
    assert cluster.api.get(CONFIG)["data"] == {"keep": "1", "theirs": "3"}
    assert {name: sorted(env) for name, env in variables(cluster).items()} == {"web": ["KEEP", "THEIRS"]}


@pytest.mark.parametrize("way", [Helm.install, Helm.apply], ids=["helm-3", "helm-4"])
def test_nothing_of_helm_goes_where_the_set_does_not_name_it(
    cluster: Cluster, tmp_path: Path, way: object
) -> None:
    site = Site(cluster, tmp_path)
    assert callable(way)
    way(Helm(cluster, NAMESPACE), config(keep="1", old="2"))
    site.release(config(keep="1"))
    site.sync()
    assert cluster.api.get(CONFIG)["data"] == {"keep": "1", "old": "2"}


def test_without_a_record_nothing_goes_and_the_plan_says_why(cluster: Cluster, tmp_path: Path) -> None:
    site, helm = taking(cluster, tmp_path)
    helm.install(config(keep="1", old="2"))
    helm.forget()
    site.release(config(keep="1"))
    site.sync()
    assert cluster.api.get(CONFIG)["data"] == {"keep": "1", "old": "2"}
    assert any(
        f"Helm release {NAMESPACE}/shop: it has no record" in said for said in site.syncer().plan().warnings
    )
