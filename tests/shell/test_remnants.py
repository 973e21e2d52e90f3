"""A part that Git takes out whole, in which somebody else has put something."""

from __future__ import annotations

import json

from tests.incidents.bodies import crd, deployment, namespace, service
from tests.shell.job import Job

APP = {"app": "convert"}
BACKEND = (namespace("lib"), service("lib/convert", APP), deployment("lib/convert", APP))
KIND = ("CustomResourceDefinition.apiextensions.k8s.io", "books.library.example")


def injected(job: Job) -> None:
    """What a CA injector writes of the conversion."""
    body = json.loads(crd("Book", "v1 v2", convert="lib/convert"))
    client = {"clientConfig": {"caBundle": "Q0E="}, "conversionReviewVersions": ["v1"]}
    job.apply({**body, "spec": {"conversion": {"webhook": client}}}, manager="ca-injector")


def test_a_conversion_goes_though_an_injector_has_a_bundle_in_it() -> None:
    job = Job()
    job.release(*BACKEND, crd("Book", "v1 v2", convert="lib/convert"))
    job.run()
    injected(job)
    job.release(*BACKEND, crd("Book", "v1 v2"))
    assert job.run() == ["narrow CustomResourceDefinition books.library.example"]
    body = job.get(*KIND)
    assert body is not None
    assert body["spec"]["conversion"] == {"strategy": "None"}
    assert not job.plan().changes


def test_and_comes_again_though_taking_it_out_wrote_a_field_of_ours() -> None:
    job = Job()
    job.release(*BACKEND, crd("Book", "v1 v2", convert="lib/convert"))
    job.run()
    injected(job)
    job.release(*BACKEND, crd("Book", "v1 v2"))
    job.run()
    job.release(*BACKEND, crd("Book", "v1 v2", convert="lib/convert"))
    job.run()
    body = job.get(*KIND)
    assert body is not None
    assert body["spec"]["conversion"]["strategy"] == "Webhook"
    assert not job.plan().changes
