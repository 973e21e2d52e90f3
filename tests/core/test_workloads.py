"""Whose template a pod is of, by its owners."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.model import Body, Live, LiveObject
from agent.core.policy import id_of
from agent.core.workloads import Workloads
from tests.core.histories import ROUTES, obj


def template(account: str, **labels: str) -> Body:
    spec = {"serviceAccountName": account, "containers": [{"name": "c", "image": "x"}]}
    return {"metadata": {"labels": labels}, "spec": spec}


def owned(owner: Body, api: str, kind: str, name: str, **rest: Any) -> Body:
    reference = {"uid": owner["metadata"]["uid"], "controller": True, "kind": owner["kind"]}
    return obj(api, kind, name, "shop", meta={"ownerReferences": [reference]}, **rest)


def workloads(*bodies: Body) -> Workloads:
    return Workloads(Live({id_of(body): LiveObject(id_of(body), body) for body in bodies}), ROUTES.policy)


@pytest.mark.parametrize(("account", "is_current"), [("new", True), ("old", False)])
def test_pods_of_a_job_that_its_cron_job_made_before_the_template_changed_are_old(
    account: str, *, is_current: bool
) -> None:
    """They work under the old account to their end, whatever the CronJob says now."""
    nightly = obj("batch/v1", "CronJob", "nightly", "shop")
    nightly["spec"] = {"jobTemplate": {"spec": {"template": template("new")}}}
    job = owned(
        nightly, "batch/v1", "Job", "nightly-1", spec={"template": template(account, **{"job-name": "x"})}
    )
    pod = owned(job, "v1", "Pod", "nightly-1-x", spec=template(account)["spec"], status={"phase": "Running"})
    index = workloads(nightly, job, pod)
    live = index.running[0]
    assert index.root(live).id.kind == "CronJob"
    assert index.is_of_current_template(live) is is_current


def test_owners_in_a_circle_end_the_chain() -> None:
    """Anybody may write such references: they must not stop the agent."""
    one = obj("v1", "Pod", "one", "shop")
    two = owned(one, "v1", "Pod", "two")
    one = owned(two, "v1", "Pod", "one")
    index = workloads(one, two)
    assert {index.root(pod).id.name for pod in index.running} == {"one", "two"}
