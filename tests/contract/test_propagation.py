"""What a delete does to the objects that the deleted one owns: orphaned, ended first, or ended after."""

from __future__ import annotations

from agent.core.model import Body
from agent.core.propagation import Propagation
from tests.contract.bench import Bench, deployment, id_of, named
from tests.contract.test_controllers import available, listed


def delete(bench: Bench, body: Body, propagation: Propagation) -> None:
    uid = bench.must(body)["metadata"]["uid"]
    bench.cluster.delete(bench.of(body), id_of(body), uid=uid, resource_version="", propagation=propagation)


def replicaset(bench: Bench) -> Body:
    (one,) = listed(bench, "apps", "ReplicaSet")
    return one


def test_an_orphaned_replicaset_loses_its_owner_and_goes_on_serving(bench: Bench) -> None:
    bench.apply(deployment(replicas=2))
    bench.until("two replicas", lambda: available(bench, 2))
    before, pods = replicaset(bench), {pod["metadata"]["uid"] for pod in listed(bench, "", "Pod")}
    delete(bench, deployment(), Propagation.ORPHAN)
    bench.until("the Deployment is gone", lambda: bench.live(deployment()) is None)
    after = replicaset(bench)
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert not after["metadata"].get("ownerReferences")
    assert {pod["metadata"]["uid"] for pod in listed(bench, "", "Pod")} == pods


def test_a_new_deployment_adopts_the_orphan_that_it_selects(bench: Bench) -> None:
    bench.apply(deployment(replicas=1))
    bench.until("a replica", lambda: available(bench, 1))
    before = replicaset(bench)
    delete(bench, deployment(), Propagation.ORPHAN)
    bench.until("the Deployment is gone", lambda: bench.live(deployment()) is None)
    uid = bench.apply(deployment(replicas=1))["metadata"]["uid"]
    adopted = bench.until("it is adopted", lambda: replicaset(bench)["metadata"].get("ownerReferences"))
    assert adopted[0]["uid"] == uid
    assert replicaset(bench)["metadata"]["uid"] == before["metadata"]["uid"]


def test_in_the_foreground_the_owner_stays_until_its_pods_are_gone(bench: Bench) -> None:
    bench.apply(deployment(replicas=1))
    bench.until("a replica", lambda: available(bench, 1))
    delete(bench, deployment(), Propagation.FOREGROUND)
    going = bench.live(deployment())
    if going is not None:
        assert going["metadata"]["finalizers"] == ["foregroundDeletion"]
        assert going["metadata"]["deletionTimestamp"]
    bench.until("the Deployment is gone", lambda: bench.live(deployment()) is None)
    assert listed(bench, "apps", "ReplicaSet") == []
    assert listed(bench, "", "Pod") == []


def test_what_names_an_owner_without_blocking_goes_after_it(bench: Bench) -> None:
    owner = bench.apply(named("v1", "ConfigMap", "owner", "shop"))
    owned = named("v1", "ConfigMap", "owned", "shop")
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    owned["metadata"]["ownerReferences"] = [reference]
    bench.apply(owned)
    delete(bench, owner, Propagation.FOREGROUND)
    bench.until("both are gone", lambda: bench.live(owner) is None and bench.live(owned) is None)


def test_a_statefulset_made_anew_takes_over_the_pods_that_were_left(bench: Bench) -> None:
    body = named("apps/v1", "StatefulSet", "db", "shop")
    template = {**deployment("db", app="db")["spec"]["template"]}
    selector = {"matchLabels": template["metadata"]["labels"]}
    body["spec"] = {"replicas": 1, "serviceName": "db", "selector": selector, "template": template}

    def ready() -> Body | None:
        live = bench.must(body)
        return live if (live.get("status") or {}).get("availableReplicas") == 1 else None

    bench.apply(body)
    bench.until("a replica", ready)
    before = [pod["metadata"]["uid"] for pod in listed(bench, "", "Pod")]
    delete(bench, body, Propagation.ORPHAN)
    bench.until("the StatefulSet is gone", lambda: bench.live(body) is None)
    body["spec"]["podManagementPolicy"] = "Parallel"
    uid = bench.apply(body)["metadata"]["uid"]
    bench.until("a replica again", ready)
    (pod,) = listed(bench, "", "Pod")
    assert [pod["metadata"]["uid"]] == before
    assert pod["metadata"]["ownerReferences"][0]["uid"] == uid
