"""What the server refuses, and how: in place, as it stands, or because something is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent.core.model import Body, GroupKind, ObjectId
from agent.errors import Invalid, NotFound, NotServed
from agent.shell.cluster import Resource
from tests.contract.bench import Bench, binding, config_map, crd, deployment, named, namespace, service
from tests.rig.pki import Authority

UNKNOWN = Resource(
    GroupKind("example.dev", "Nothing"), ("v1",), "nothings", is_namespaced=True, verbs=frozenset()
)


def stateful_set(size: str) -> Body:
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}},
    }
    spec = {**deployment()["spec"], "serviceName": "web", "volumeClaimTemplates": [claim], "replicas": 0}
    return named("apps/v1", "StatefulSet", "web", "shop", spec=spec)


def job(version: str) -> Body:
    template = deployment(version=version)["spec"]["template"]
    template["spec"]["restartPolicy"] = "Never"
    return named("batch/v1", "Job", "once", "shop", spec={"suspend": True, "template": template})


def locked(value: str) -> Body:
    return {**config_map(a=value), "immutable": True}


def headless() -> Body:
    body = service()
    body["spec"]["clusterIP"] = "None"
    return body


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (binding("ann"), binding("ann", role="edit")),
        (deployment(app="web"), deployment(app="other")),
        (service(), headless()),
        (stateful_set("1Gi"), stateful_set("2Gi")),
        (job("v1"), job("v2")),
        (locked("1"), locked("2")),
    ],
    ids=["roleRef", "Deployment selector", "clusterIP", "claim templates", "Job template", "ConfigMap"],
)
def test_a_change_that_is_refused_in_place_says_so(bench: Bench, before: Body, after: Body) -> None:
    made = bench.apply(before)
    for attempt in (bench.dry_run, bench.apply):
        with pytest.raises(Invalid) as caught:
            attempt(after)
        assert caught.value.is_immutable
    assert bench.must(before)["metadata"]["uid"] == made["metadata"]["uid"]


def with_spec(body: Body, **spec: Any) -> Body:
    return {**body, "spec": {**body["spec"], **spec}}


@pytest.mark.parametrize(
    "body",
    [
        config_map("Not_A_Name"),
        with_spec(deployment(), selector={"matchLabels": {"app": "other"}}),
        with_spec(deployment(), replicas="two"),
        with_spec(deployment(), unheardOf=True),
        with_spec(service(), ports=[]),
    ],
    ids=["name", "selector does not match", "type", "unknown field", "no ports"],
)
def test_an_object_that_is_wrong_in_itself_is_invalid_and_not_immutable(bench: Bench, body: Body) -> None:
    with pytest.raises(Invalid) as caught:
        bench.apply(body)
    assert not caught.value.is_immutable


def test_a_conversion_of_which_only_another_managers_bundle_is_left_is_refused(bench: Bench) -> None:
    """CustomResourceDefinition: an apply takes out what is its own, and the strategy with it."""
    client = {"service": {"namespace": "shop", "name": "convert"}}
    hook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
    bench.apply(with_spec(crd(), conversion={"strategy": "Webhook", "webhook": hook}))
    bundle = {
        "webhook": {
            "clientConfig": {"caBundle": Authority.create("contract").bundle},
            "conversionReviewVersions": ["v1"],
        }
    }
    bench.apply({**crd(), "spec": {"conversion": bundle}}, manager="injector")
    with pytest.raises(Invalid, match=r"spec\.conversion\.strategy"):
        bench.dry_run(crd())
    whole = bench.must(crd())
    spec = {key: value for key, value in whole["spec"].items() if key != "conversion"}
    bench.cluster.replace(bench.of(crd()), {**whole, "spec": spec})
    assert bench.apply(crd())["spec"]["conversion"] == {"strategy": "None"}


@pytest.mark.parametrize("verb", ["apply", "dry_run"])
def test_a_missing_namespace_is_not_found(bench: Bench, verb: str) -> None:
    body = named("v1", "ConfigMap", "web", "nowhere")
    with pytest.raises(NotFound, match="nowhere"):
        getattr(bench, verb)(body)
    with pytest.raises(NotFound, match="nowhere"):
        bench.cluster.create(bench.resource("", "ConfigMap"), body)


REQUESTS: dict[str, Callable[[Bench], Any]] = {
    "list": lambda bench: bench.cluster.list(UNKNOWN),
    "list_metadata": lambda bench: bench.cluster.list_metadata(UNKNOWN),
    "get": lambda bench: bench.cluster.get(UNKNOWN, ObjectId("example.dev", "Nothing", "shop", "x")),
    "apply": lambda bench: bench.cluster.apply(
        UNKNOWN, named("example.dev/v1", "Nothing", "x", "shop"), manager="m"
    ),
}


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_a_kind_that_is_not_served_is_told_from_an_object_that_is_missing(
    bench: Bench, request_: Callable[[Bench], Any]
) -> None:
    with pytest.raises(NotServed):
        request_(bench)
    assert bench.live(config_map("missing")) is None
    assert bench.live(namespace("missing")) is None


def test_an_error_says_what_was_being_done_to_what(bench: Bench) -> None:
    bench.apply(deployment(app="web"))
    with pytest.raises(Invalid, match="Deployment shop/web"):
        bench.apply(deployment(app="other"))
