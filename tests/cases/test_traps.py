"""The known traps of comparing, numbered as in lists of them, each with the tests that hold it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.core.casefiles import names

CORE = Path(__file__).parents[1] / "core"
TRAPS: dict[str, tuple[str, ...]] = {
    "1 quantities": ("quantity-in-two-spellings", "text-that-looks-like-a-quantity"),
    "2 number or text": ("port-by-number-and-by-text",),
    "3 defaults": ("server-defaults-are-no-drift", "explicit-default-and-another-value"),
    "4 stringData": ("string-data-is-folded", "test_manifests.test_findings_tell_no_secret"),
    "5 nulls": ("nulls-are-absent",),
    "6 empty or absent": ("empty-is-absent-where-it-means-nothing", "empty-selector-means-everything"),
    "7 merge keys": ("duplicate-env-name", "ingress-path-added", "order-that-means-something"),
    "8 protocol of a port": ("port-without-protocol",),
    "9 last-applied": ("metadata-of-the-server",),
    "10 aggregated roles": ("rules-of-an-aggregated-role",),
    "11 caBundle": ("ca-bundle-filled-by-a-controller", "ca-bundle-in-git-wins"),
    "12 status": ("status-is-never-compared",),
    "13 metadata": ("metadata-of-the-server", "finalizers-of-others-stay"),
    "14 definitions": ("definition-comes-back-filled",),
    "15 injected content": ("sidecar-injected-by-a-webhook",),
    "16 autoscalers": (
        "metrics-in-another-order",
        "test_scaling.test_replicas_of_the_autoscaler_are_no_change",
    ),
    "17 Services": ("allocated-fields-of-a-service",),
    "18 controllers": ("claim-that-is-bound",),
    "19 versions and groups": ("name-and-version-are-identity", "test_identity"),
    "20 endpoints": ("endpoints-in-another-order",),
    "21 roleRef": ("test_classify.test_facets_and_category",),
    "22 texts": ("trailing-newline-counts",),
    "23 numbers": ("whole-floats-are-integers", "true-and-one-differ", "big-integers-keep-every-digit"),
    "24 our own labels": ("own-labels-are-no-drift",),
    "25 one object twice": ("test_manifests.test_different_copies_refuse_the_set_in_any_order_of_files",),
    "26 namespaces": ("test_manifests",),
    "27 documents": ("test_yamlread",),
    "28 label values": ("test_manifests.test_object_refused",),
    "29 ownership": ("field-of-somebody-else-stays", "field-that-our-manager-owns-goes"),
}


def test_all_of_them_stand_here() -> None:
    assert [int(trap.split()[0]) for trap in TRAPS] == list(range(1, 30))


@pytest.mark.parametrize("trap", TRAPS)
def test_trap_is_held_by_a_test(trap: str) -> None:
    cases = set(names("diff"))
    missing = [test for test in TRAPS[trap] if test not in cases and not _is_test(test)]
    assert missing == []


def _is_test(name: str) -> bool:
    module, _, function = name.partition(".")
    file = CORE / f"{module}.py"
    if not file.is_file():
        return False
    nodes = ast.parse(file.read_text(encoding="utf-8")).body
    return not function or function in {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
