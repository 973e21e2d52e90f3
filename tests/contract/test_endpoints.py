"""Which pods a Service sends requests to: what its EndpointSlices say in each state of pods and Service."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.model import Body
from tests.contract.bench import Bench, named, service
from tests.contract.looks import endpoints, is_ready, listed, pod

READY, UNREADY = (True, True, False), (False, False, False)
DRAINING, PUBLISHED = (False, True, True), (True, False, False)


def selecting(name: str = "web", **spec: Any) -> Body:
    body = service(name)
    body["spec"] |= spec
    return body


def slices(bench: Bench, name: str = "web") -> list[Body]:
    return listed(bench, "discovery.k8s.io", "EndpointSlice", f"kubernetes.io/service-name={name}")


def ports(bench: Bench) -> list[tuple[str, int]]:
    rows = [row for piece in slices(bench) for row in piece.get("ports") or ()]
    return sorted((row.get("name", ""), row["port"]) for row in rows)


def up(bench: Bench, *bodies: Body) -> None:
    for body in bodies:
        bench.apply(body)
    for body in bodies:
        bench.until("the pod is ready", lambda body=body: is_ready(bench.live(body)))  # type: ignore[misc]  # the loop's own body


def test_a_service_without_pods_has_a_slice_without_endpoints(bench: Bench) -> None:
    bench.apply(selecting())
    bench.until("a slice", lambda: slices(bench))
    assert endpoints(bench) == {}


def test_a_service_made_before_its_pod_finds_it(bench: Bench) -> None:
    bench.apply(selecting())
    up(bench, pod())
    bench.until("found", lambda: endpoints(bench) == {"web": READY})


def test_a_service_made_after_its_pod_finds_it(bench: Bench) -> None:
    up(bench, pod())
    bench.apply(selecting())
    bench.until("found", lambda: endpoints(bench) == {"web": READY})


def test_a_pod_that_is_never_ready_is_listed_as_not_ready(bench: Bench) -> None:
    bench.apply(selecting())
    bench.apply(pod(never_ready="true"))
    bench.until("listed", lambda: endpoints(bench) == {"web": UNREADY})


def test_not_ready_addresses_are_published_where_the_service_wants_it(bench: Bench) -> None:
    bench.apply(selecting(publishNotReadyAddresses=True))
    bench.apply(pod(never_ready="true"))
    bench.until("published", lambda: endpoints(bench) == {"web": PUBLISHED})


def test_a_pod_that_loses_its_readiness_loses_its_endpoint(bench: Bench) -> None:
    bench.apply(selecting())
    bench.apply(pod(lose_ready_after="1.5"))
    bench.until("ready", lambda: endpoints(bench) == {"web": READY})
    bench.until("lost", lambda: endpoints(bench) == {"web": UNREADY})


def test_a_pod_that_drains_serves_and_terminates(bench: Bench) -> None:
    bench.apply(selecting())
    up(bench, pod(slow_stop="3"))
    bench.until("ready", lambda: endpoints(bench) == {"web": READY})
    bench.delete_soon(pod())
    bench.until("draining", lambda: endpoints(bench) == {"web": DRAINING})
    bench.until("gone", lambda: endpoints(bench) == {})


def test_a_pod_that_drains_is_ready_where_not_ready_addresses_are_published(bench: Bench) -> None:
    bench.apply(selecting(publishNotReadyAddresses=True))
    up(bench, pod(slow_stop="3"))
    bench.until("ready", lambda: endpoints(bench) == {"web": READY})
    bench.delete_soon(pod())
    bench.until("draining", lambda: endpoints(bench) == {"web": (True, True, True)})


def test_a_pod_whose_label_changes_leaves_the_service(bench: Bench) -> None:
    bench.apply(selecting())
    up(bench, pod())
    bench.until("found", lambda: endpoints(bench) == {"web": READY})
    bench.apply(pod(app="other"))
    bench.until("left", lambda: endpoints(bench) == {})


def test_a_narrower_selector_leaves_out_the_pods_without_the_label(bench: Bench) -> None:
    extra = pod("extra")
    extra["metadata"]["labels"]["tier"] = "front"
    bench.apply(selecting())
    up(bench, pod(), extra)
    bench.until("both", lambda: endpoints(bench) == {"web": READY, "extra": READY})
    bench.apply(selecting(selector={"app": "web", "tier": "front"}))
    bench.until("one", lambda: endpoints(bench) == {"extra": READY})


def test_a_selector_that_fits_nothing_empties_the_slice(bench: Bench) -> None:
    bench.apply(selecting())
    up(bench, pod())
    bench.until("found", lambda: endpoints(bench) == {"web": READY})
    bench.apply(selecting(selector={"app": "nobody"}))
    bench.until("emptied", lambda: endpoints(bench) == {})
    assert slices(bench)


def test_a_service_without_a_selector_gets_no_slice(bench: Bench) -> None:
    body = selecting()
    del body["spec"]["selector"]
    up(bench, pod())
    bench.apply(body)
    bench.advance(1)
    assert slices(bench) == []


def test_a_slice_made_by_hand_stands_for_a_service_without_a_selector(bench: Bench) -> None:
    body = selecting()
    del body["spec"]["selector"]
    bench.apply(body)
    row = {"addresses": ["192.0.2.1"], "conditions": {"ready": True, "serving": True, "terminating": False}}
    piece = named(
        "discovery.k8s.io/v1", "EndpointSlice", "by-hand", "shop", addressType="IPv4", endpoints=[row]
    )
    piece["metadata"]["labels"] = {"kubernetes.io/service-name": "web"}
    bench.apply(piece)
    bench.advance(1)
    assert endpoints(bench) == {"192.0.2.1": READY}


def test_taking_the_selector_away_leaves_the_slice_as_it_was(bench: Bench) -> None:
    bench.apply(selecting())
    up(bench, pod())
    bench.until("found", lambda: endpoints(bench) == {"web": READY})
    body = selecting()
    del body["spec"]["selector"]
    bench.apply(body)
    bench.delete_soon(pod())
    bench.until("the pod is gone", lambda: bench.live(pod()) is None)
    bench.advance(1)
    assert set(endpoints(bench)) == {"web"}


def test_a_headless_service_has_endpoints_too(bench: Bench) -> None:
    bench.apply(selecting(clusterIP="None"))
    up(bench, pod())
    bench.until("found", lambda: endpoints(bench) == {"web": READY})
    assert bench.must(selecting())["spec"]["clusterIP"] == "None"


def test_a_headless_service_may_have_no_ports(bench: Bench) -> None:
    body = selecting(clusterIP="None")
    del body["spec"]["ports"]
    bench.apply(body)
    up(bench, pod())
    bench.until("found", lambda: endpoints(bench) == {"web": READY})
    assert ports(bench) == []


def test_an_external_name_has_no_slice(bench: Bench) -> None:
    bench.apply(
        named("v1", "Service", "web", "shop", spec={"type": "ExternalName", "externalName": "example.org"})
    )
    up(bench, pod())
    bench.advance(1)
    assert slices(bench) == []


@pytest.mark.parametrize(
    ("target", "wanted"), [(8080, [("", 8080)]), ("http", [("", 8080)]), (9, [("", 9)]), ("unheard-of", [])]
)
def test_a_target_port_is_a_number_or_a_name_of_the_pods(
    bench: Bench, target: Any, wanted: list[tuple[str, int]]
) -> None:
    bench.apply(selecting(ports=[{"port": 80, "targetPort": target}]))
    up(bench, pod())
    bench.until("the port", lambda: endpoints(bench) and ports(bench) == wanted)


def test_pods_that_name_a_port_differently_stand_in_slices_of_their_own(bench: Bench) -> None:
    other = pod("other")
    other["spec"]["containers"][0]["ports"] = [{"name": "http", "containerPort": 8081}]
    bench.apply(selecting(ports=[{"port": 80, "targetPort": "http"}]))
    up(bench, pod())
    bench.apply(other)
    bench.until("both ports", lambda: ports(bench) == [("", 8080), ("", 8081)])
    by_port = {
        piece["ports"][0]["port"]: [row["targetRef"]["name"] for row in piece["endpoints"]]
        for piece in slices(bench)
    }
    assert by_port == {8080: ["web"], 8081: ["other"]}


def test_a_pod_that_has_ended_is_no_endpoint(bench: Bench) -> None:
    done = pod(run_for="1")
    done["spec"]["restartPolicy"] = "Never"
    bench.apply(selecting())
    bench.apply(done)
    bench.until("it ended", lambda: (bench.must(done).get("status") or {}).get("phase") == "Succeeded")
    bench.until("no endpoint", lambda: endpoints(bench) == {})


def test_slices_go_with_their_service(bench: Bench) -> None:
    bench.apply(selecting())
    up(bench, pod())
    bench.until("found", lambda: endpoints(bench) == {"web": READY})
    bench.delete_soon(selecting())
    bench.until("gone", lambda: slices(bench) == [])


def test_two_services_share_a_pod(bench: Bench) -> None:
    bench.apply(selecting())
    bench.apply(selecting("second"))
    up(bench, pod())
    bench.until("both", lambda: endpoints(bench) == endpoints(bench, "second") == {"web": READY})


def test_labels_of_the_service_stand_on_its_slice(bench: Bench) -> None:
    body = selecting()
    body["metadata"]["labels"] = {"tier": "front"}
    bench.apply(body)
    (piece,) = bench.until("a slice", lambda: slices(bench))
    assert piece["metadata"]["labels"]["tier"] == "front"
    body["metadata"]["labels"] = {"tier": "back"}
    bench.apply(body)
    bench.until("the label follows", lambda: slices(bench)[0]["metadata"]["labels"]["tier"] == "back")
