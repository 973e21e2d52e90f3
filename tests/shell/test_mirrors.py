"""A ServiceAccount that a workload lets go of: the server keeps it under a second name."""

from __future__ import annotations

import json

from tests.incidents.bodies import account, deployment, namespace
from tests.shell.job import Job

APP = {"app": "cache"}
WITH = deployment("shop/cache", APP, account_name="cache")
WEB = ("Deployment.apps", "shop/cache")


def without() -> str:
    body = json.loads(WITH)
    del body["spec"]["template"]["spec"]["serviceAccountName"]
    return json.dumps(body)


def test_pods_run_under_the_default_account_again_and_the_account_goes_after_them() -> None:
    job = Job()
    job.release(namespace("shop"), account("shop/cache"), WITH)
    job.run()
    job.release(namespace("shop"), without())
    written = job.run()
    assert written == ["update Deployment shop/cache", "delete ServiceAccount shop/cache"]
    body = job.get(*WEB)
    assert body is not None
    assert not {"serviceAccount", "serviceAccountName"} & body["spec"]["template"]["spec"].keys()
    assert not job.plan().changes
    job.release(namespace("shop"), account("shop/cache"), WITH)
    assert job.run() == ["create ServiceAccount shop/cache", "update Deployment shop/cache"]


def test_an_account_that_somebody_else_gave_is_theirs() -> None:
    job = Job()
    job.release(namespace("shop"), account("shop/cache"), without())
    job.run()
    body = json.loads(WITH)
    spec = {"template": {"spec": {"serviceAccountName": "cache"}}}
    job.apply({**body, "spec": spec}, manager="somebody")
    assert not job.plan().changes
