"""Releases that Helm installed first: what it declared and Git no longer has goes where the set says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.corpus_live.helm import HELM, Helm, Itself, StandIn
from tests.corpus_live.test_removal import CONFIG, NAMESPACE, WEB, Site, config, service, variables, web
from tests.rig.api import MERGE, STRATEGIC
from tests.rig.cluster import Cluster
from tests.rig.tools import HELM_3, HELM_4

SERVICE = f"/api/v1/namespaces/{NAMESPACE}/services/web"
PROGRAMS = {"helm-3": HELM_3, "helm-4": HELM_4}
WAYS_OF_3 = ("like-helm-3", pytest.param("helm-3", marks=pytest.mark.slow))
WAYS = (*WAYS_OF_3, "like-helm-4", pytest.param("helm-4", marks=pytest.mark.slow))
Taking: TypeAlias = Callable[..., tuple[Site, Helm]]


@pytest.fixture(params=WAYS)
def taking(request: pytest.FixtureRequest, tmp_path: Path) -> Taking:
    """Makes a set that takes over what Helm installs, unless it is told otherwise, and Helm."""
    # Beside a control plane there is no network: what is not built yet is built before.
    program = PROGRAMS[request.param].build() if request.param in PROGRAMS else None
    cluster: Cluster = request.getfixturevalue("cluster")

    def make(take_over: tuple[str, ...] = (HELM,)) -> tuple[Site, Helm]:
        site = Site(cluster, tmp_path, take_over=list(take_over))
        if program is not None:
            return site, Itself(cluster, NAMESPACE, program, tmp_path)
        return site, StandIn(cluster, NAMESPACE, applies=request.param == "like-helm-4")

    return make


def written_by_others(cluster: Cluster) -> None:
    cluster.api.patch(f"{CONFIG}?fieldManager=somebody", {"data": {"theirs": "3"}}, MERGE)
    env = {"env": [{"name": "THEIRS", "value": "3"}]}
    spec = {"template": {"spec": {"containers": [{"name": "web", **env}]}}}
    cluster.api.patch(f"{WEB}?fieldManager=somebody", {"spec": spec}, STRATEGIC)


def test_what_helm_declared_and_git_lacks_goes_and_all_else_stays(taking: Taking) -> None:
    """Helm 3's managedFields name the server's defaults too: those stay, by the record of the release."""
    site, helm = taking()
    helm.release(config(keep="1", old="2"), web("KEEP", "OLD", sidecar=True), service(80, 81))
    written_by_others(site.cluster)
    site.release(config(keep="1"), web("KEEP"), service(80))
    site.sync()
    api = site.cluster.api
    assert api.get(CONFIG)["data"] == {"keep": "1", "theirs": "3"}
    assert {name: sorted(env) for name, env in variables(site.cluster).items()} == {"web": ["KEEP", "THEIRS"]}
    ports = api.get(SERVICE)["spec"]["ports"]
    assert [(port["port"], port["protocol"], port["targetPort"]) for port in ports] == [(80, "TCP", 80)]


def test_record_of_the_version_that_is_deployed_counts(taking: Taking) -> None:
    site, helm = taking()
    helm.release(config(keep="1"))
    helm.release(config(keep="1", old="2"))
    site.release(config(keep="1", old="2"))
    site.sync()
    site.release(config(keep="1"))
    site.sync()
    assert site.cluster.api.get(CONFIG)["data"] == {"keep": "1"}


def test_nothing_of_helm_goes_where_the_set_does_not_name_it(taking: Taking) -> None:
    site, helm = taking(take_over=())
    helm.release(config(keep="1", old="2"))
    site.release(config(keep="1"))
    site.sync()
    assert site.cluster.api.get(CONFIG)["data"] == {"keep": "1", "old": "2"}


@pytest.mark.parametrize("taking", WAYS_OF_3, indirect=True)
def test_without_a_record_nothing_goes_and_the_plan_says_why(taking: Taking) -> None:
    site, helm = taking()
    helm.release(config(keep="1", old="2"))
    helm.forget()
    site.release(config(keep="1"))
    site.sync()
    assert site.cluster.api.get(CONFIG)["data"] == {"keep": "1", "old": "2"}
    assert any(
        f"Helm release {NAMESPACE}/shop: it has no record" in said for said in site.syncer().plan().warnings
    )
