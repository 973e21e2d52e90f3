"""The adapter at the wire: requests as they are sent, answers as they are understood."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from agent.core.model import GroupKind, ObjectId
from agent.errors import (
    ClusterError,
    Invalid,
    NotServed,
    Unreachable,
)
from agent.shell.cluster import Resource
from agent.shell.kube import KubeCluster, connect
from agent.shell.kube_connect import Connection
from tests.shell.kinds import DEPLOYMENTS, MAPS, VERBS, WEB, WEB_BODY, WEB_PATH
from tests.shell.wire import Answer, Wire, kubeconfig, status


def test_get_sends_identity_and_reads_json(wire: Wire, kube: KubeCluster) -> None:
    wire.answer(f"GET {WEB_PATH}", Answer(body=WEB_BODY))
    assert kube.get(MAPS, WEB) == WEB_BODY
    headers = wire.seen[0].headers
    assert headers["authorization"] == "Bearer letmein"
    assert headers["user-agent"].startswith("trapeze/")


def test_get_of_a_missing_object_is_none_of_an_unserved_kind_raises(wire: Wire, kube: KubeCluster) -> None:
    wire.answer(f"GET {WEB_PATH}", status(404, "NotFound", 'configmaps "web" not found', name="web"))
    assert kube.get(MAPS, WEB) is None
    wire.answer(f"GET {WEB_PATH}", Answer(404, b"404 page not found\n"))
    with pytest.raises(NotServed, match="cannot get ConfigMap shop/web"):
        kube.get(MAPS, WEB)


def test_apply_is_server_side_with_manager_and_force(wire: Wire, kube: KubeCluster) -> None:
    wire.answer(f"PATCH {WEB_PATH}", Answer(body=WEB_BODY))
    kube.apply(MAPS, WEB_BODY, manager="trapeze/shop", take_over=True)
    kube.dry_run(MAPS, WEB_BODY, manager="trapeze/shop")
    first, second = wire.seen
    assert first.headers["content-type"] == "application/apply-patch+yaml"
    assert first.query == {"fieldManager": "trapeze/shop", "force": "true"}
    assert first.body == WEB_BODY
    assert second.query == {"fieldManager": "trapeze/shop", "dryRun": "All"}


def test_apply_goes_to_the_version_that_the_body_names(wire: Wire, kube: KubeCluster) -> None:
    body = {**WEB_BODY, "apiVersion": "apps/v1beta1", "kind": "Deployment"}
    wire.answer("PATCH /apis/apps/v1beta1/namespaces/shop/deployments/web", Answer(body=body))
    assert kube.apply(DEPLOYMENTS, body, manager="m") == body


def test_names_are_escaped_in_paths(wire: Wire, kube: KubeCluster) -> None:
    roles = Resource(
        GroupKind("rbac.authorization.k8s.io", "ClusterRole"),
        ("v1",),
        "clusterroles",
        is_namespaced=False,
        verbs=VERBS,
    )
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/a%3Ab%2F..%2Fc"
    wire.answer(f"GET {path}", Answer(body={"kind": "ClusterRole"}))
    assert kube.get(roles, ObjectId(*roles.kind, "", "a:b/../c")) == {"kind": "ClusterRole"}


def test_delete_carries_both_preconditions_and_404_is_success(wire: Wire, kube: KubeCluster) -> None:
    gone = status(404, "NotFound", 'configmaps "web" not found', name="web")
    wire.answer(f"DELETE {WEB_PATH}", Answer(body={"kind": "Status", "status": "Success"}), gone)
    kube.delete(MAPS, WEB, uid="u1", resource_version="7")
    kube.delete(MAPS, WEB, uid="u1", resource_version="7")
    assert wire.seen[0].body == {
        "propagationPolicy": "Background",
        "preconditions": {"uid": "u1", "resourceVersion": "7"},
    }
    with pytest.raises(Invalid, match="uid"):
        kube.delete(MAPS, WEB, uid="", resource_version="7")
    assert len(wire.seen) == 2


def page(names: str, token: str = "", version: str = "9") -> Answer:
    items = [{"metadata": {"name": name, "namespace": "shop"}} for name in names]
    return Answer(body={"metadata": {"resourceVersion": version, "continue": token}, "items": items})


def test_a_list_is_paged_and_its_items_get_their_type(wire: Wire, kube: KubeCluster) -> None:
    wire.answer("GET /api/v1/namespaces/shop/configmaps", page("ab", "more"), page("c"))
    listing = kube.list(MAPS, "shop", "app=web")
    assert [item["metadata"]["name"] for item in listing.items] == ["a", "b", "c"]
    assert {(item["apiVersion"], item["kind"]) for item in listing.items} == {("v1", "ConfigMap")}
    assert listing.resource_version == "9"
    assert [one.query for one in wire.seen] == [
        {"labelSelector": "app=web", "limit": "500"},
        {"labelSelector": "app=web", "limit": "500", "continue": "more"},
    ]


def test_an_expired_page_restarts_the_list_and_at_last_asks_for_all(wire: Wire, kube: KubeCluster) -> None:
    expired = status(410, "Expired", "The provided continue parameter is too old")
    wire.answer("GET /api/v1/configmaps", page("ab", "x"), expired, page("ab", "x"), expired, page("abc"))
    assert len(kube.list(MAPS).items) == 3
    assert "limit" not in wire.seen[-1].query


def test_a_metadata_list_asks_for_partials_and_never_shows_more(wire: Wire, kube: KubeCluster) -> None:
    item = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "a"}}
    wire.answer("GET /api/v1/configmaps", Answer(body={"metadata": {}, "items": [item, {**WEB_BODY}]}))
    listing = kube.list_metadata(MAPS)
    assert "as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" in wire.seen[0].headers["accept"]
    assert listing.items[0] == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    assert "data" not in listing.items[1]


def test_retry_after_is_honoured_and_a_write_is_repeated_where_that_is_safe(
    wire: Wire, kube: KubeCluster
) -> None:
    busy = Answer(429, b"busy", {"retry-after": "0"})
    later = Answer(503, b"later", {"retry-after": "0"})
    wire.answer(f"PATCH {WEB_PATH}", busy, later, Answer(body=WEB_BODY))
    kube.apply(MAPS, WEB_BODY, manager="m")
    assert len(wire.requests(f"PATCH {WEB_PATH}")) == 3
    wire.answer("POST /api/v1/namespaces/shop/configmaps", busy, later, Answer(body=WEB_BODY))
    with pytest.raises(Unreachable):
        kube.create(MAPS, WEB_BODY)
    assert len(wire.requests("POST /api/v1/namespaces/shop/configmaps")) == 2


def test_an_answer_that_breaks_off_is_asked_again_only_for_safe_requests(
    wire: Wire, kube: KubeCluster
) -> None:
    cut = Answer(cut=True)
    wire.answer(f"GET {WEB_PATH}", cut, cut, Answer(body=WEB_BODY))
    assert kube.get(MAPS, WEB) == WEB_BODY
    wire.answer(f"PUT {WEB_PATH}", cut, Answer(body=WEB_BODY))
    with pytest.raises(Unreachable, match="cannot replace ConfigMap shop/web: no answer from"):
        kube.replace(MAPS, WEB_BODY)
    assert len(wire.requests(f"PUT {WEB_PATH}")) == 1


@pytest.mark.parametrize("code", [500, 502, 503, 504])
def test_a_read_that_the_server_failed_at_is_asked_again_a_write_is_not(
    wire: Wire, kube: KubeCluster, code: int
) -> None:
    failed = Answer(code, b"upstream broke")
    wire.answer(f"GET {WEB_PATH}", failed, failed, Answer(body=WEB_BODY))
    assert kube.get(MAPS, WEB) == WEB_BODY
    wire.answer("GET /api/v1/configmaps", failed, failed, failed, Answer(body={"metadata": {}, "items": []}))
    with pytest.raises(ClusterError):
        kube.list(MAPS)
    assert len(wire.requests("GET /api/v1/configmaps")) == 3
    wire.answer(f"PATCH {WEB_PATH}", failed, Answer(body=WEB_BODY))
    with pytest.raises(ClusterError):
        kube.apply(MAPS, WEB_BODY, manager="m")
    assert len(wire.requests(f"PATCH {WEB_PATH}")) == 1


def test_a_server_that_is_not_there_is_unreachable(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    adapter = connect(kubeconfig(tmp_path, url), None)
    with pytest.raises(Unreachable, match="Connection refused"):
        adapter.list(MAPS)
    adapter.close()


def test_a_server_that_never_answers_is_given_up(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        config = kubeconfig(tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}")
        adapter = KubeCluster(Connection(config, None, 2), timeout=0.2)
        with pytest.raises(Unreachable, match="timed out"):
            adapter.get(MAPS, WEB)
        adapter.close()


def test_a_server_that_trickles_is_given_up(wire: Wire, tmp_path: Path) -> None:
    enough = threading.Event()

    def trickle(write: Any) -> None:
        while not enough.wait(0.05):
            write(b" ")

    wire.answer(f"GET {WEB_PATH}", Answer(stream=trickle))
    adapter = KubeCluster(Connection(kubeconfig(tmp_path, wire.url), None, 1), timeout=0.3)
    with pytest.raises(Unreachable, match="did not end in time"):
        adapter.get(MAPS, WEB)
    enough.set()
    wire.answer(f"GET {WEB_PATH}", Answer(body=WEB_BODY))
    assert adapter.get(MAPS, WEB) == WEB_BODY
    adapter.close()


def test_many_threads_share_few_connections(wire: Wire, kube: KubeCluster) -> None:
    wire.answer(f"GET {WEB_PATH}", Answer(body=WEB_BODY))
    threads = [threading.Thread(target=kube.get, args=(MAPS, WEB)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wire.seen) == 16
    assert wire.most_connections <= 2


def test_can_asks_for_exactly_this_right(wire: Wire, kube: KubeCluster) -> None:
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    wire.answer(f"POST {path}", Answer(201, {"status": {"allowed": True}}), Answer(201, {"status": {}}))
    assert kube.can("patch", DEPLOYMENTS, "shop", "web") == ""
    assert wire.seen[0].body["spec"]["resourceAttributes"] == {
        "verb": "patch",
        "group": "apps",
        "resource": "deployments",
        "namespace": "shop",
        "name": "web",
    }
    assert kube.can("patch", DEPLOYMENTS, "shop") == (
        "may not patch Deployment.apps in namespace shop: no rule allows it"
    )


def test_read_tells_the_status_whatever_it_is(wire: Wire, kube: KubeCluster) -> None:
    wire.answer("GET /apis/g/v1", Answer(503, b"service unavailable"))
    assert [kube.read("/apis/g/v1"), kube.read("/apis/other/v1")] == [503, 404]


def test_the_end_of_a_log_is_text_whatever_a_pod_wrote(wire: Wire, kube: KubeCluster) -> None:
    wire.answer("GET /api/v1/namespaces/shop/pods/web/log", Answer(200, b"no such table \xff\n"))
    assert kube.log(ObjectId("", "Pod", "shop", "web"), 5) == "no such table \ufffd\n"
    assert wire.seen[-1].query == {"tailLines": "5", "limitBytes": "8192"}


@pytest.mark.parametrize("value", [2**64, {1: "x"}, "\udcff"])
def test_what_json_cannot_say_is_invalid_and_not_sent(wire: Wire, kube: KubeCluster, value: object) -> None:
    with pytest.raises(Invalid, match="cannot apply ConfigMap shop/web: "):
        kube.apply(MAPS, {**WEB_BODY, "data": value}, manager="m")
    assert wire.seen == []
