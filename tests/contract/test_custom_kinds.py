"""Kinds of CustomResourceDefinitions: when they are served, what they keep, how they go."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.model import Body
from agent.errors import ClusterError, Invalid, NotServed
from tests.contract.bench import Bench, condition, crd, named
from tests.contract.looks import refusal, stays

PROPERTIES = {
    "size": {"type": "integer", "minimum": 1},
    "color": {"type": "string", "default": "red"},
    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
}


def schema(**properties: Any) -> Body:
    spec = {"type": "object", "properties": properties}
    return {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}


def kind(*versions: Body, **spec: Any) -> Body:
    body = crd()
    body["spec"] |= spec
    body["spec"]["versions"] = list(versions) or [version()]
    return body


def version(name: str = "v1", *, storage: bool = True, served: bool = True, **rest: Any) -> Body:
    return {"name": name, "served": served, "storage": storage, "schema": schema(**PROPERTIES), **rest}


def gadget(name: str = "one", *, api: str = "v1", where: str = "shop", **spec: Any) -> Body:
    return named(f"example.dev/{api}", "Gadget", name, where, spec=spec)


def establish(bench: Bench, body: Body) -> None:
    bench.apply(body)
    bench.until("established", lambda: condition(bench.must(body), "Established") == "True")
    paths = [f"/apis/example.dev/{row['name']}/gadgets" for row in body["spec"]["versions"] if row["served"]]
    bench.until("served", lambda: all(bench.cluster.read(path) == 200 for path in paths))
    bench.known.clear()


def test_fields_that_the_schema_does_not_know_are_refused_by_apply(bench: Bench) -> None:
    establish(bench, kind())
    assert isinstance(refusal(lambda: bench.apply(gadget(size=1, unheard=True))), ClusterError)
    assert bench.live(gadget()) is None


def test_fields_that_the_schema_does_not_know_are_pruned_from_a_create(bench: Bench) -> None:
    establish(bench, kind())
    body = gadget(size=1, unheard=True, free={"any": "thing"})
    made = bench.cluster.create(bench.of(body), body)
    assert made["spec"] == {"size": 1, "color": "red", "free": {"any": "thing"}}


def test_defaults_of_the_schema_are_filled_in(bench: Bench) -> None:
    establish(bench, kind())
    assert bench.apply(gadget(size=1))["spec"] == {"size": 1, "color": "red"}
    assert bench.apply(gadget(size=1, color="blue"))["spec"]["color"] == "blue"


@pytest.mark.parametrize("size", [0, "big", 1.5])
def test_values_that_the_schema_does_not_allow_are_invalid(bench: Bench, size: Any) -> None:
    establish(bench, kind())
    assert isinstance(refusal(lambda: bench.apply(gadget(size=size))), Invalid)


def test_a_required_field_must_be_there(bench: Bench) -> None:
    body = kind()
    body["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["required"] = ["size"]
    establish(bench, body)
    assert isinstance(refusal(lambda: bench.apply(gadget(color="blue"))), Invalid)


def test_what_a_new_schema_forbids_stays_until_it_is_written(bench: Bench) -> None:
    establish(bench, kind())
    bench.apply(gadget(size=1))
    stricter = kind()
    path = stricter["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    path["size"] = {"type": "integer", "minimum": 5}
    bench.apply(stricter)
    assert bench.must(gadget())["spec"]["size"] == 1
    bench.until("it counts", lambda: refusal(lambda: bench.apply(gadget("two", size=1))))


def test_a_cluster_kind_has_no_namespace(bench: Bench) -> None:
    establish(bench, kind(scope="Cluster"))
    bench.apply(gadget(where="", size=1))
    assert bench.must(gadget(where=""))["spec"]["size"] == 1


def test_the_scope_of_a_kind_cannot_change(bench: Bench) -> None:
    establish(bench, kind())
    assert isinstance(refusal(lambda: bench.apply(kind(scope="Cluster"))), Invalid)


def test_an_object_reads_in_every_served_version(bench: Bench) -> None:
    establish(bench, kind(version("v1"), version("v2", storage=False)))
    bench.apply(gadget(size=1))
    read = [
        bench.cluster.read(f"/apis/example.dev/{name}/namespaces/shop/gadgets/one") for name in ("v1", "v2")
    ]
    assert read == [200, 200]


def test_a_version_that_is_not_served_is_not_found(bench: Bench) -> None:
    establish(bench, kind(version("v1"), version("v0", storage=False, served=False)))
    assert bench.cluster.read("/apis/example.dev/v0/gadgets") == 404


def test_a_version_that_is_no_longer_served_is_gone(bench: Bench) -> None:
    establish(bench, kind(version("v1", storage=False), version("v2")))
    bench.apply(gadget(api="v2", size=1))
    bench.apply(kind(version("v1", storage=False, served=False), version("v2")))
    bench.until("gone", lambda: bench.cluster.read("/apis/example.dev/v1/gadgets") == 404)
    assert bench.must(gadget(api="v2"))["spec"]["size"] == 1


def test_stored_versions_grow_with_the_storage_version(bench: Bench) -> None:
    establish(bench, kind(version("v1")))
    assert bench.must(crd())["status"]["storedVersions"] == ["v1"]
    bench.apply(kind(version("v1", storage=False), version("v2")))
    bench.until("both", lambda: bench.must(crd())["status"]["storedVersions"] == ["v1", "v2"])


def test_a_version_that_is_still_stored_cannot_be_dropped(bench: Bench) -> None:
    establish(bench, kind(version("v1")))
    bench.apply(kind(version("v1", storage=False), version("v2")))
    bench.until("both", lambda: bench.must(crd())["status"]["storedVersions"] == ["v1", "v2"])
    assert isinstance(refusal(lambda: bench.apply(kind(version("v2")))), Invalid)


def test_a_definition_without_a_storage_version_is_invalid(bench: Bench) -> None:
    assert isinstance(refusal(lambda: bench.apply(kind(version("v1", storage=False)))), Invalid)


def test_a_definition_with_two_storage_versions_is_invalid(bench: Bench) -> None:
    assert isinstance(refusal(lambda: bench.apply(kind(version("v1"), version("v2")))), Invalid)


def test_a_definition_must_be_named_after_its_plural_and_group(bench: Bench) -> None:
    body = kind()
    body["metadata"]["name"] = "widgets.example.dev"
    assert isinstance(refusal(lambda: bench.apply(body)), Invalid)


def test_a_definition_takes_its_objects_along(bench: Bench) -> None:
    establish(bench, kind())
    bench.apply(gadget(size=1))
    bench.delete_soon(crd())
    bench.until("the definition is gone", lambda: bench.live(crd()) is None)
    establish(bench, kind())
    assert bench.live(gadget()) is None


def test_a_definition_waits_for_objects_with_finalizers(bench: Bench) -> None:
    establish(bench, kind())
    body = gadget(size=1)
    body["metadata"]["finalizers"] = ["example.dev/hold"]
    bench.apply(body)
    bench.delete_soon(crd())
    bench.until("it is ending", lambda: "deletionTimestamp" in bench.must(crd())["metadata"])
    assert stays(bench, lambda: bench.live(crd()) is not None, 1)
    assert condition(bench.must(crd()), "Terminating") == "True"


def test_a_name_that_another_kind_has_is_not_accepted(bench: Bench) -> None:
    establish(bench, kind())
    other = kind()
    other["metadata"]["name"] = "gizmos.example.dev"
    other["spec"]["names"] |= {"plural": "gizmos", "singular": "gizmo"}
    bench.apply(other)
    bench.until("refused", lambda: condition(bench.must(other), "NamesAccepted") == "False")
    assert condition(bench.must(other), "Established") != "True"


DEAD = {
    "strategy": "Webhook",
    "webhook": {
        "conversionReviewVersions": ["v1"],
        "clientConfig": {"service": {"namespace": "shop", "name": "nobody", "path": "/convert", "port": 443}},
    },
}


def test_a_dead_conversion_webhook_fails_reads_in_the_other_version(bench: Bench) -> None:
    establish(bench, kind(version("v1"), version("v2", storage=False)))
    bench.apply(gadget(size=1))
    bench.apply(kind(version("v1"), version("v2", storage=False), conversion=DEAD))
    where = "/apis/example.dev/{}/namespaces/shop/gadgets/one"
    bench.until("it fails", lambda: bench.cluster.read(where.format("v2")) >= 500)
    assert bench.cluster.read(where.format("v1")) == 200


def test_a_dead_conversion_webhook_fails_writes_in_the_other_version(bench: Bench) -> None:
    establish(bench, kind(version("v1"), version("v2", storage=False)))
    bench.apply(kind(version("v1"), version("v2", storage=False), conversion=DEAD))
    bench.until("it fails", lambda: refusal(lambda: bench.apply(gadget(api="v2", size=1))))
    assert refusal(lambda: bench.apply(gadget("two", size=1))) is None


def test_a_kind_that_is_gone_is_not_served(bench: Bench) -> None:
    establish(bench, kind())
    bench.delete_soon(crd())
    bench.until("gone", lambda: bench.live(crd()) is None)
    bench.until("not served", lambda: bench.cluster.read("/apis/example.dev/v1/gadgets") == 404)
    bench.known.clear()
    bench.until("not discovered", lambda: isinstance(refusal(lambda: find(bench)), NotServed))


def find(bench: Bench) -> None:
    bench.known.clear()
    bench.of(gadget())


def test_the_status_of_a_custom_object_is_not_applied_where_it_is_a_subresource(bench: Bench) -> None:
    open_status = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    one = version(subresources={"status": {}})
    one["schema"]["openAPIV3Schema"]["properties"]["status"] = open_status
    establish(bench, kind(one))
    assert "status" not in bench.apply({**gadget(size=1), "status": {"a": "b"}})


def test_items_of_a_set_belong_to_whoever_put_them_in(bench: Bench) -> None:
    establish(bench, kind())
    bench.apply(gadget(size=1, tags=["a"]))
    bench.apply(gadget(size=1, tags=["b"]), "other")
    assert sorted(bench.must(gadget())["spec"]["tags"]) == ["a", "b"]
    bench.apply(gadget(size=1, tags=[]))
    assert bench.must(gadget())["spec"]["tags"] == ["b"]
