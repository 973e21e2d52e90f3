"""Ways other than a new Deployment beside the old pods: Jobs, StatefulSets, classes, what needs a person."""

from __future__ import annotations

import pytest

from agent.core.policy import id_of
from agent.core.table_replacements import Way
from tests.shell.job import POLICY, Job, reasons
from tests.shell.judged import Judged
from tests.shell.releases import labelled, namespace, server

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: default}
spec:
  template:
    metadata: {annotations: {%s}}
    spec:
      restartPolicy: Never
      containers: [{name: migrate, image: "standin/job:%d"}]
"""


def test_a_job_is_made_anew_once_the_one_before_has_ended() -> None:
    job = Job()
    job.release(JOB % ("standin.dev/run-for: '5'", 1))
    job.run()
    job.release(JOB % ("standin.dev/run-for: '1'", 2))
    assert "replace Job default/migrate" in job.run()
    live = job.get("Job.batch", "default/migrate")
    assert live is not None
    assert live["spec"]["template"]["spec"]["containers"][0]["image"] == "standin/job:2"


def test_a_job_that_runs_is_waited_for() -> None:
    job = Job()
    job.release(JOB % ("standin.dev/run-for: '40'", 1))
    job.tick()
    job.world.advance(3)
    job.release(JOB % ("standin.dev/run-for: '1'", 2))
    report = job.hold(3)
    assert report.plan is not None
    assert "has not ended: 1 pod runs" in reasons(report.plan, "replace Job default/migrate")
    assert "replace Job default/migrate" in job.run()


STATEFUL = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: default}
spec:
  replicas: 2
  serviceName: %(service)s
  podManagementPolicy: %(policy)s
  selector: {matchLabels: {%(labels)s}}
  template:
    metadata: {labels: {%(labels)s}, annotations: {standin.dev/ready-after: '1'}}
    spec:
      containers: [{name: db, image: "standin/http:1", ports: [{containerPort: 8080}]}]
  volumeClaimTemplates:
  - metadata: {name: %(claim)s}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: %(size)s}}}
---
apiVersion: v1
kind: Service
metadata: {name: db, namespace: default}
spec: {selector: {%(labels)s}, ports: [{port: 80, targetPort: 8080}]}
"""
WAS = {"service": "db", "policy": "OrderedReady", "labels": "app: db", "claim": "data", "size": "1Gi"}
STEP = "replace StatefulSet default/db"


def uids(job: Job, kind: str) -> set[str]:
    return {b["metadata"]["uid"] for key, b in job.world.world.objects().items() if key.kind == kind}


@pytest.mark.parametrize("change", [{"size": "2Gi"}, {"policy": "Parallel"}], ids=str)
def test_a_statefulset_is_made_anew_around_its_pods(change: dict[str, str]) -> None:
    judged = Judged((STATEFUL % WAS,), (STATEFUL % {**WAS, **change},))
    pods, claims = uids(judged.job, "Pod"), uids(judged.job, "PersistentVolumeClaim")
    assert STEP in judged.run()
    assert uids(judged.job, "Pod") == pods
    assert uids(judged.job, "PersistentVolumeClaim") == claims


CHANGES = [{"service": "other"}, {"claim": "store"}, {"labels": "app: db, tier: back"}]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_what_stops_every_pod_of_a_statefulset_waits_for_a_person(change: dict[str, str]) -> None:
    judged = Judged((STATEFUL % WAS,), (STATEFUL % {**WAS, **change},))
    before = uids(judged.job, "Pod")
    report = judged.job.hold(5)
    assert report.plan is not None
    assert "not without downtime" in reasons(report.plan, STEP)
    assert uids(judged.job, "Pod") == before


def test_a_person_lets_it_be_deleted_with_its_pods_and_made_anew() -> None:
    job = Job(allow_downtime=frozenset({"StatefulSet default/db"}))
    job.release(STATEFUL % WAS)
    job.run()
    before = uids(job, "Pod")
    job.release(STATEFUL % {**WAS, "labels": "app: db, tier: back"})
    written = job.run()
    assert written.index(STEP) < written.index("create StatefulSet default/db")
    assert not before & uids(job, "Pod")


CLASS = """\
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: disks.example.com
parameters: {type: %s}
"""
FIXED = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: fixed, namespace: default}
immutable: true
data: {colour: %s}
"""
TYPED = """\
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: default}
type: %s
data: {"tls.crt": "", "tls.key": ""}
"""
ADDRESS = """\
apiVersion: v1
kind: Service
metadata: {name: quiet, namespace: default}
spec: {clusterIP: %s, selector: {app: quiet}, ports: [{port: 80}]}
"""


def test_a_storage_class_is_made_anew_since_nothing_that_runs_needs_it() -> None:
    job = Job()
    job.release(CLASS % "slow")
    job.run()
    job.release(CLASS % "quick")
    assert "replace StorageClass fast" in job.run()
    live = job.get("StorageClass.storage.k8s.io", "fast")
    assert live is not None
    assert live["parameters"] == {"type": "quick"}


@pytest.mark.parametrize(
    ("text", "before", "after", "key"),
    [
        (FIXED, "red", "blue", "ConfigMap default/fixed"),
        (TYPED, "kubernetes.io/tls", "Opaque", "Secret default/key"),
        (ADDRESS, "None", "10.96.4.4", "Service default/quiet"),
    ],
    ids=["immutable ConfigMap", "Secret type", "headless Service"],
)
def test_what_others_may_hold_on_to_waits_for_a_new_name_or_a_person(
    text: str, before: str, after: str, key: str
) -> None:
    job = Job()
    job.release(text % before)
    job.run()
    job.release(text % after)
    report = job.hold(3)
    assert report.plan is not None
    assert report.outcomes == ()
    said = reasons(report.plan, f"replace {key}")
    assert "give it a new name in Git" in said
    assert f"allow_downtime: [{key}]" in said
    allowed = Job(allow_downtime=frozenset({key}))
    allowed.release(text % before)
    allowed.run()
    allowed.release(text % after)
    assert f"replace {key}" in allowed.run()


def test_what_the_set_did_not_make_is_not_deleted() -> None:
    job = Job()
    metadata = {"name": "fixed", "namespace": "default"}
    job.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "immutable": True, "data": {}})
    job.release(FIXED % "blue")
    report = job.hold(3)
    assert report.plan is not None
    assert "does not delete it" in reasons(report.plan, "replace ConfigMap default/fixed")


def test_a_deployment_that_becomes_a_statefulset_of_its_name_stays_until_that_serves() -> None:
    old = labelled("app: db").replace("name: web", "name: db").replace("front", "default")
    judged = Judged((old,), (STATEFUL % WAS,))
    written = judged.run()
    left = "delete Deployment default/db"
    assert written.index("create StatefulSet default/db") < written.index(left)


def test_every_row_says_what_is_done_and_what_it_costs() -> None:
    rows = POLICY.tables.replacements
    assert {row.way for row in rows} == set(Way) - {Way.HOLD}
    assert [row.kind for row in rows if not (row.says and row.costs)] == []


DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: %s
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""


def test_a_definition_is_made_anew_only_while_it_has_no_objects() -> None:
    job = Job()
    job.release(DEFINITION % "Namespaced")
    job.run()
    thing = {"apiVersion": "example.com/v1", "kind": "Thing"}
    job.apply({**thing, "metadata": {"name": "one", "namespace": "default"}})
    job.release(DEFINITION % "Cluster")
    report = job.hold(3)
    assert report.plan is not None
    said = reasons(report.plan, "replace CustomResourceDefinition things.example.com")
    assert "1 of Thing.example.com would be deleted" in said
    live = job.get("Thing.example.com", "default/one")
    assert live is not None
    resource = next(r for kind, r in job.world.discover().resources.items() if kind.kind == "Thing")
    job.world.delete(resource, id_of(live), uid=live["metadata"]["uid"], resource_version="")
    job.run()
    assert job.world.discover().resources[resource.kind].is_namespaced is False


RIGHTS = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: %(kind)s
metadata: {name: api, %(where)s}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: %(kind)sBinding
metadata: {name: api, %(where)s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: %(kind)s, name: api}
subjects: [{kind: ServiceAccount, name: api, namespace: old}]
"""


def test_a_cluster_role_that_becomes_a_role_stays_until_no_old_pod_needs_it() -> None:
    wide = RIGHTS % {"kind": "ClusterRole", "where": ""}
    narrow = RIGHTS % {"kind": "Role", "where": "namespace: old"}
    newer = server("old").replace("standin/http:1", "standin/http:2")
    judged = Judged((namespace("old"), server("old"), wide), (namespace("old"), newer, narrow))
    written = judged.run()
    gone = written.index("delete ClusterRoleBinding api")
    assert written.index("create RoleBinding old/api") < written.index("update Deployment old/api") < gone
