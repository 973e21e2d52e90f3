"""What goes with what: owners, finalizers, namespaces."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.model import Body
from agent.core.propagation import Propagation
from agent.errors import Rejected
from tests.contract.bench import Bench, condition, config_map, id_of, named, namespace
from tests.contract.looks import listed, names, pod, refusal, stays


def owned(name: str, *owners: Body, **flags: Any) -> Body:
    """A ConfigMap that these own."""
    body = config_map(name)
    body["metadata"]["ownerReferences"] = [
        {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            **flags,
        }
        for owner in owners
    ]
    return body


def delete(bench: Bench, body: Body, propagation: Propagation = Propagation.BACKGROUND) -> None:
    uid = bench.must(body)["metadata"]["uid"]
    bench.cluster.delete(bench.of(body), id_of(body), uid=uid, resource_version="", propagation=propagation)


def gone(bench: Bench, *bodies: Body) -> None:
    for body in bodies:
        bench.until(f"{body['metadata']['name']} is gone", lambda body=body: bench.live(body) is None)  # type: ignore[misc]  # the loop's own body


def test_what_two_own_goes_with_the_last(bench: Bench) -> None:
    first, second = bench.apply(config_map("first")), bench.apply(config_map("second"))
    body = owned("owned", first, second)
    bench.apply(body)
    delete(bench, first)
    assert stays(bench, lambda: bench.live(body) is not None, 1.5)
    delete(bench, second)
    gone(bench, body)


def test_an_owner_that_never_was_takes_its_object_along(bench: Bench) -> None:
    ghost = config_map("ghost")
    ghost["metadata"]["uid"] = "00000000-1111-2222-3333-444444444444"
    bench.apply(owned("owned", ghost))
    gone(bench, config_map("owned"))


def test_an_owner_made_anew_under_its_name_is_another(bench: Bench) -> None:
    first = bench.apply(config_map("owner"))
    delete(bench, first)
    gone(bench, first)
    bench.apply(config_map("owner"))
    bench.apply(owned("owned", first))
    gone(bench, config_map("owned"))
    assert bench.live(config_map("owner")) is not None


def test_owners_go_down_several_floors(bench: Bench) -> None:
    top = bench.apply(config_map("top"))
    middle = bench.apply(owned("middle", top))
    bench.apply(owned("below", middle))
    delete(bench, top)
    gone(bench, config_map("middle"), config_map("below"))


def test_orphans_stay_and_lose_their_owner(bench: Bench) -> None:
    top = bench.apply(config_map("top"))
    bench.apply(owned("owned", top))
    delete(bench, top, Propagation.ORPHAN)
    gone(bench, top)
    assert not bench.must(config_map("owned"))["metadata"].get("ownerReferences")


def test_in_the_foreground_a_blocking_dependent_goes_first(bench: Bench) -> None:
    top = bench.apply(config_map("top"))
    body = owned("owned", top, blockOwnerDeletion=True)
    body["metadata"]["finalizers"] = ["example.dev/hold"]
    bench.apply(body)
    bench.until("the owner is known", lambda: bench.live(body))
    bench.advance(0.5)
    delete(bench, top, Propagation.FOREGROUND)
    bench.until("it is ending", lambda: "deletionTimestamp" in bench.must(body)["metadata"])
    assert stays(bench, lambda: bench.live(top) is not None, 1)
    bench.apply(owned("owned", top, blockOwnerDeletion=True))
    gone(bench, body, top)


def test_in_the_background_the_owner_goes_at_once(bench: Bench) -> None:
    top = bench.apply(config_map("top"))
    body = owned("owned", top, blockOwnerDeletion=True)
    body["metadata"]["finalizers"] = ["example.dev/hold"]
    bench.apply(body)
    delete(bench, top)
    assert bench.live(top) is None
    bench.until("it is ending", lambda: "deletionTimestamp" in bench.must(body)["metadata"])


def test_no_finalizer_is_added_to_what_is_ending(bench: Bench) -> None:
    body = config_map("held")
    body["metadata"]["finalizers"] = ["example.dev/hold"]
    delete(bench, bench.apply(body))
    more = config_map("held")
    more["metadata"]["finalizers"] = ["example.dev/hold", "example.dev/more"]
    assert refusal(lambda: bench.apply(more)) is not None


def test_what_is_ending_can_still_be_changed(bench: Bench) -> None:
    body = config_map("held", a="1")
    body["metadata"]["finalizers"] = ["example.dev/hold"]
    delete(bench, bench.apply(body))
    changed = {**body, "data": {"a": "2"}}
    assert bench.apply(changed)["data"] == {"a": "2"}
    assert "deletionTimestamp" in bench.must(body)["metadata"]


def test_a_second_delete_of_what_is_ending_changes_nothing(bench: Bench) -> None:
    body = config_map("held")
    body["metadata"]["finalizers"] = ["example.dev/hold"]
    delete(bench, bench.apply(body))
    before = bench.must(body)["metadata"]["deletionTimestamp"]
    bench.advance(1.2)
    delete(bench, body)
    assert bench.must(body)["metadata"]["deletionTimestamp"] == before


def test_a_pod_with_a_finalizer_stays_when_its_programs_have_ended(bench: Bench) -> None:
    body = pod()
    body["metadata"]["finalizers"] = ["example.dev/hold"]
    bench.apply(body)
    bench.until("ready", lambda: condition(bench.must(body), "Ready") == "True")
    delete(bench, body)
    assert stays(bench, lambda: bench.live(body) is not None, 3)
    bench.apply(pod())
    gone(bench, body)


@pytest.mark.parametrize("kind", ["Secret", "ConfigMap"])
def test_nothing_new_comes_into_a_namespace_that_is_ending(bench: Bench, kind: str) -> None:
    held = config_map("held")
    held["metadata"]["finalizers"] = ["example.dev/hold"]
    bench.apply(held)
    delete(bench, namespace())
    bench.until("it is ending", lambda: "deletionTimestamp" in bench.must(namespace())["metadata"])
    error = refusal(lambda: bench.apply(named("v1", kind, "new", "shop")))
    assert isinstance(error, Rejected)
    bench.apply(config_map("held"))
    gone(bench, namespace())


def test_what_stands_in_an_ending_namespace_can_still_be_changed(bench: Bench) -> None:
    held = config_map("held", a="1")
    held["metadata"]["finalizers"] = ["example.dev/hold"]
    bench.apply(held)
    delete(bench, namespace())
    bench.until("it is ending", lambda: "deletionTimestamp" in bench.must(namespace())["metadata"])
    assert bench.apply({**held, "data": {"a": "2"}})["data"] == {"a": "2"}
    bench.apply(config_map("held"))
    gone(bench, namespace())


def test_a_namespace_waits_for_its_pods_to_end(bench: Bench) -> None:
    bench.apply(pod(slow_stop="3"))
    bench.until("ready", lambda: condition(bench.must(pod()), "Ready") == "True")
    delete(bench, namespace())
    bench.until("the pod ends", lambda: is_ending_or_gone(bench))
    gone(bench, pod(), namespace())


def is_ending_or_gone(bench: Bench) -> bool:
    live = bench.live(pod())
    return live is None or "deletionTimestamp" in live["metadata"]


def dead_api(name: str = "v1.dead.dev") -> Body:
    version, _, group = name.partition(".")
    where = {"namespace": "nowhere", "name": "nothing"}
    spec = {"group": group, "version": version, "groupPriorityMinimum": 10, "versionPriority": 10}
    skips = {"insecureSkipTLSVerify": True}
    return named("apiregistration.k8s.io/v1", "APIService", name, spec={**spec, **skips, "service": where})


def test_a_namespace_does_not_go_while_a_group_does_not_answer(bench: Bench) -> None:
    bench.apply(dead_api())
    bench.until("unavailable", lambda: condition(bench.must(dead_api()), "Available") == "False")
    delete(bench, namespace())
    failed = "NamespaceDeletionDiscoveryFailure"
    bench.until("it says why", lambda: condition(bench.must(namespace()), failed) == "True")
    assert stays(bench, lambda: bench.live(namespace()) is not None, 1)
    bench.delete_soon(dead_api())
    gone(bench, namespace())


def test_a_service_account_that_is_deleted_comes_again_where_it_is_the_default(bench: Bench) -> None:
    account = named("v1", "ServiceAccount", "default", "shop")
    uid = bench.must(account)["metadata"]["uid"]
    delete(bench, account)
    bench.until(
        "another", lambda: (bench.live(account) or {"metadata": {"uid": uid}})["metadata"]["uid"] != uid
    )
    assert "default" in names(listed(bench, "", "ServiceAccount"))
