"""What Git once had and no longer has goes, what is of others stays, whatever is known of the base."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.build import syncer_of, tools_of
from agent.core.model import LAST_APPLIED, path_text
from agent.core.orders import Order
from agent.settings import settings_of
from agent.shell.report import State
from agent.shell.tick import Syncer
from agent.shell.until import until_done
from tests.e2e.site import held
from tests.rig.api import APPLY, MERGE, STRATEGIC
from tests.rig.cluster import Cluster
from tests.shell.gitrepos import GitRepo

NAMESPACE = "removal"
CONFIG = f"/api/v1/namespaces/{NAMESPACE}/configmaps/demo"
WEB = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/web"
SERVICE = f"/api/v1/namespaces/{NAMESPACE}/services/web"
WITHIN = 60.0
KUBECTL = "kubectl-client-side-apply"


def config(**data: str) -> dict[str, Any]:
    """A ConfigMap."""
    metadata = {"name": "demo", "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def web(*env: str, sidecar: bool = False) -> dict[str, Any]:
    """A Deployment whose container has these variables."""
    containers: list[dict[str, Any]] = [
        {"name": "web", "image": "standin/http:v1", "env": [{"name": name, "value": "1"} for name in env]}
    ]
    if sidecar:
        containers.append({"name": "sidecar", "image": "standin/http:v1"})
    labels = {"app": "web"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
        },
    }


def service(*ports: int) -> dict[str, Any]:
    """A Service with these ports."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": NAMESPACE},
        "spec": {"selector": {"app": "web"}, "ports": [{"name": f"p{port}", "port": port} for port in ports]},
    }


class Site:
    """A set in a namespace of its own, whose releases are lists of objects."""

    def __init__(self, cluster: Cluster, folder: Path, **words: Any) -> None:
        self.cluster, self._folder, self._words = cluster, folder, words
        cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        self.repo = GitRepo(folder / "repo")

    def release(self, *bodies: dict[str, Any]) -> None:
        """Make these objects the whole release."""
        self.repo.commit({"all.yaml": "".join(f"---\n{json.dumps(body)}\n" for body in bodies)})

    def syncer(self) -> Syncer:
        """A new process."""
        one = {"name": "shop", "repo": "repo", "ref": "main", "path": "all.yaml", "settle": "0s"}
        raw = {"kubeconfig": str(self.cluster.kubeconfig), "cache_dir": "cache", "sets": [one | self._words]}
        settings = settings_of(raw, self._folder / "trapeze.yaml", self._folder)
        return syncer_of(settings, settings.set_named("shop"), tools_of(settings))

    def sync(self) -> None:
        """Tick until the release is in service; then a second sync finds nothing to write."""
        syncer = self.syncer()
        report = until_done(syncer, Order.GATED, timeout=WITHIN, pause=0.3, heard=lambda _: None)
        assert report.state is State.IN_SERVICE, held(report)
        again = self.syncer().plan()
        assert (again.changes, again.steps) == ((), ())

    def forget(self) -> None:
        """A force push: no commit that was ever applied can be had again."""
        shutil.rmtree(self._folder / "repo")
        shutil.rmtree(self._folder / "cache")
        self.repo = GitRepo(self._folder / "repo")


@pytest.fixture
def site(cluster: Cluster, tmp_path: Path) -> Site:
    """A set that has nothing yet."""
    return Site(cluster, tmp_path)


def variables(cluster: Cluster) -> dict[str, list[str]]:
    """The names of each container's variables, live."""
    containers = cluster.api.get(WEB)["spec"]["template"]["spec"]["containers"]
    return {one["name"]: [row["name"] for row in one.get("env") or ()] for one in containers}


def keep_commits(_: Site) -> None:
    """The base is read from Git."""


@pytest.mark.parametrize("lose", [keep_commits, Site.forget], ids=["base-from-git", "commit-gone"])
def test_fields_go_and_those_of_others_stay(site: Site, lose: Callable[[Site], None]) -> None:
    site.release(config(keep="1", old="2"), web("KEEP", "OLD", sidecar=True), service(80, 81))
    site.sync()
    api = site.cluster.api
    api.patch(f"{CONFIG}?fieldManager=somebody", {"data": {"theirs": "3"}}, MERGE)
    added = {
        "spec": {
            "template": {"spec": {"containers": [{"name": "web", "env": [{"name": "THEIRS", "value": "3"}]}]}}
        }
    }
    api.patch(f"{WEB}?fieldManager=somebody", added, STRATEGIC)
    api.patch(
        f"{SERVICE}?fieldManager=somebody", {"spec": {"ports": [{"name": "p90", "port": 90}]}}, STRATEGIC
    )
    lose(site)
    site.release(config(keep="1"), web("KEEP"), service(80))
    site.sync()
    assert api.get(CONFIG)["data"] == {"keep": "1", "theirs": "3"}
    assert {name: sorted(names) for name, names in variables(site.cluster).items()} == {
        "web": ["KEEP", "THEIRS"]
    }
    assert sorted(port["port"] for port in api.get(SERVICE)["spec"]["ports"]) == [80, 90]


def test_annotation_that_git_withdraws_goes_alone(site: Site) -> None:
    body = config(keep="1")
    body["metadata"]["annotations"] = {"ours": "1", "also-ours": "2"}
    site.release(body)
    site.sync()
    note = {"metadata": {"annotations": {"theirs": "3"}}}
    site.cluster.api.patch(f"{CONFIG}?fieldManager=kubectl-annotate", note, MERGE)
    del body["metadata"]["annotations"]["also-ours"]
    site.release(body)
    site.sync()
    annotations = site.cluster.api.get(CONFIG)["metadata"]["annotations"]
    assert {key: text for key, text in annotations.items() if not key.startswith("trapeze.dev/")} == {
        "ours": "1",
        "theirs": "3",
    }


def applied_by_kubectl(cluster: Cluster, path: str, body: dict[str, Any]) -> None:
    """An object as ``kubectl apply`` without --server-side makes it: its manifest in an annotation."""
    metadata = {**body["metadata"], "annotations": {LAST_APPLIED: json.dumps(body)}}
    collection = path.rpartition("/")[0]
    cluster.api.create(f"{collection}?fieldManager={KUBECTL}", {**body, "metadata": metadata})


def test_object_of_client_side_apply_is_taken_over_whole(cluster: Cluster, tmp_path: Path) -> None:
    """Issue 4, cases/30: a field that left Git stayed for ever, since kubectl still owned it."""
    site = Site(cluster, tmp_path, take_over=[KUBECTL])
    applied_by_kubectl(cluster, CONFIG, config(keep="1", old="2"))
    applied_by_kubectl(cluster, WEB, web("KEEP", "OLD", sidecar=True))
    cluster.api.patch(f"{CONFIG}?fieldManager=somebody", {"data": {"theirs": "3"}}, MERGE)
    site.release(config(keep="1"), web("KEEP"))
    site.sync()
    assert cluster.api.get(CONFIG)["data"] == {"keep": "1", "theirs": "3"}
    assert variables(cluster) == {"web": ["KEEP"]}
    site.release(config(keep="2"))
    site.sync()
    assert cluster.api.get(CONFIG)["data"] == {"keep": "2", "theirs": "3"}


def test_object_taken_over_first_and_shortened_later_loses_what_kubectl_owned_too(
    cluster: Cluster, tmp_path: Path
) -> None:
    site = Site(cluster, tmp_path, take_over=[KUBECTL])
    applied_by_kubectl(cluster, CONFIG, config(keep="1", old="2"))
    site.release(config(keep="1", old="2"))
    site.sync()
    site.release(config(keep="1"))
    site.sync()
    assert cluster.api.get(CONFIG)["data"] == {"keep": "1"}


def test_field_that_somebody_applies_too_stays_theirs(site: Site) -> None:
    site.release(config(keep="1", shared="2"))
    site.sync()
    theirs = {**config(shared="2")}
    site.cluster.api.request("PATCH", f"{CONFIG}?fieldManager=an-operator", theirs, APPLY)
    site.release(config(keep="1"))
    site.sync()
    assert site.cluster.api.get(CONFIG)["data"] == {"keep": "1", "shared": "2"}


def scaler(version: str, **spec: Any) -> dict[str, Any]:
    """An autoscaler of a Deployment that is not there, named by its version."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "gone"}
    return {
        "apiVersion": f"autoscaling/{version}",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": version, "namespace": NAMESPACE},
        "spec": {"scaleTargetRef": target, "maxReplicas": 3, **spec},
    }


def test_one_kind_in_two_versions_is_no_drift(site: Site) -> None:
    """autoscaling/v1 says in one field, and in annotations, what autoscaling/v2 says in a list."""
    resource = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}
    newer = scaler("v2", metrics=[{"type": "Resource", "resource": resource}])
    site.release(scaler("v1", targetCPUUtilizationPercentage=50), newer)
    site.sync()
    site.release(scaler("v1", targetCPUUtilizationPercentage=60), newer)
    (change,) = site.syncer().plan().changes
    assert [path_text(field.path) for field in change.fields] == ["spec.targetCPUUtilizationPercentage"]
