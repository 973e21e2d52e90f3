"""Server-side apply where two write one object: lists, maps, nulls, and what is left when one lets go."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.model import Body
from agent.errors import Conflict, Invalid
from tests.contract.bench import Bench, config_map, deployment, named, service
from tests.contract.looks import refusal

OTHER = "other"


def web(*containers: Body, **spec: Any) -> Body:
    body = deployment()
    if containers:
        body["spec"]["template"]["spec"]["containers"] = list(containers)
    body["spec"] |= spec
    return body


def container(name: str = "web", **rest: Any) -> Body:
    return {"name": name, "image": "standin/http:v1", **rest}


def partial(kind: str, api: str = "apps/v1", **spec: Any) -> Body:
    return named(api, kind, "web", "shop", spec=spec)


def bare() -> Body:
    """A ConfigMap of which nothing but its metadata is applied."""
    return named("v1", "ConfigMap", "web", "shop")


def names(rows: list[Body]) -> list[str]:
    return [row["name"] for row in rows]


def containers(bench: Bench) -> list[Body]:
    found: list[Body] = bench.must(web())["spec"]["template"]["spec"]["containers"]
    return found


def of_template(*rows: Body) -> Body:
    labels = {"metadata": {"labels": {"app": "web"}}}
    made = {**labels, "spec": {"containers": list(rows)}}
    return partial("Deployment", selector={"matchLabels": {"app": "web"}}, template=made)


def test_a_container_of_another_manager_stays_beside_ours(bench: Bench) -> None:
    bench.apply(web(container()))
    bench.apply(of_template(container("sidecar")), OTHER)
    assert names(containers(bench)) == ["web", "sidecar"]
    bench.apply(web(container()))
    assert names(containers(bench)) == ["web", "sidecar"]


def test_a_container_that_we_drop_goes_and_the_other_stays(bench: Bench) -> None:
    bench.apply(web(container(), container("helper")))
    bench.apply(of_template(container("sidecar")), OTHER)
    bench.apply(web(container()))
    assert sorted(names(containers(bench))) == ["sidecar", "web"]


def test_items_of_a_keyed_list_stand_in_the_order_of_the_last_apply(bench: Bench) -> None:
    bench.apply(web(container("a"), container("b")))
    bench.apply(web(container("b"), container("a")))
    assert names(containers(bench)) == ["b", "a"]


def test_a_service_account_that_we_let_go_of_stays_until_both_its_names_are_emptied(bench: Bench) -> None:
    def account(**spec: str) -> Any:
        made = web()
        made["spec"]["template"]["spec"] |= spec
        found = bench.apply(made)["spec"]["template"]["spec"]
        return found.get("serviceAccountName"), found.get("serviceAccount")

    assert account(serviceAccountName="old") == ("old", "old")
    assert account() == ("old", "old")
    assert account(serviceAccountName="") == ("old", "old")
    assert account(serviceAccountName="", serviceAccount="") == (None, None)
    assert account() == (None, None)


def test_an_environment_variable_of_another_manager_stays(bench: Bench) -> None:
    bench.apply(web(container(env=[{"name": "A", "value": "1"}])))
    bench.apply(of_template(container(env=[{"name": "B", "value": "2"}])), OTHER)
    (one,) = containers(bench)
    assert names(one["env"]) == ["A", "B"]
    bench.apply(web(container()))
    assert names(containers(bench)[0]["env"]) == ["B"]


def test_arguments_are_one_value(bench: Bench) -> None:
    bench.apply(web(container(args=["--a", "--b"])))
    error = refusal(lambda: bench.apply(of_template(container(args=["--a"])), OTHER))
    assert isinstance(error, Conflict)
    bench.apply(web(container(args=["--a"])))
    assert containers(bench)[0]["args"] == ["--a"]


def test_the_same_value_from_two_managers_is_no_conflict(bench: Bench) -> None:
    bench.apply(config_map(a="1"))
    bench.apply(config_map(a="1"), OTHER)
    assert isinstance(refusal(lambda: bench.apply(config_map(a="2"))), Conflict)


def test_a_null_is_as_if_it_were_not_said(bench: Bench) -> None:
    bench.apply(web(replicas=2))
    live = bench.apply({**web(), "spec": {**web()["spec"], "replicas": None}})
    assert live["spec"]["replicas"] == 1


def test_replicas_that_we_stop_saying_stay_while_another_owns_them(bench: Bench) -> None:
    bench.apply(web(replicas=2))
    bench.apply(partial("Deployment", replicas=2), "scaler")
    body = web()
    del body["spec"]["replicas"]
    assert bench.apply(body)["spec"]["replicas"] == 2


def test_replicas_that_nobody_says_any_more_fall_back_to_one(bench: Bench) -> None:
    bench.apply(web(replicas=3))
    body = web()
    del body["spec"]["replicas"]
    assert bench.apply(body)["spec"]["replicas"] == 1


def test_labels_and_annotations_have_an_owner_each(bench: Bench) -> None:
    ours, theirs = bare(), bare()
    ours["metadata"]["labels"] = {"a": "1"}
    theirs["metadata"]["labels"] = {"b": "2"}
    bench.apply(ours)
    bench.apply(theirs, OTHER)
    assert bench.must(ours)["metadata"]["labels"] == {"a": "1", "b": "2"}
    bench.apply(bare())
    assert bench.must(ours)["metadata"]["labels"] == {"b": "2"}


def test_finalizers_are_a_set(bench: Bench) -> None:
    ours, theirs = bare(), bare()
    ours["metadata"]["finalizers"] = ["example.dev/a"]
    theirs["metadata"]["finalizers"] = ["example.dev/b"]
    bench.apply(ours)
    bench.apply(theirs, OTHER)
    assert sorted(bench.must(ours)["metadata"]["finalizers"]) == ["example.dev/a", "example.dev/b"]
    bench.apply(bare())
    assert bench.must(ours)["metadata"]["finalizers"] == ["example.dev/b"]
    bench.apply(bare(), OTHER)


def test_ports_of_a_service_are_told_apart_by_number_and_protocol(bench: Bench) -> None:
    bench.apply(service())
    more = [{"name": "b", "port": 81, "targetPort": 8080, "protocol": "TCP"}]
    error = refusal(lambda: bench.apply(partial("Service", "v1", ports=more), OTHER))
    # Two ports must both have names; the merged object is what is validated.
    assert isinstance(error, Invalid)


def test_the_last_manager_to_let_go_of_a_field_takes_it_along(bench: Bench) -> None:
    bench.apply(config_map(a="1", b="2"))
    bench.apply(config_map(a="1"), OTHER)
    bench.apply(config_map(b="2"))
    assert bench.must(config_map())["data"] == {"a": "1", "b": "2"}
    bench.apply(config_map(), OTHER)
    assert bench.must(config_map())["data"] == {"b": "2"}


def test_a_forced_apply_takes_single_fields(bench: Bench) -> None:
    bench.apply(config_map(a="1", b="2"), OTHER)
    bench.apply(config_map(a="9"), take_over=True)
    bench.apply(config_map(b="3"), OTHER)
    assert bench.must(config_map())["data"] == {"a": "9", "b": "3"}


def test_a_duplicate_key_in_a_keyed_list_is_refused(bench: Bench) -> None:
    twice = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
    assert refusal(lambda: bench.apply(web(container(env=twice)))) is not None


@pytest.mark.parametrize("value", [1, True], ids=str)
def test_data_of_a_config_map_is_text(bench: Bench, value: Any) -> None:
    body = config_map()
    body["data"] = {"a": value}
    assert refusal(lambda: bench.apply(body)) is not None


def test_a_secret_keeps_string_data_as_data(bench: Bench) -> None:
    body = named("v1", "Secret", "web", "shop", stringData={"a": "b"})
    made = bench.apply(body)
    assert made["data"] == {"a": "Yg=="}
    assert "stringData" not in made


def test_removing_a_probe_removes_all_of_it(bench: Bench) -> None:
    probe = {"httpGet": {"path": "/ready", "port": 8080}, "periodSeconds": 3}
    bench.apply(web(container(readinessProbe=probe)))
    bench.apply(web(container()))
    assert "readinessProbe" not in containers(bench)[0]


def test_a_volume_that_changes_its_source_has_the_new_one_alone(bench: Bench) -> None:
    def mounting(**source: Any) -> Body:
        body = web(container(volumeMounts=[{"name": "v", "mountPath": "/v"}]))
        body["spec"]["template"]["spec"]["volumes"] = [{"name": "v", **source}]
        return body

    bench.apply(mounting(emptyDir={}))
    bench.apply(mounting(configMap={"name": "web"}))
    (volume,) = bench.must(web())["spec"]["template"]["spec"]["volumes"]
    assert set(volume) == {"name", "configMap"}


def test_an_object_that_another_created_plainly_is_joined(bench: Bench) -> None:
    body = config_map(a="1")
    bench.cluster.create(bench.of(body), body)
    bench.apply(config_map(b="2"))
    assert bench.must(body)["data"] == {"a": "1", "b": "2"}


def test_what_an_update_leaves_out_and_the_server_fills_in_is_the_updaters(bench: Bench) -> None:
    bench.apply(web(strategy={"type": "Recreate"}))
    made = bench.must(web())
    metadata = {key: value for key, value in made["metadata"].items() if key != "resourceVersion"}
    updated = {**made, "metadata": metadata, "spec": {**made["spec"], "strategy": None}}
    bench.cluster.replace(bench.of(web()), updated)
    assert bench.must(web())["spec"]["strategy"]["type"] == "RollingUpdate"
    with pytest.raises(Conflict) as refused:
        bench.apply(web(strategy={"type": "Recreate"}))
    assert refused.value.managers == ("trapeze",)
