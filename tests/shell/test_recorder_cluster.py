"""A real control plane recorded: the right handoff has no broken state, the obvious one has several."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.core.model import Body, ObjectId
from agent.core.policy import id_of
from agent.core.promise import Verdict
from agent.core.terms import Terms
from agent.shell.kube import KubeCluster, connect
from agent.shell.recorder import Recorder, kinds_to_record
from agent.shell.recording import judge, verify
from tests.core.histories import ROUTES
from tests.rig.cluster import Cluster
from tests.rig.test_handoff import SHARED, moved, of_kinds, start


@pytest.fixture
def port(cluster: Cluster) -> Iterator[KubeCluster]:
    """The recorder's own connection."""
    adapter = connect(str(cluster.kubeconfig), None, pool_size=40)
    yield adapter
    adapter.close()


def recorder(port: KubeCluster, path: Path | None = None) -> Recorder:
    return Recorder(port, kinds_to_record(port.discover(), ROUTES.policy), path)


def release(bodies: list[dict[str, Any]]) -> dict[ObjectId, Body]:
    return {id_of(body): body for body in bodies}


def handed_over(cluster: Cluster, old: list[dict[str, Any]], new: list[dict[str, Any]]) -> None:
    """In the order that holds: widen, wait, repoint, retire the pods, narrow, prune."""
    cluster.apply(of_kinds(moved(old, both=True), *SHARED))
    cluster.apply([body for body in new if body["kind"] not in {*SHARED, "APIService"}])
    cluster.wait_ready("ext2", "server")
    cluster.apply(of_kinds(new, "APIService"))
    cluster.wait_available("v3.example.dev")
    cluster.delete(of_kinds(old, "Deployment"))
    cluster.wait("the old pods gone", lambda: not cluster.pods("ext"))
    cluster.apply(of_kinds(new, *SHARED))
    cluster.delete(of_kinds(old, "Namespace"))


def crds(old: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return of_kinds(old, "CustomResourceDefinition")


def told(verdict: Verdict) -> str:
    return "\n".join([*map(str, verdict.paths), *map(str, verdict.broken), *verdict.unseen])


def test_the_right_order_has_no_broken_state(cluster: Cluster, port: KubeCluster, tmp_path: Path) -> None:
    old = start(cluster)
    new = moved(old)
    path = tmp_path / "handoff.jsonl.gz"
    with recorder(port, path) as recording:
        recording.announce(Terms.between(release(old), release([*new, *crds(old)]), ROUTES))
        handed_over(cluster, old, new)
    verdict = verify(path, ROUTES)
    assert verdict.is_kept, told(verdict)
    assert verdict.states > 30
    lowest = {record.name: record.lowest for record in verdict.paths}
    assert lowest["APIService v3.example.dev"] == 1


def test_the_obvious_order_breaks_the_path_the_rights_and_what_pods_use(
    cluster: Cluster, port: KubeCluster
) -> None:
    old = start(cluster)
    new = moved(old)
    with recorder(port) as recording:
        recording.announce(Terms.between(release(old), release([*new, *crds(old)]), ROUTES))
        cluster.apply(new)
        cluster.delete(of_kinds(old, "Namespace"))
        cluster.wait_ready("ext2", "server")
        cluster.wait_available("v3.example.dev")
    verdict = judge(recording.recording(), ROUTES)
    assert verdict.unseen == (), told(verdict)
    kinds = {broken.invariant for broken in verdict.broken}
    assert {"serving path", "rights of a running pod"} <= kinds, told(verdict)
    assert any(b.subject == "APIService v3.example.dev" for b in verdict.broken), told(verdict)
