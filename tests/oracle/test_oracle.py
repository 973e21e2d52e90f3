"""Recorded answers of kubectl 1.32.4, beside the checkout; the value or the refusal must be the same."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agent.build import kinds_of
from agent.core import manifests
from agent.core.kinds import Kinds
from agent.core.model import Severity
from agent.core.yamlread import read_documents
from tests.oracle.comparing import decoded, typed
from tests.oracle.deviations import FOUND

ORACLE = Path(__file__).parents[3] / "shared" / "yaml-oracle"

pytestmark = pytest.mark.skipif(not ORACLE.is_dir(), reason="the oracle is not beside the checkout")


def scalars() -> list[dict[str, Any]]:
    if not ORACLE.is_dir():
        return []
    found: list[dict[str, Any]] = json.loads((ORACLE / "scalars.json").read_text())
    return found


def documents() -> list[str]:
    return sorted(path.stem for path in (ORACLE / "docs").glob("*.yaml"))


def only(text: str) -> tuple[Any, bool]:
    reading = read_documents(text.encode(), "scalar.yaml")
    is_refused = any(finding.severity is Severity.OBJECT for finding in reading.findings)
    return (None if is_refused else reading.documents[0].body["spec"]), is_refused


@cache
def _kinds() -> Kinds:
    return kinds_of()


@pytest.mark.parametrize("row", scalars(), ids=lambda row: repr(row["scalar"]))
def test_scalar_as_value(row: dict[str, Any]) -> None:
    spec, is_refused = only(f"spec:\n  v: {row['scalar']}\n")
    word, expected = row["kubectl"]
    assert is_refused == (word != "OK")
    assert is_refused or typed(spec) == {"v": typed(expected)}


@pytest.mark.parametrize("row", scalars(), ids=lambda row: repr(row["scalar"]))
def test_scalar_as_key(row: dict[str, Any]) -> None:
    spec, is_refused = only(f"spec:\n  {row['scalar']}: x\n")
    word, expected = row["as_key"]
    assert is_refused == (word != "OK")
    assert is_refused or (sorted(spec) if isinstance(spec, dict) else spec) == expected


@pytest.mark.parametrize("name", documents())
def test_document(name: str) -> None:
    answer = json.loads((ORACLE / "docs" / f"{name}.kubectl.json").read_text())
    reading = read_documents((ORACLE / "docs" / f"{name}.yaml").read_bytes(), f"{name}.yaml")
    files = {f"{name}.yaml": reading}
    desired = manifests.load(files, _kinds(), set_name="web", revision="1", namespace="")
    faults = [finding for finding in desired.findings if finding.severity is not Severity.WARNING]
    assert bool(faults) == (answer["rc"] != 0 or (name in FOUND and name != "crd-list-items-maps"))
    if answer["rc"] == 0 and name != "crd-list-items-maps":
        assert [decoded(document.body) for document in reading.documents] == [
            decoded(body) for body in answer["objects"]
        ]


def test_a_named_list_is_an_object() -> None:
    """Kubectl makes a nameless ``Allow`` of each item, see deviations."""
    data = (ORACLE / "docs" / "crd-list-items-maps.yaml").read_bytes()
    (document,) = read_documents(data, "list.yaml").documents
    assert document.body["kind"] == "AllowList"
