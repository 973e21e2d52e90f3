"""A CA bundle that Git no longer names: it stays for as long as nobody else has put one in."""

from __future__ import annotations

import json
from typing import Any

from tests.incidents.bodies import deployment, injected_bundle, namespace, service, webhook
from tests.shell.job import Job

APP = {"app": "hook"}
BACKEND = (namespace("mesh"), service("mesh/hook", APP), deployment("mesh/hook", APP))
HOOK = ("ValidatingWebhookConfiguration.admissionregistration.k8s.io", "inject")
WITH = webhook("inject", "mesh/hook", "endpoints")
WITHOUT = webhook("inject", "mesh/hook", "endpoints", bundle="", timeoutSeconds=5)


def bundle(job: Job) -> Any:
    body = job.get(*HOOK)
    assert body is not None
    return body["webhooks"][0]["clientConfig"].get("caBundle")


def test_a_bundle_that_only_we_hold_is_not_taken_away() -> None:
    job = Job()
    job.release(*BACKEND, WITH)
    job.run()
    job.release(*BACKEND, WITHOUT)
    assert job.run() == ["update ValidatingWebhookConfiguration inject"]
    assert bundle(job) == "Q0E="
    assert not job.plan().changes


def test_a_bundle_that_somebody_else_holds_too_is_left_to_them() -> None:
    job = Job()
    job.release(*BACKEND, WITH)
    job.run()
    job.apply(json.loads(injected_bundle("inject")), manager="ca-injector")
    job.release(*BACKEND, WITHOUT)
    job.run()
    assert bundle(job) == "Q0E="
    body = job.get(*HOOK)
    assert body is not None
    ours = next(m for m in body["metadata"]["managedFields"] if m["manager"] == "trapeze/shop")
    assert "f:caBundle" not in json.dumps(ours)


def test_a_bundle_goes_with_the_webhook_that_has_it() -> None:
    job = Job()
    job.release(*BACKEND, WITH)
    job.run()
    other = json.loads(WITHOUT)
    other["webhooks"][0]["name"] = "renamed.example.org"
    job.release(*BACKEND, json.dumps(other))
    job.run()
    body = job.get(*HOOK)
    assert body is not None
    assert [hook["name"] for hook in body["webhooks"]] == ["renamed.example.org"]
