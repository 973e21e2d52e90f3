"""The same upgrade in the orders of other tools: what they write when, and what becomes of the promise."""

from __future__ import annotations

import pytest

from agent.core.orders import Order
from tests.shell.job import Job
from tests.shell.judged import SETTLED, Judged
from tests.shell.releases import CONFIG, binding, ingress, namespace, server, web

SLOW = "standin.dev/ready-after: '8'"
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: books.library.example}
spec:
  group: library.example
  scope: Namespaced
  names: {kind: Book, plural: books, singular: book}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
"""
BOOK = """\
apiVersion: library.example/v1
kind: Book
metadata: {name: dune, namespace: shelf}
"""


def written(order: Order, *texts: str) -> list[str]:
    """The steps of a first release, in the order in which they were written."""
    job = Job()
    job.release(*texts)
    return [key.removeprefix("create ") for key in job.run(order=order)]


def test_helm_writes_by_its_list_of_kinds() -> None:
    assert written(Order.HELM, CRD, BOOK, namespace("shelf"), CONFIG % "red", binding("shelf")) == [
        "Namespace shelf",
        "ConfigMap default/settings",
        "CustomResourceDefinition books.library.example",
        "ClusterRoleBinding api-storage",
        "Book.library.example shelf/dune",
    ]


def test_kubectl_writes_the_namespaces_and_then_file_by_file() -> None:
    assert written(Order.KUBECTL, CRD, BOOK, CONFIG % "red", binding("shelf"), namespace("shelf")) == [
        "Namespace shelf",
        "CustomResourceDefinition books.library.example",
        "Book.library.example shelf/dune",
        "ConfigMap default/settings",
        "ClusterRoleBinding api-storage",
    ]
    job = Job(allow=frozenset({"Namespace"}))
    job.release(namespace("zoo"), binding("zoo"), CONFIG % "red")
    job.run()
    job.release(CONFIG % "red")
    assert job.run(order=Order.KUBECTL) == ["delete Namespace zoo", "delete ClusterRoleBinding api-storage"]


@pytest.mark.parametrize(("order", "first"), [(Order.HELM, "zoo"), (Order.FLUX, "arc")])
def test_within_a_kind_helm_goes_by_the_files_and_flux_by_the_names(order: Order, first: str) -> None:
    places = written(order, namespace("zoo"), namespace("arc"))
    assert places[0] == f"Namespace {first}"
    job = Job(allow=frozenset({"Namespace"}))
    job.release(namespace("zoo"), namespace("arc"), CONFIG % "red")
    job.run()
    job.release(CONFIG % "red")
    gone = job.run(order=order)
    # Flux deletes from the last to the first.
    assert gone[0] == "delete Namespace zoo"


def test_flux_writes_by_stages() -> None:
    assert written(Order.FLUX, CRD, BOOK, namespace("shelf"), CONFIG % "red", binding("shelf")) == [
        "CustomResourceDefinition books.library.example",
        "Namespace shelf",
        "ClusterRoleBinding api-storage",
        "ConfigMap default/settings",
        "Book.library.example shelf/dune",
    ]


def test_flux_waits_for_its_first_stage() -> None:
    job = Job()
    job.release(CRD, BOOK, namespace("shelf"))
    job.syncer.tick(Order.FLUX)
    assert job.written == ["create CustomResourceDefinition books.library.example", "create Namespace shelf"]
    (step,) = job.syncer.plan(Order.FLUX).steps
    assert [gate.name for gate in step.closed_gates] == ["stage"]
    assert "CustomResourceDefinition books.library.example" in step.closed_gates[0].reason


@pytest.mark.parametrize(
    ("order", "broken"),
    [
        (Order.GATED, set()),
        (Order.NAIVE, {"serving path", "pointed too early"}),
        (Order.HELM, {"serving path", "pointed too early"}),
        (Order.FLUX, {"serving path", "pointed too early"}),
    ],
    ids=lambda value: value.value if isinstance(value, Order) else "",
)
def test_an_ingress_that_moves_to_what_is_not_ready(order: Order, broken: set[str]) -> None:
    blue, green = web("blue"), web("green", knobs=SLOW)
    judged = Judged(
        (namespace("front"), blue, ingress("front/blue")), (namespace("front"), green, ingress("front/green"))
    )
    judged.job.run(order=order)
    judged.job.world.advance(SETTLED)
    assert {one.invariant for one in judged.verdict().broken} == broken


@pytest.mark.parametrize("order", [Order.HELM, Order.FLUX], ids=lambda order: order.value)
def test_a_subject_that_moves_loses_the_old_pods_their_rights(order: Order) -> None:
    judged = Judged(
        (namespace("old"), namespace("new"), server("old"), binding("old")),
        (namespace("old"), namespace("new"), server("new", knobs=SLOW), binding("new")),
    )
    judged.job.run(order=order)
    assert "rights of a running pod" in {one.invariant for one in judged.verdict().broken}


def test_what_is_gone_is_deleted_in_the_order_of_the_tool() -> None:
    release = (namespace("front"), web("blue"), CONFIG % "red")
    found = {}
    for order in (Order.HELM, Order.FLUX):
        job = Job()
        job.release(*release)
        job.run()
        job.release(namespace("front"))
        found[order] = [key.removeprefix("delete ") for key in job.run(order=order)]
    gone = ["ConfigMap default/settings", "Service front/blue", "Deployment front/blue"]
    assert found == {Order.HELM: gone, Order.FLUX: gone[::-1]}
