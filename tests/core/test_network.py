"""NetworkPolicies as objects: whom their rules let in to a pod, and whom nobody lets in any more."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.model import Body, ObjectId
from agent.core.network import Door, doors, is_shut

POD: Body = {
    "metadata": {"name": "web-0", "namespace": "shop", "labels": {"app": "web"}},
    "spec": {"containers": [{"name": "web", "ports": [{"name": "http", "containerPort": 8080}]}]},
}
SERVICE = ObjectId("", "Service", "shop", "web")
DOOR = Door(SERVICE, ObjectId("", "Pod", "shop", "web-0"), 8080, "TCP")


def policy(*rules: Body, namespace: str = "shop", selector: Body | None = None, **spec: Any) -> Body:
    body = {"podSelector": selector or {}, "ingress": list(rules), **spec}
    return {"metadata": {"name": "one", "namespace": namespace}, "spec": body}


def ports(*rows: Body) -> Body:
    return {"ports": list(rows)}


FROM_WEB: Body = {"from": [{"podSelector": {"matchLabels": {"app": "front"}}}]}


@pytest.mark.parametrize(
    ("policies", "shut"),
    [
        ((), False),
        ((policy(),), True),
        ((policy({}),), False),
        ((policy(FROM_WEB),), False),
        ((policy(selector={"matchLabels": {"app": "db"}}),), False),
        ((policy(namespace="other"),), False),
        ((policy(policyTypes=["Egress"]),), False),
        ((policy(policyTypes=["Ingress", "Egress"]),), True),
        ((policy(egress=[{}]),), True),
        ((policy(ports({"port": 8080})),), False),
        ((policy(ports({"port": 443})),), True),
        ((policy(ports({"port": 443}, {"port": 8080})),), False),
        ((policy(ports({"port": 8080, "protocol": "UDP"})),), True),
        ((policy(ports({"protocol": "TCP"})),), False),
        ((policy(ports({"port": "http"})),), False),
        ((policy(ports({"port": "metrics"})),), True),
        ((policy(ports({"port": 8000, "endPort": 9000})),), False),
        ((policy(ports({"port": 9000, "endPort": 9100})),), True),
        ((policy(), policy(FROM_WEB)), False),
        ((policy(ports({"port": 443})), policy(ports({"port": 53}))), True),
    ],
)
def test_a_pod_is_shut_where_policies_select_it_and_no_rule_lets_anybody_in(
    policies: tuple[Body, ...], *, shut: bool
) -> None:
    assert is_shut(DOOR, POD, policies) is shut


def test_what_runs_in_the_network_of_its_node_is_no_policys_business() -> None:
    assert not is_shut(DOOR, {**POD, "spec": {**POD["spec"], "hostNetwork": True}}, [policy()])


def test_the_doors_of_a_service_are_the_ports_of_its_ready_pods() -> None:
    ready = {"targetRef": {"kind": "Pod", "name": "web-0"}, "conditions": {"ready": True}}
    slices = [
        {
            "endpoints": [
                ready,
                {"targetRef": {"kind": "Pod", "name": "web-1"}, "conditions": {"ready": False}},
                {"addresses": ["192.0.2.1"], "conditions": {"ready": True}},
            ],
            "ports": [{"port": 8080}, {"port": 53, "protocol": "UDP"}, {"name": "any"}],
        }
    ]
    assert list(doors(SERVICE, slices)) == [DOOR, DOOR._replace(port=53, protocol="UDP")]
