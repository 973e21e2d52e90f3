"""Three-way, server's word and two-way: one file a trap in cases/diff."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from agent.core.diff import by_server, three_way, two_way
from agent.core.model import FieldChange, Reason
from tests.core.casefiles import case, live_object, manifest, names, shipped


def told(changes: tuple[FieldChange, ...]) -> list[str]:
    return [str(change) for change in changes]


@pytest.mark.parametrize("name", names("diff"))
def test_desired_live_applied(name: str) -> None:
    given = case("diff", name)
    before = copy.deepcopy(given)
    changes = three_way(
        manifest(given["desired"]),
        live_object(given["live"]),
        given["applied"],
        shipped(),
        given.get("manager", "trapeze/none"),
    )
    assert told(changes) == given["changes"]
    assert given == before, "bodies are shared and never changed in place"


@pytest.mark.parametrize("name", names("diff"))
def test_desired_equals_itself(name: str) -> None:
    body = case("diff", name)["desired"]
    assert three_way(manifest(body), live_object(body), [body], shipped(), "trapeze/none") == ()
    assert two_way(body, copy.deepcopy(body), shipped()) == ()


def config(**data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "n"},
        "data": data,
    }


def test_server_answers_equal_to_live_no_change() -> None:
    live = config(a="1", hand="made")
    answer = copy.deepcopy(live)
    answer["metadata"].update(
        resourceVersion="9", managedFields=[{"manager": "x"}], labels={"trapeze.dev/set": "s"}
    )
    wanted = config(a="1")
    assert by_server(answer, live_object(live), manifest(wanted), [wanted], shipped()) == ()


def test_server_answers_otherwise_with_the_reasons_of_git_and_applied() -> None:
    applied, wanted = config(git="1", drift="1", gone="1"), config(git="2", drift="1")
    live, answer = config(git="1", drift="9", gone="1"), config(git="2", drift="1", admission="x")
    changes = by_server(answer, live_object(live), manifest(wanted), [applied], shipped())
    assert {change.path[-1]: change.reason for change in changes} == {
        "admission": Reason.GIT,
        "drift": Reason.DRIFT,
        "git": Reason.GIT,
        "gone": Reason.GIT,
    }


def test_two_revisions_every_difference_with_reason_git() -> None:
    assert told(two_way(config(a="1", b="1"), config(a="2", c="1"), shipped())) == [
        "data.a: '1' -> '2' (git)",
        "data.b: '1' -> ABSENT (git)",
        "data.c: ABSENT -> '1' (git)",
    ]


def test_two_revisions_one_spells_out_a_default_no_change() -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "a"},
        "spec": {"ports": [{"port": 1}]},
    }
    spelled = copy.deepcopy(service)
    spelled["spec"] = {"ports": [{"port": 1, "protocol": "TCP", "targetPort": 1}], "type": "ClusterIP"}
    assert two_way(service, spelled, shipped()) == ()
    assert two_way(spelled, service, shipped()) == ()


def test_field_that_the_server_writes_twice_told_once() -> None:
    def workload(**spec: str) -> dict[str, Any]:
        body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "n"}}
        return {**body, "spec": {"template": {"spec": spec}}}

    applied, wanted = workload(serviceAccountName="old"), workload(serviceAccountName="new")
    live = workload(serviceAccountName="old", serviceAccount="old")
    answer = workload(serviceAccountName="new", serviceAccount="new")
    changes = by_server(answer, live_object(live), manifest(wanted), [applied], shipped())
    assert told(changes) == ["spec.template.spec.serviceAccountName: 'old' -> 'new' (git)"]


def test_a_field_that_the_server_writes_twice_is_told_as_it_comes_and_as_it_goes() -> None:
    def workload(**spec: str) -> dict[str, Any]:
        body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "n"}}
        return {**body, "spec": {"template": {"spec": {"nodeName": "n", **spec}}}}

    none, named, both = (
        workload(),
        workload(serviceAccountName="a"),
        workload(serviceAccountName="a", serviceAccount="a"),
    )
    path = "spec.template.spec.serviceAccountName"
    comes = by_server(both, live_object(none), manifest(named), [none], shipped())
    assert told(comes) == [f"{path}: ABSENT -> 'a' (git)"]
    goes = by_server(none, live_object(both), manifest(none), [named], shipped())
    assert told(goes) == [f"{path}: 'a' -> ABSENT (git)"]
    assert by_server(both, live_object(both), manifest(none), [none], shipped()) == ()
    assert two_way(named, both, shipped()) == two_way(both, named, shipped()) == ()


def test_default_that_goes_with_the_field_that_brought_it_is_not_told() -> None:
    def service(**spec: Any) -> dict[str, Any]:
        return {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "a", "namespace": "n"},
            "spec": spec,
        }

    applied, wanted = service(sessionAffinity="ClientIP"), service()
    live = service(sessionAffinity="ClientIP", sessionAffinityConfig={"clientIP": {"timeoutSeconds": 10800}})
    answer = service(sessionAffinity="None")
    changes = by_server(answer, live_object(live), manifest(wanted), [applied], shipped())
    assert told(changes) == ["spec.sessionAffinity: 'ClientIP' -> 'None' (git)"]


def test_what_the_server_makes_of_a_change_in_git_has_its_reason() -> None:
    """A Service that becomes a NodePort gets a port that nobody wrote: no drift of anybody."""

    def service(**spec: Any) -> dict[str, Any]:
        metadata = {"name": "a", "namespace": "n"}
        return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}

    applied, wanted = service(type="ClusterIP"), service(type="NodePort")
    answer = service(type="NodePort", externalTrafficPolicy="Local", publishNotReadyAddresses=True)
    changes = by_server(answer, live_object(applied), manifest(wanted), [applied], shipped())
    assert {change.reason for change in changes} == {Reason.GIT}
    assert len(changes) == 3
    changes = by_server(answer, live_object(applied), manifest(wanted), [wanted], shipped())
    assert {change.reason for change in changes} == {Reason.DRIFT}


def test_what_the_server_drops_with_a_change_in_git_has_its_reason() -> None:
    """A Service that is no load balancer any more loses the policy that Git still has: no drift."""

    def service(**spec: Any) -> dict[str, Any]:
        metadata = {"name": "a", "namespace": "n"}
        return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}

    applied = service(type="LoadBalancer", externalTrafficPolicy="Local")
    wanted = service(type="ClusterIP", externalTrafficPolicy="Local")
    changes = by_server(
        service(type="ClusterIP"), live_object(applied), manifest(wanted), [applied], shipped()
    )
    assert told(changes) == [
        "spec.externalTrafficPolicy: 'Local' -> ABSENT (git)",
        "spec.type: 'LoadBalancer' -> 'ClusterIP' (git)",
    ]


def test_rules_that_a_role_gathered_and_keeps_are_no_change() -> None:
    def role(*, has_rules: bool = True, **more: Any) -> dict[str, Any]:
        body = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "a"},
        }
        gathered = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
        return body | more | ({"rules": gathered} if has_rules else {})

    gathers: dict[str, Any] = {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}}
    applied, wanted = role(has_rules=False, **gathers), role(has_rules=False)
    changes = by_server(role(), live_object(role(**gathers)), manifest(wanted), [applied], shipped())
    assert [change.path for change in changes] == [("aggregationRule",)]


@pytest.mark.parametrize(("base", "reason"), [("ab", Reason.GIT), ("ba", Reason.DRIFT)])
def test_server_answers_in_another_order(base: str, reason: Reason) -> None:
    """Issue 4, cases/27: initContainers in another order ended the plan with an error."""

    def workload(names: str) -> dict[str, Any]:
        containers = [{"name": name, "image": "i"} for name in names]
        spec = {"template": {"spec": {"initContainers": containers}}}
        metadata = {"name": "a", "namespace": "n"}
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}

    live, wanted = workload("ab"), workload("ba")
    (change,) = by_server(wanted, live_object(live), manifest(wanted), [workload(base)], shipped())
    assert (change.reason, change.after) == (reason, [["b"], ["a"]])
