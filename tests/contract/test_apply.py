"""Server-side apply (kubernetes.io/docs/reference/using-api/server-side-apply)."""

from __future__ import annotations

import pytest

from agent.core.model import Body
from agent.errors import Conflict
from tests.contract.bench import MANAGER, Bench, binding, config_map, deployment, id_of, service

OTHER = "kubectl"


def version(body: Body) -> str:
    return str(body["metadata"]["resourceVersion"])


def subjects(bench: Bench) -> list[str]:
    return [one["name"] for one in bench.must(binding()).get("subjects") or []]


def test_apply_creates_then_updates_under_our_manager(bench: Bench) -> None:
    made = bench.apply(config_map(a="1"))
    changed = bench.apply(config_map(a="2"))
    assert made["metadata"]["uid"] == changed["metadata"]["uid"]
    assert version(made) != version(changed)
    assert bench.must(config_map()) == changed
    assert changed["data"] == {"a": "2"}
    managed = changed["metadata"]["managedFields"]
    assert [(one["manager"], one["operation"]) for one in managed] == [(MANAGER, "Apply")]


@pytest.mark.parametrize("body", [config_map(a="1"), deployment(), service(), binding("ann")])
def test_applying_the_same_again_changes_nothing(bench: Bench, body: Body) -> None:
    bench.apply(body)
    before = bench.until("the controllers are done", lambda: _settled(bench, body))
    assert version(bench.apply(body)) == version(before)


def _settled(bench: Bench, body: Body) -> Body | None:
    before = bench.must(body)
    bench.advance(1)
    return before if version(bench.must(body)) == version(before) else None


def test_what_we_no_longer_apply_goes_and_what_others_own_stays(bench: Bench) -> None:
    bench.apply(config_map(ours="1", old="1"))
    bench.apply(config_map(theirs="1"), OTHER)
    assert bench.apply(config_map(ours="1"))["data"] == {"ours": "1", "theirs": "1"}


def test_a_field_that_two_apply_with_one_value_goes_when_both_drop_it(bench: Bench) -> None:
    bench.apply(config_map(shared="1", a="1"))
    bench.apply(config_map(shared="1", b="1"), OTHER)
    assert bench.apply(config_map(a="1"))["data"] == {"shared": "1", "a": "1", "b": "1"}
    assert bench.apply(config_map(b="1"), OTHER)["data"] == {"a": "1", "b": "1"}


def test_an_empty_apply_leaves_the_object_without_our_fields(bench: Bench) -> None:
    bench.apply(config_map(a="1"))
    left = bench.apply(config_map())
    assert not left.get("data")
    assert left["metadata"]["name"] == "web"


def test_a_conflict_names_the_other_managers_and_stores_nothing(bench: Bench) -> None:
    bench.apply(config_map(a="1"), OTHER)
    bench.apply(config_map(b="1"), "helm")
    before = bench.must(config_map())
    with pytest.raises(Conflict) as caught:
        bench.apply(config_map(a="2", b="2", c="2"))
    assert caught.value.managers == ("helm", OTHER)
    assert bench.must(config_map()) == before


def test_taking_over_wins_and_the_other_manager_no_longer_owns(bench: Bench) -> None:
    bench.apply(config_map(a="1"), OTHER)
    assert bench.apply(config_map(a="2"), take_over=True)["data"] == {"a": "2"}
    with pytest.raises(Conflict) as caught:
        bench.apply(config_map(a="1"), OTHER)
    assert caught.value.managers == (MANAGER,)
    assert bench.apply(config_map(x="1"), OTHER)["data"] == {"a": "2", "x": "1"}


def test_an_atomic_list_belongs_to_one_manager_as_a_whole(bench: Bench) -> None:
    bench.apply(binding("ann", "bob"))
    with pytest.raises(Conflict) as caught:
        bench.apply(binding("ann", "bob", "eve"), OTHER)
    assert caught.value.managers == (MANAGER,)
    bench.apply(binding("eve"), OTHER, take_over=True)
    assert subjects(bench) == ["eve"]


def test_items_of_a_keyed_list_have_owners_of_their_own(bench: Bench) -> None:
    bench.apply(deployment())
    theirs = deployment()
    theirs["spec"] = {"template": {"spec": {"containers": [{"name": "sidecar", "image": "standin/http:v1"}]}}}
    bench.apply(theirs, OTHER)

    def images() -> dict[str, str]:
        containers = bench.must(deployment())["spec"]["template"]["spec"]["containers"]
        return {one["name"]: one["image"] for one in containers}

    assert images() == {"web": "standin/http:v1", "sidecar": "standin/http:v1"}
    bench.apply(deployment(version="v2"))
    assert images() == {"web": "standin/http:v2", "sidecar": "standin/http:v1"}


def test_a_selector_of_a_service_is_atomic(bench: Bench) -> None:
    bench.apply(service(app="old"))
    new = service()
    new["spec"]["selector"] = {"role": "new"}
    assert bench.apply(new)["spec"]["selector"] == {"role": "new"}


def test_metadata_generation_counts_changes_of_the_spec_alone(bench: Bench) -> None:
    first = bench.apply(deployment())["metadata"]["generation"]
    labelled = deployment()
    labelled["metadata"]["labels"] = {"team": "shop"}
    assert bench.apply(labelled)["metadata"]["generation"] == first
    assert (
        bench.apply({**labelled, "spec": deployment(replicas=2)["spec"]})["metadata"]["generation"]
        == first + 1
    )


def test_a_resource_version_in_the_body_is_a_precondition(bench: Bench) -> None:
    old = bench.apply(config_map(a="1"))
    bench.apply(config_map(a="2"))
    body = config_map(a="3")
    body["metadata"]["resourceVersion"] = version(old)
    with pytest.raises(Conflict) as caught:
        bench.apply(body)
    assert caught.value.managers == ()
    body["metadata"]["resourceVersion"] = version(bench.must(body))
    assert bench.apply(body)["data"] == {"a": "3"}


def test_a_uid_in_the_body_is_a_precondition(bench: Bench) -> None:
    bench.apply(config_map(a="1"))
    body = config_map(a="2")
    body["metadata"]["uid"] = "00000000-0000-0000-0000-000000000000"
    with pytest.raises(Conflict):
        bench.apply(body)
    assert bench.must(body)["data"] == {"a": "1"}
    body["metadata"]["uid"] = bench.must(body)["metadata"]["uid"]
    assert bench.apply(body)["data"] == {"a": "2"}


def test_a_uid_keeps_apply_from_making_anew_what_is_gone(bench: Bench) -> None:
    made = bench.apply(config_map(a="1"))
    bench.delete(made)
    body = config_map(a="1")
    body["metadata"] |= {"uid": made["metadata"]["uid"], "resourceVersion": version(made)}
    with pytest.raises(Conflict):
        bench.apply(body)
    assert bench.live(body) is None


def test_a_resource_version_alone_does_not(bench: Bench) -> None:
    made = bench.apply(config_map(a="1"))
    bench.delete(made)
    body = config_map(a="1")
    body["metadata"]["resourceVersion"] = version(made)
    assert bench.apply(body)["metadata"]["uid"] != made["metadata"]["uid"]


def test_a_dry_run_tells_and_stores_nothing(bench: Bench) -> None:
    told = bench.dry_run(service())
    assert told["spec"]["type"] == "ClusterIP"
    assert bench.live(service()) is None
    made = bench.apply(config_map(a="1"))
    assert bench.dry_run(config_map(b="2"))["data"] == {"b": "2"}
    assert bench.must(config_map()) == made
    with pytest.raises(Conflict) as caught:
        bench.dry_run(config_map(a="2"), OTHER)
    assert caught.value.managers == (MANAGER,)


def test_a_dry_run_of_what_stands_equals_what_stands(bench: Bench) -> None:
    bench.apply(deployment())
    live = bench.until("the controllers are done", lambda: _settled(bench, deployment()))
    told = bench.dry_run(deployment())
    for body in (live, told):
        body["metadata"].pop("managedFields")
    assert told == live


def test_a_plain_create_of_what_is_there_already_says_so(bench: Bench) -> None:
    maps = bench.resource("", "ConfigMap")
    made = bench.cluster.create(maps, config_map(a="1"))
    assert made["metadata"]["uid"]
    with pytest.raises(Conflict) as caught:
        bench.cluster.create(maps, config_map(a="2"))
    assert caught.value.already_exists
    assert bench.must(config_map())["data"] == {"a": "1"}


def test_a_plain_update_replaces_under_its_resource_version(bench: Bench) -> None:
    maps = bench.resource("", "ConfigMap")
    made = bench.cluster.create(maps, config_map(a="1", b="1"))
    changed = bench.cluster.replace(maps, {**made, "data": {"c": "1"}})
    assert bench.cluster.get(maps, id_of(made)) == changed
    assert changed["data"] == {"c": "1"}
    with pytest.raises(Conflict) as caught:
        bench.cluster.replace(maps, {**made, "data": {"d": "1"}})
    assert (caught.value.managers, caught.value.already_exists) == ((), False)


def test_applying_over_a_plain_update_names_its_manager(bench: Bench) -> None:
    bench.cluster.create(bench.resource("", "ConfigMap"), config_map(a="1"))
    with pytest.raises(Conflict) as caught:
        bench.apply(config_map(a="2"))
    assert caught.value.managers == ("trapeze",)
