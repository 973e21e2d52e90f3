"""Rollouts: what is up at every moment of them."""

from __future__ import annotations

import pytest

from agent.core.model import Body
from agent.core.simulation.tables import dig, put
from agent.core.simulation.world import id_of
from tests.core.simulation.lab import Lab, service, template, workload

WEB = workload("Deployment", template())


def rolled(strategy: Body, replicas: int = 4) -> tuple[Lab, Body]:
    """A Deployment in service, and its next version with this strategy, not yet applied."""
    lab = Lab()
    spec: Body = {"replicas": replicas, "strategy": strategy}
    lab.apply(workload("Deployment", template(ready_after="1"), **spec), service())
    lab.advance(5)
    assert lab.ready(service()) == replicas
    return lab, workload("Deployment", template(version="2", ready_after="1"), **spec)


# https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment
@pytest.mark.parametrize(
    ("surge", "unavailable", "least", "most"),
    [(1, 0, 4, 5), ("25%", "25%", 3, 5), (0, 2, 2, 4), (4, 0, 4, 8)],
    ids=["surge 1", "quarters", "no surge", "all at once"],
)
def test_a_rolling_update_keeps_to_its_bounds(
    surge: int | str, unavailable: int | str, least: int, most: int
) -> None:
    lab, new = rolled({"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}})
    lab.apply(new)
    sizes: list[int] = []

    def look() -> int:
        sizes.append(sum(row["spec"]["replicas"] for row in replicasets(lab)))
        return lab.ready(service())

    assert lab.lowest(20, look) == least
    assert max(sizes) == most
    assert lab.status(WEB, "updatedReplicas") == 4
    assert lab.condition(WEB, "Progressing") == ("True", "NewReplicaSetAvailable")


def replicasets(lab: Lab) -> list[Body]:
    return list(lab.world.of("apps", "ReplicaSet").values())


# https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#recreate-deployment
def test_recreate_stops_every_old_pod_first() -> None:
    lab, new = rolled({"type": "Recreate"})
    lab.apply(new)
    assert lab.lowest(20, lambda: lab.ready(service())) == 0
    assert lab.ready(service()) == 4


def test_a_rollout_whose_pods_never_become_ready_keeps_the_old_ones_and_misses_its_deadline() -> None:
    lab, _ = rolled({}, replicas=2)
    stuck = template(version="2", never_ready="true")
    lab.apply(workload("Deployment", stuck, replicas=2, progressDeadlineSeconds=60))
    assert lab.lowest(30, lambda: lab.ready(service())) == 2
    assert lab.condition(WEB, "Progressing") == ("True", "ReplicaSetUpdated")
    assert lab.lowest(60, lambda: lab.ready(service())) == 2
    assert lab.condition(WEB, "Progressing") == ("False", "ProgressDeadlineExceeded")
    assert lab.condition(WEB, "Available")[0] == "True"


def test_going_back_finds_the_old_replica_set_again() -> None:
    lab, new = rolled({}, replicas=2)
    lab.apply(new)
    lab.advance(20)
    lab.apply(workload("Deployment", template(ready_after="1"), replicas=2, strategy={}))
    lab.advance(20)
    assert sorted(row["spec"]["replicas"] for row in replicasets(lab)) == [0, 2]
    revisions = [
        dig(row, ("metadata", "annotations", "deployment.kubernetes.io/revision")) for row in replicasets(lab)
    ]
    assert sorted(revisions) == ["2", "3"]


# https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#min-ready-seconds
def test_a_pod_counts_as_available_only_after_min_ready_seconds() -> None:
    lab = Lab()
    lab.apply(workload("Deployment", template(), minReadySeconds=10))
    lab.advance(10.9)
    assert (lab.status(WEB, "readyReplicas"), lab.status(WEB, "availableReplicas")) == (1, None)
    lab.advance(0.1)
    assert lab.status(WEB, "availableReplicas") == 1


# https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#pausing-and-resuming-a-deployment
def test_a_paused_deployment_rolls_nothing_out() -> None:
    lab, new = rolled({}, replicas=2)
    lab.apply(put(new, ("spec", "paused"), value=True))
    lab.advance(60)
    assert len(replicasets(lab)) == 1
    assert lab.condition(WEB, "Progressing") == ("Unknown", "DeploymentPaused")
    assert lab.status(WEB, "observedGeneration") == lab.get(WEB)["metadata"]["generation"]


# https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#clean-up-policy
def test_old_replica_sets_go_beyond_the_history_limit() -> None:
    lab = Lab()
    for version in "12345":
        lab.apply(workload("Deployment", template(version=version), revisionHistoryLimit=2))
        lab.advance(10)
    assert len(replicasets(lab)) == 3


# https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/#isolating-pods-from-a-replicaset
def test_a_pod_whose_labels_no_longer_fit_is_let_go_and_another_is_made() -> None:
    lab = Lab()
    lab.apply(workload("Deployment", template()))
    lab.advance(2)
    (pod,) = lab.pods()
    alone = {"apiVersion": "v1", "kind": "Pod", "metadata": {**pod["metadata"], "labels": {"app": "alone"}}}
    lab.apply(put({**alone, "spec": pod["spec"]}, ("metadata", "managedFields"), []), force=True)
    lab.advance(2)
    assert len(lab.pods()) == 1
    assert not lab.pods("alone")[0]["metadata"].get("ownerReferences")


# https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#deployment-and-scaling-guarantees
def test_a_stateful_set_makes_and_updates_one_pod_at_a_time() -> None:
    lab = Lab()
    pods = template(app="db", ready_after="2")
    claims = [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}]
    rest: Body = {"replicas": 3, "serviceName": "db", "volumeClaimTemplates": claims}
    database = workload("StatefulSet", pods, "db", **rest)
    lab.apply(database, service("db", "db"))
    lab.advance(4)
    assert [pod["metadata"]["name"] for pod in lab.pods("db")] == ["db-0", "db-1"]
    lab.advance(6)
    assert lab.status(database, "readyReplicas") == 3
    assert len(lab.world.of("", "PersistentVolumeClaim")) == 3
    lab.apply(workload("StatefulSet", template(app="db", version="2", ready_after="2"), "db", **rest))
    assert lab.lowest(30, lambda: lab.ready(service("db"))) == 2
    assert lab.status(database, "currentRevision") == lab.status(database, "updateRevision")
    assert lab.status(database, "updatedReplicas") == 3


# https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#partitions
def test_a_partition_keeps_lower_ordinals_on_the_old_template() -> None:
    lab = Lab()
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
    for version in "12":
        pods = template(app="db", version=version)
        lab.apply(workload("StatefulSet", pods, "db", replicas=2, updateStrategy=strategy))
        lab.advance(20)
    images = [pod["spec"]["containers"][0]["image"] for pod in lab.pods("db")]
    assert images == ["standin/http:1", "standin/http:2"]


# https://kubernetes.io/docs/tasks/manage-daemon/update-daemon-set/
@pytest.mark.parametrize(
    ("strategy", "lowest", "image"),
    [
        ({"type": "RollingUpdate"}, 0, "standin/http:2"),
        ({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}, 1, "standin/http:2"),
        ({"type": "OnDelete"}, 1, "standin/http:1"),
    ],
    ids=["one at a time", "surge", "on delete"],
)
def test_a_daemon_set_replaces_its_pod_as_its_strategy_says(strategy: Body, lowest: int, image: str) -> None:
    lab = Lab()
    agents = service("agent", "agent")
    lab.apply(workload("DaemonSet", template(app="agent"), "agent", updateStrategy=strategy), agents)
    lab.advance(5)
    pods = template(app="agent", version="2")
    lab.apply(workload("DaemonSet", pods, "agent", updateStrategy=strategy))
    assert lab.lowest(10, lambda: lab.ready(agents)) == lowest
    (pod,) = lab.pods("agent")
    assert pod["spec"]["containers"][0]["image"] == image


# https://kubernetes.io/docs/tasks/run-application/configure-pdb/
def test_a_disruption_budget_counts_its_pods() -> None:
    lab, _ = rolled({})
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    }
    lab.apply(budget)
    lab.advance(0)
    assert lab.status(budget, "disruptionsAllowed") == 1
    assert lab.status(budget, "observedGeneration") == 1
    lab.delete(id_of(lab.pods()[0]))
    lab.advance(0)
    assert lab.status(budget, "currentHealthy") == 3
