"""The embedded cluster recorded through the same port: a rollout is kept, an end without successor is not."""

from __future__ import annotations

import pytest

from agent.core.model import Body, GroupKind, ObjectId
from agent.core.promise import Verdict
from agent.shell.embedded import EmbeddedCluster
from agent.shell.recorder import Recorder, kinds_to_record
from agent.shell.recording import judge
from tests.core.histories import ROUTES, obj

DEPLOYMENT = ObjectId("apps", "Deployment", "shop", "web")
PATH = "Service shop/web [port 80]"


def web(image: str) -> Body:
    container = {"name": "c", "image": image, "ports": [{"containerPort": 80}]}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return obj("apps/v1", "Deployment", "web", "shop", spec=spec)


class Stage:
    """The embedded cluster with shop/web in service."""

    def __init__(self) -> None:
        self.cluster = EmbeddedCluster(start=1000)
        self.resources = {r.kind: r for r in kinds_to_record(self.cluster.discover(), ROUTES.policy)}
        self.apply(obj("v1", "Namespace", "shop"))
        self.cluster.advance(2)
        self.apply(web("v1"))
        ports = {"selector": {"app": "web"}, "ports": [{"port": 80}]}
        self.apply(obj("v1", "Service", "web", "shop", spec=ports))
        self.cluster.advance(30)

    def apply(self, body: Body) -> None:
        """Server-side apply as a set of ours."""
        body = {**body, "metadata": {k: v for k, v in body["metadata"].items() if k != "uid"}}
        group = str(body["apiVersion"]).rpartition("/")[0]
        resource = self.resources[GroupKind(group, str(body["kind"]))]
        self.cluster.apply(resource, body, manager="trapeze/shop")

    def recorder(self) -> Recorder:
        """A recorder of everything that the promise speaks of."""
        return Recorder(self.cluster, tuple(self.resources.values()))


@pytest.fixture
def stage() -> Stage:
    return Stage()


def lowest(verdict: Verdict) -> int | None:
    return next(path.lowest for path in verdict.paths if path.name == PATH)


def test_a_rollout_that_keeps_old_pods_until_new_ones_are_ready_is_kept(stage: Stage) -> None:
    with stage.recorder() as recorder:
        stage.apply(web("v2"))
        stage.cluster.advance(60)
    verdict = judge(recorder.recording(), ROUTES)
    assert (verdict.broken, verdict.unseen) == ((), ())
    assert verdict.states > 10
    assert lowest(verdict) == 2


def test_a_deployment_deleted_without_a_successor_breaks_its_service(stage: Stage) -> None:
    with stage.recorder() as recorder:
        resource = stage.resources[DEPLOYMENT.group_kind]
        live = stage.cluster.get(resource, DEPLOYMENT)
        assert live is not None
        stage.cluster.delete(resource, DEPLOYMENT, uid=live["metadata"]["uid"], resource_version="")
        stage.cluster.advance(60)
    verdict = judge(recorder.recording(), ROUTES)
    assert [(broken.invariant, broken.subject) for broken in verdict.broken] == [("serving path", PATH)]
    assert lowest(verdict) == 0
