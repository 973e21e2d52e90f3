"""Who still uses a right or an object: pods until they are gone, and workloads that can start one."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.idle import (
    is_desired_pod,
    old_pods_using,
    services_selecting,
    users_by_name,
    users_of_account,
    users_of_role,
    users_of_subject,
)
from agent.core.model import Body, LiveObject, ObjectId
from agent.core.policy import id_of
from tests.core.histories import account, binding, cluster_role, deleting, obj
from tests.core.scenes import app, pod_of, running, scene, workload


def under(owner: Body, name: str, who: str = "old", **rest: Any) -> Body:
    """A pod of the workload under a ServiceAccount."""
    body = pod_of(owner, name, **rest)
    return {**body, "spec": {**body["spec"], "serviceAccountName": who}}


def of_account(*live: Body) -> list[str]:
    return list(users_of_account(scene("", app("green"), *live), "shop", "old"))


STRANGER = workload("stranger")


@pytest.mark.parametrize(
    ("live", "expected"),
    [
        ((under(STRANGER, "a"),), ["pod a (running)"]),
        ((deleting(under(STRANGER, "a")),), ["pod a (terminating)"]),
        ((under(STRANGER, "a", who="new"),), []),
        ((under(STRANGER, "a", status={"phase": "Succeeded"}),), []),
        ((under(STRANGER, "a", status={"phase": "Failed"}),), []),
        ((under(STRANGER, "a", status={"phase": "Pending"}),), ["pod a (running)"]),
        ((workload("green"), under(workload("green"), "a")), []),
        ((workload("green"), deleting(under(workload("green"), "a"))), ["pod a (terminating)"]),
    ],
)
def test_pods_count_until_they_are_gone_unless_they_are_desired(
    live: tuple[Body, ...], expected: list[str]
) -> None:
    assert of_account(*live) == expected


def cron(who: str) -> Body:
    pod = {"spec": {"serviceAccountName": who, "containers": []}}
    return obj("batch/v1", "CronJob", "nightly", "shop", spec={"jobTemplate": {"spec": {"template": pod}}})


def test_what_can_start_a_pod_at_any_time_counts_too() -> None:
    assert of_account(cron("old")) == ["CronJob shop/nightly"]
    assert of_account(cron("new")) == []
    none = workload("asleep", replicas=0)
    none["spec"]["template"]["spec"]["serviceAccountName"] = "old"
    assert of_account(none) == ["Deployment shop/asleep"]


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ({"kind": "ServiceAccount", "name": "old", "namespace": "shop"}, ["pod a (running)"]),
        ({"kind": "ServiceAccount", "name": "old"}, ["pod a (running)"]),
        ({"kind": "ServiceAccount", "name": "old", "namespace": "elsewhere"}, []),
        ({"kind": "User", "name": "system:serviceaccount:shop:old"}, ["pod a (running)"]),
        ({"kind": "Group", "name": "system:serviceaccounts:shop"}, ["pod a (running)"]),
        ({"kind": "Group", "name": "system:serviceaccounts:elsewhere"}, []),
        ({"kind": "User", "name": "kim"}, ["User kim (leaves no trace)"]),
        ({"kind": "Group", "name": "admins"}, ["Group admins (leaves no trace)"]),
    ],
)
def test_subjects_by_their_kind(subject: Body, expected: list[str]) -> None:
    situation = scene("", "", under(STRANGER, "a"))
    assert list(users_of_subject(situation, subject, "shop")) == expected


def test_a_role_is_used_through_every_binding() -> None:
    role = id_of(cluster_role("reader", "get"))
    live = (cluster_role("reader", "get"), binding("reads", "reader", account("old")), under(STRANGER, "a"))
    assert list(users_of_role(scene("", "", *live), role)) == ["pod a (running)"]
    assert list(users_of_role(scene("", "", cluster_role("reader", "get")), role)) == []


SETTINGS = ObjectId("", "ConfigMap", "shop", "settings")


def mounting(owner: Body, name: str) -> Body:
    body = pod_of(owner, name)
    return {**body, "spec": {"volumes": [{"name": "v", "configMap": {"name": "settings"}}]}}


def test_old_pods_that_name_an_object_are_told_and_new_ones_are_not() -> None:
    live = (workload("green"), mounting(workload("green"), "new"), mounting(STRANGER, "old"))
    situation = scene("", app("green"), *live)
    assert list(old_pods_using(situation, SETTINGS)) == ["pod old"]
    assert sorted(users_by_name(situation, SETTINGS)) == ["Pod shop/new", "Pod shop/old"]


def test_a_pod_is_desired_by_its_workloads_template() -> None:
    situation = scene("", app("green"), workload("green"), STRANGER)
    for owner, expected in ((workload("green"), True), (STRANGER, False)):
        body = pod_of(owner, "a")
        assert is_desired_pod(situation, LiveObject(id_of(body), body)) is expected


def test_services_are_found_by_the_labels_of_the_template() -> None:
    situation = scene("", "", *running("green"), *running("blue"))
    found = services_selecting(situation, situation.live.objects[id_of(workload("green"))])
    assert [service.id.name for service in found] == ["green"]
