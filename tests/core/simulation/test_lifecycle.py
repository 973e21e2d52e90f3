"""What goes with what: owners, finalizers, namespaces, kinds."""

from __future__ import annotations

import pytest

from agent.core.model import Body, ObjectId
from agent.core.simulation.draft import Draft
from agent.core.simulation.requests import apply
from agent.core.simulation.world import id_of
from agent.errors import NotFound, NotServed, Rejected, Unreachable
from tests.core.simulation.lab import MANAGER, RBAC, Lab, named, service, template, workload

OPEN = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
CRD = named(
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
    "gadgets.example.dev",
    spec={
        "group": "example.dev",
        "scope": "Namespaced",
        "names": {"kind": "Gadget", "plural": "gadgets"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": OPEN}],
    },
)
GADGET = named("example.dev/v1", "Gadget", "one", "shop", spec={"size": 1})
SHOP = named("v1", "Namespace", "shop")


# https://kubernetes.io/docs/concepts/architecture/garbage-collection/#background-deletion
def test_what_an_object_owns_goes_with_it() -> None:
    lab = Lab()
    web = workload("Deployment", template(), replicas=2)
    lab.apply(web, service())
    lab.advance(3)
    lab.delete(id_of(web))
    lab.delete(id_of(service()))
    lab.advance(5)
    kinds = (("apps", "ReplicaSet"), ("", "Pod"), ("discovery.k8s.io", "EndpointSlice"))
    left = [key for kind in kinds for key in lab.world.of(*kind) if key.namespace == "shop"]
    assert left == []


def test_an_owner_is_its_uid_and_not_its_name() -> None:
    lab = Lab()
    owner = named("v1", "ConfigMap", "owner", "shop")
    uid = lab.apply(owner)["metadata"]["uid"]
    owned = named("v1", "ConfigMap", "owned", "shop")
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid}
    owned["metadata"]["ownerReferences"] = [reference]
    lab.apply(owned)
    lab.delete(id_of(owner))
    lab.apply(owner)
    lab.advance(0)
    assert lab.world.get(id_of(owned)) is None
    assert lab.world.get(id_of(owner)) is not None


# https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/
def test_a_finalizer_keeps_an_object_until_it_is_taken_away() -> None:
    lab = Lab()
    held = named("v1", "ConfigMap", "held", "shop")
    held["metadata"]["finalizers"] = ["example.dev/wait"]
    lab.apply(held)
    lab.delete(id_of(held))
    lab.advance(60)
    assert "deletionTimestamp" in lab.get(held)["metadata"]
    lab.apply(named("v1", "ConfigMap", "held", "shop"))
    assert lab.world.get(id_of(held)) is None


# https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/
def test_a_namespace_takes_all_that_is_in_it_and_nothing_new_comes_meanwhile() -> None:
    lab = Lab()
    lab.apply(workload("Deployment", template(slow_stop="5")), service())
    lab.advance(3)
    lab.delete(id_of(SHOP))
    with pytest.raises(Rejected, match="being terminated"):
        lab.apply(named("v1", "ConfigMap", "late", "shop"))
    lab.advance(2)
    assert lab.condition(SHOP, "NamespaceContentRemaining")[0] == "True"
    lab.advance(5)
    assert not [key for key in lab.world.objects() if "shop" in (key.namespace, key.name)]
    with pytest.raises(NotFound, match="shop"):
        lab.apply(service())


# kubernetes/kubernetes pkg/controller/namespace/deletion: a group that cannot be asked what it holds blocks.
def test_a_namespace_does_not_go_while_an_api_service_is_down() -> None:
    lab = Lab()
    ref = {"name": "web", "namespace": "default"}
    spec = {
        "group": "down.dev",
        "version": "v1",
        "groupPriorityMinimum": 1,
        "versionPriority": 1,
        "service": ref,
    }
    down = named("apiregistration.k8s.io/v1", "APIService", "v1.down.dev", spec=spec)
    lab.apply(down, service())
    lab.advance(5)
    lab.delete(id_of(SHOP))
    lab.advance(600)
    assert lab.condition(SHOP, "NamespaceDeletionDiscoveryFailure") == ("True", "DiscoveryFailed")
    assert lab.world.get(id_of(service())) is None
    lab.delete(id_of(down))
    lab.advance(5)
    assert lab.world.get(id_of(SHOP)) is None


# https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
def test_a_custom_kind_is_served_once_established_and_its_objects_go_with_it() -> None:
    lab = Lab()
    lab.apply(CRD)
    with pytest.raises(NotServed):
        lab.apply(GADGET)
    lab.advance(1)
    assert lab.status(CRD, "storedVersions") == ["v1"]
    lab.apply(GADGET)
    assert lab.world.get(ObjectId("apiregistration.k8s.io", "APIService", "", "v1.example.dev")) is not None
    lab.delete(id_of(CRD))
    lab.advance(1)
    assert lab.world.get(id_of(CRD)) is None
    assert lab.world.get(id_of(GADGET)) is None
    assert lab.world.get(ObjectId("apiregistration.k8s.io", "APIService", "", "v1.example.dev")) is None


def test_an_object_that_holds_on_holds_its_kind() -> None:
    lab = Lab()
    lab.apply(CRD)
    lab.advance(1)
    held: Body = {**GADGET, "metadata": {**GADGET["metadata"], "finalizers": ["example.dev/wait"]}}
    lab.apply(held)
    lab.delete(id_of(CRD))
    lab.advance(60)
    lab.apply(GADGET)
    lab.advance(0)
    assert lab.world.get(id_of(CRD)) is None


# https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles
def test_an_aggregated_role_has_the_rules_of_those_that_it_selects() -> None:
    lab = Lab()
    part = named(
        f"{RBAC}/v1",
        "ClusterRole",
        "part",
        rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
    )
    part["metadata"]["labels"] = {"team": "web"}
    whole = named(f"{RBAC}/v1", "ClusterRole", "whole")
    whole["aggregationRule"] = {"clusterRoleSelectors": [{"matchLabels": {"team": "web"}}]}
    lab.apply(whole, part)
    lab.advance(0)
    assert lab.get(whole)["rules"] == part["rules"]
    lab.delete(id_of(part))
    lab.advance(0)
    assert not lab.get(whole).get("rules")


def test_a_request_that_fails_leaves_no_trace() -> None:
    lab = Lab()
    before = lab.world
    for body in (named("v1", "ConfigMap", "x", "nowhere"), GADGET):
        with pytest.raises((NotFound, NotServed, Unreachable)):
            apply(Draft(before), body, MANAGER)
    assert lab.world is before
    assert lab.world.version == before.version


# https://kubernetes.io/docs/concepts/storage/persistent-volumes/#storage-object-in-use-protection
def test_a_claim_that_a_pod_uses_goes_after_the_pod() -> None:
    lab = Lab()
    claim = named("v1", "PersistentVolumeClaim", "data", "shop", spec={"accessModes": ["ReadWriteOnce"]})
    pods = template()
    pods["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    web = workload("Deployment", pods)
    lab.apply(claim, web)
    lab.advance(3)
    lab.delete(id_of(claim))
    lab.advance(60)
    assert "deletionTimestamp" in lab.get(claim)["metadata"]
    lab.delete(id_of(web))
    lab.advance(5)
    assert lab.world.get(id_of(claim)) is None
