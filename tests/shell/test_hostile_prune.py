"""Removals that would take along what is wanted or foreign, and removals that wait for each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from agent.core.yamlread import read_documents
from agent.errors import Forbidden
from tests.shell.faults import Call, Hooked
from tests.shell.job import Job, reasons
from tests.shell.judged import Judged
from tests.shell.releases import ingress, namespace, web

FRONT = namespace("front")


def test_a_namespace_that_left_git_alone_is_kept_while_wanted_objects_stand_in_it() -> None:
    job = Job(allow=frozenset({"Namespace"}))
    job.release(FRONT, web("blue"))
    job.run()
    job.release(web("blue"))
    job.hold()
    assert "Deployment front/blue is there" in reasons(job.plan(), "delete Namespace front")
    assert job.get("Deployment.apps", "front/blue") is not None


def test_a_namespace_is_kept_while_something_made_anew_under_our_label_stands_in_it() -> None:
    job = Job(allow=frozenset({"Namespace"}))
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"by": "an operator"}}
    job.release(FRONT, web("blue"))
    job.run()
    labels = {"trapeze.dev/set": "shop"}
    job.apply({**settings, "metadata": {"name": "theirs", "namespace": "front", "labels": labels}})
    job.release(namespace("other"))
    job.hold(40)
    assert "ConfigMap front/theirs is there" in reasons(job.plan(), "delete Namespace front")
    assert job.get("ConfigMap", "front/theirs") is not None


STATEFUL = """\
apiVersion: v1
kind: Service
metadata: {name: %(name)s, namespace: front}
spec: {clusterIP: None, selector: {app: %(name)s}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: %(name)s, namespace: front}
spec:
  serviceName: %(name)s
  replicas: 2
  selector: {matchLabels: {app: %(name)s}}
  template:
    metadata: {labels: {app: %(name)s}}
    spec: {containers: [{name: c, image: "standin/http:1"}]}
"""


def test_a_stateful_set_and_the_service_that_it_names_do_not_wait_for_each_other() -> None:
    written = Judged((FRONT, STATEFUL % {"name": "a"}), (FRONT, STATEFUL % {"name": "b"})).run()
    assert written[-2:] == ["delete StatefulSet front/a", "delete Service front/a"]


def test_a_stateful_set_stays_while_a_pointer_of_somebody_else_leads_to_its_service() -> None:
    judged = Judged((FRONT, STATEFUL % {"name": "a"}), (FRONT, STATEFUL % {"name": "b"}))
    judged.job.apply(next(iter(read_documents(ingress("front/a").encode(), "x").documents)).body)
    judged.job.hold(40)
    assert "Ingress front/front through Service front/a" in reasons(
        judged.job.plan(), "delete StatefulSet front/a"
    )


POD = """\
apiVersion: v1
kind: Service
metadata: {name: web, namespace: front}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: front, labels: {app: web}}
spec: {containers: [{name: c, image: "standin/http:1"}]}
"""


def test_a_bare_pod_takes_over_from_another_behind_the_same_service() -> None:
    written = Judged((FRONT, POD % "one"), (FRONT, POD % "two")).run()
    assert written == ["create Pod front/two", "delete Pod front/one"]


def test_a_source_without_an_object_prunes_nothing_until_the_set_says_so() -> None:
    job = Job(allow=frozenset({"Namespace"}))
    job.release(FRONT, web("blue"))
    job.run()
    job.release("# all of it was moved to another folder")
    job.hold(5)
    assert "has 0 objects" in reasons(job.plan(), "delete Service front/blue")
    job.rules = replace(job.rules, allow=frozenset({"Namespace", "*"}))
    job.restart()
    assert job.run()[-1] == "delete Namespace front"


@pytest.mark.parametrize("kind", ["Ingress.networking.k8s.io", "RoleBinding.rbac.authorization.k8s.io"])
def test_what_could_be_used_by_a_kind_that_cannot_be_read_stays(kind: str) -> None:
    named, _, group = kind.partition(".")

    def hook(call: Call, do: Callable[[], Any]) -> Any:
        if call.method == "list" and call.kind == (group, named):
            raise Forbidden("not yours to read")
        return do()

    job = Job(wrap=lambda cluster: Hooked(cluster, hook), allow=frozenset({"Namespace"}))
    role = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: front}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
"""
    job.release(FRONT, web("blue"), role)
    job.run()
    job.release(FRONT, web("green"))
    job.hold(30)
    key = {"Ingress": "delete Service front/blue", "RoleBinding": "delete Role front/reader"}[named]
    assert "not yours to read" in reasons(job.plan(), key)
