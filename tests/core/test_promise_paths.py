"""Serving paths: each history that breaks one, beside its neighbour that does not."""

from __future__ import annotations

from typing import Any

from agent.core.model import Body
from agent.core.serving import Path
from agent.core.terms import Terms
from tests.core.histories import (
    ROUTES,
    SERVING,
    Step,
    api_service,
    by_id,
    deleting,
    endpoints,
    gone,
    meta,
    obj,
    ours,
    pod,
    service,
    told,
    verdict,
    webhook,
)

NEW: tuple[Body, ...] = (service("new"), pod("n", "rs-2", "new"), endpoints("new", "n"))
"""A second Service with one ready pod."""

HOOK = "ValidatingWebhookConfiguration check"
PATH = f"serving path: {HOOK} [check.example.org]"
EARLY = "pointed too early"
NOTHING = "Service shop/web has no ready endpoints"

POINTED = (*SERVING, ours(api_service()))


def broken(first: tuple[Body, ...], *steps: Step, terms: Terms | None = None) -> list[str]:
    return told(verdict(first, *steps, terms=terms))


def test_a_cutover_to_a_service_that_serves_is_kept_and_to_one_that_does_not_is_broken() -> None:
    assert broken(POINTED, *NEW, ours(api_service("new"))) == []
    nothing = NOTHING.replace("web", "new")
    unready = (*NEW[:2], endpoints("new", "n", ready=False))
    assert broken(POINTED, *unready, ours(api_service("new"))) == [
        f"104 {EARLY}: APIService v1.example.org: pointed at Service shop/new, and {nothing}",
        f"104 serving path: APIService v1.example.org: {nothing}",
    ]


def test_the_least_of_a_new_path_is_told_from_where_it_stands_in_full() -> None:
    one, two = endpoints("new", "n"), endpoints("new", "n", "m")
    coming = (*NEW[:2], pod("m", "rs-2", "new"), one, two)

    def least(first: tuple[Body, ...], *steps: Step) -> tuple[int | None, int | None]:
        (path,) = (path for path in verdict(first, *steps).paths if path.name.startswith("Service shop/new"))
        return path.lowest, path.of

    assert least(SERVING, *coming) == (2, 2)
    assert least(SERVING, *coming, one, two) == (1, 2)
    assert least((*SERVING, *coming[:3], one), two) == (1, 2)


def test_an_api_service_answers_only_while_it_is_available() -> None:
    assert broken(POINTED, ours(api_service(available=False)), ours(api_service())) == [
        "101 serving path: APIService v1.example.org: APIService v1.example.org is not available: R m"
    ]
    waiting = (*SERVING, ours(api_service(available=False)))
    assert broken(waiting, ours(api_service(available=False))) == []


def test_an_api_service_that_the_server_serves_itself_needs_no_service() -> None:
    local = meta(api_service(service=None), labels=POINTED[-1]["metadata"]["labels"])
    retired = Terms(retired=frozenset(map(gone, SERVING)))
    assert broken(POINTED, local, gone(SERVING[2]), terms=retired) == []


def test_a_service_that_is_deleted_breaks_its_own_path_and_every_path_through_it() -> None:
    found = broken(tuple(map(ours, (*POINTED, webhook()))), gone(service()))
    assert found == [
        "101 serving path: APIService v1.example.org: Service shop/web is gone",
        "101 serving path: Service shop/web [port 80]: Service shop/web is gone",
        f"101 {PATH}: Service shop/web is gone",
    ]


def test_a_retired_service_may_go_when_no_pointer_leads_to_it() -> None:
    terms = Terms.between(by_id(service(), api_service()), by_id(service("new"), api_service("new")), ROUTES)
    first = tuple(map(ours, POINTED))
    assert broken(first, *NEW, ours(api_service("new")), gone(service()), terms=terms) == []
    assert broken(first, *NEW, gone(service()), ours(api_service("new")), terms=terms) == [
        "104 serving path: APIService v1.example.org: Service shop/web is gone"
    ]


def test_a_retired_pointer_goes_before_what_it_leads_to() -> None:
    terms = Terms.between(by_id(service(), webhook()), {}, ROUTES)
    first = tuple(map(ours, (*SERVING, webhook())))
    assert broken(first, gone(webhook()), gone(service()), terms=terms) == []
    assert broken(first, gone(service()), gone(webhook()), terms=terms) == [
        f"101 {PATH}: Service shop/web is gone"
    ]


def test_a_pointer_that_nobody_retires_stays() -> None:
    first = tuple(map(ours, (*SERVING, webhook())))
    assert broken(first, gone(webhook())) == [f"101 {PATH}: {HOOK} is gone"]
    without: Body = {**ours(webhook()), "webhooks": []}
    assert broken(first, without) == [f"101 {PATH}: {HOOK} has lost check.example.org"]
    assert broken(first, without, terms=Terms.between(by_id(webhook()), by_id(without), ROUTES)) == []


def test_a_port_that_goes_is_broken_for_its_callers_and_a_new_name_of_it_is_not() -> None:
    both = (ours(service("web", 80, 443)), ours(endpoints("web", "a", "b", ports=(80, 443))))
    first = (*SERVING[:2], *both, *SERVING[3:5])
    assert broken(first, ours(service("web", 80))) == [
        "101 serving path: Service shop/web [port 443]: Service shop/web has lost port 443"
    ]
    terms = Terms.between(by_id(service("web", 80, 443)), by_id(service("web", 80)), ROUTES)
    assert broken(first, ours(service("web", 80)), terms=terms) == []
    assert broken(first, ours(endpoints("web", "a", "b", ports=(443,)))) == [
        "101 serving path: Service shop/web [port 80]: Service shop/web has no ready endpoints"
    ]


def test_endpoints_count_once_and_only_with_their_pod() -> None:
    stale = endpoints("web", "a")
    assert broken((*SERVING, pod("c")), stale, gone(pod("a")), endpoints("web", "b")) == [
        "102 serving path: Service shop/web [port 80]: Service shop/web has no ready endpoints"
    ]
    # A pod that drains still answers; the slice tells when it is out.
    assert broken(SERVING, stale, deleting(pod("a")), endpoints("web", "b"), gone(pod("a"))) == []
    twin = {**endpoints("web", "a", "b"), "metadata": {**stale["metadata"], "name": "web-6", "uid": "6"}}
    assert verdict((*SERVING, twin)).paths[0].of == 2
    anew = meta(pod("a"), uid="another")
    assert broken(SERVING, stale, anew) == [
        "102 serving path: Service shop/web [port 80]: Service shop/web has no ready endpoints"
    ]


def test_endpoints_without_pods_and_without_a_ready_condition_count() -> None:
    by_hand = endpoints("web")
    by_hand["endpoints"] = [{"addresses": ["192.0.2.1"]}]
    first = (service(), by_hand)
    assert verdict(first).paths[0].of == 1
    assert broken(first, endpoints("web")) == [
        "101 serving path: Service shop/web [port 80]: Service shop/web has no ready endpoints"
    ]


def test_a_path_is_held_to_the_smaller_of_what_it_had_and_what_is_asked() -> None:
    two = Terms(minimum=2)
    one = endpoints("web", "a")
    assert broken(SERVING, one, terms=two) == [
        "101 serving path: Service shop/web [port 80]: 1 ready endpoints where 2 are asked (it had 2)"
    ]
    assert broken(SERVING, one) == []
    grown = (*SERVING[:5], one, *SERVING[6:])
    assert broken(grown, endpoints("web", "a"), terms=two) == []
    assert len(broken(grown, endpoints("web", "a", "b"), one, terms=two)) == 1


def test_what_never_served_is_held_to_nothing_but_its_first_write() -> None:
    idle = (service(), endpoints("web"))
    assert broken(idle, gone(endpoints("web"))) == []
    assert broken(idle, ours(webhook())) == [
        f"101 {EARLY}: {HOOK} [check.example.org]: pointed at Service shop/web, and {NOTHING}"
    ]
    # Somebody else's pointer is theirs, and a rewrite that moves nothing is no pointing.
    assert broken(idle, webhook(), meta(ours(webhook()), generation=2)) == []


def test_a_path_that_comes_to_serve_later_is_held_from_then_on() -> None:
    idle = (*SERVING[:2], service(), pod("a"), endpoints("web"))
    found = verdict(idle, endpoints("web", "a"), endpoints("web"))
    assert told(found) == [
        "102 serving path: Service shop/web [port 80]: Service shop/web has no ready endpoints"
    ]


def ingress(*hosts: tuple[str, str, str], default: str = "") -> Body:
    rules = [
        {"host": host, "http": {"paths": [{"path": path, "backend": _backend(to)}]}}
        for host, path, to in hosts
    ]
    spec: Body = {"rules": rules} | ({"defaultBackend": _backend(default)} if default else {})
    return ours(obj("networking.k8s.io/v1", "Ingress", "web", "shop", spec=spec))


def _backend(name: str) -> Body:
    return {"service": {"name": name, "port": {"number": 80}}}


def test_each_host_and_path_of_an_ingress_is_a_path_of_its_own() -> None:
    first = (*SERVING, ingress(("a.test", "/", "web"), ("b.test", "/x", "web"), default="web"))
    assert [path.name for path in verdict(first).paths] == [
        "Service shop/web [port 80]",
        "Ingress shop/web [a.test /]",
        "Ingress shop/web [b.test /x]",
        "Ingress shop/web [defaultBackend]",
    ]
    assert broken(first, ingress(("b.test", "/x", "web"), ("a.test", "/", "web"), default="web")) == []
    assert broken(first, ingress(("a.test", "/", "web"), default="web")) == [
        "101 serving path: Ingress shop/web [b.test /x]: Ingress shop/web has lost b.test /x"
    ]
    assert broken(first, ingress(("a.test", "/", "web"), ("b.test", "/x", "web"))) == [
        "101 serving path: Ingress shop/web [defaultBackend]: Ingress shop/web has lost defaultBackend"
    ]


def crd(*versions: str, webhook_to: str = "", established: str = "True") -> Body:
    conversion: Body = {"strategy": "None"}
    if webhook_to:
        config = {"service": {"namespace": "shop", "name": webhook_to, "port": 80}, "caBundle": "Q0E="}
        conversion = {"strategy": "Webhook", "webhook": {"clientConfig": config}}
    conditions = [{"type": "NamesAccepted", "status": "True"}, {"type": "Established", "status": established}]
    return ours(
        obj(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            "widgets.example.org",
            spec={"versions": [{"name": v, "served": True} for v in versions], "conversion": conversion},
            status={"conditions": conditions},
        )
    )


def test_a_served_version_stays_served_and_a_conversion_stays_answered() -> None:
    first = (*SERVING, crd("v1beta1", "v1", webhook_to="web"))
    name = "CustomResourceDefinition widgets.example.org"
    assert broken(first, crd("v1", webhook_to="web")) == [
        f"101 serving path: {name} [version v1beta1]: {name} has lost version v1beta1"
    ]
    assert broken(first, crd("v1beta1", "v1")) == []
    # Without endpoints for conversion the API still answers in the stored version.
    assert broken(first, endpoints("web"))[:1] == [
        f"101 serving path: {name}: Service shop/web has no ready endpoints"
    ]
    assert len(broken(first, crd("v1beta1", "v1", webhook_to="web", established="False"))) == 3


def autoscaler(target: str) -> Body:
    ref = {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}
    return ours(obj("autoscaling/v2", "HorizontalPodAutoscaler", "web", "shop", spec={"scaleTargetRef": ref}))


def test_an_autoscaler_keeps_its_target() -> None:
    web, other = (ours(obj("apps/v1", "Deployment", name, "shop")) for name in ("web", "other"))
    first = (web, other, autoscaler("web"))
    assert broken(first, autoscaler("other"), gone(web)) == []
    assert broken(first, gone(web)) == [
        "101 serving path: HorizontalPodAutoscaler shop/web: Deployment shop/web is gone"
    ]


def test_an_autoscaler_waits_while_the_replica_sets_of_its_deployment_run_on() -> None:
    web, beside = (ours(obj("apps/v1", "Deployment", name, "shop")) for name in ("web", "beside"))
    told = ["serving path: HorizontalPodAutoscaler shop/web: Deployment shop/web is gone"]

    def left(name: str, hashed: str, replicas: int = 2, **metadata: Any) -> Body:
        labels = {"pod-template-hash": hashed}
        made = obj("apps/v1", "ReplicaSet", name, "shop", spec={"replicas": replicas})
        return {**made, "metadata": {**made["metadata"], "labels": labels, **metadata}}

    assert broken((web, beside, autoscaler("web"), left("web-5f7", "5f7")), gone(web)) == []
    owner = [{"kind": "Deployment", "name": "web", "uid": "u", "controller": True}]
    for other in (
        left("web-5f7", "5f7", ownerReferences=owner),
        left("web-api-5f7", "5f7"),
        left("web-5f7", "5f7", replicas=0),
    ):
        found = broken((web, beside, autoscaler("web"), other), gone(web))
        assert [one.partition(" ")[2] for one in found] == told


def test_a_path_whose_downtime_was_announced_may_be_interrupted() -> None:
    path = Path(gone(service()), "port 80")
    assert broken(SERVING, endpoints("web"), terms=Terms(interrupted=frozenset({path}))) == []
    assert len(broken(SERVING, endpoints("web"), terms=Terms())) == 1


def test_a_kind_that_is_retired_may_take_its_time_to_end() -> None:
    versions = [{"name": "v1", "served": True, "storage": True}]
    spec = {"group": "example.org", "names": {"kind": "Widget", "plural": "widgets"}, "versions": versions}
    kind = obj("apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets.example.org", spec=spec)
    kind["status"] = {"conditions": [{"type": "Established", "status": "True"}]}
    given_up = Terms.between(by_id(kind), {}, ROUTES)
    assert broken((kind,), deleting(kind), gone(kind), terms=given_up) == []
    assert broken((kind,), deleting(kind), gone(kind)) != []
