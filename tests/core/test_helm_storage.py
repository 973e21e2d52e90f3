"""Helm's records: which one counts, and what cannot be read of one says nothing of what it holds."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest

from agent.core.helm_storage import Release, manifest_in, newest, release_of
from tests.core.casefiles import live_object

MANIFEST = "kind: ConfigMap\n"
CONTENT = json.dumps({"manifest": MANIFEST}).encode()


def record(data: bytes, kind: str = "Secret", version: str = "1") -> dict[str, Any]:
    encoded = base64.b64encode(data)
    text = base64.b64encode(encoded) if kind == "Secret" else encoded
    return {"kind": kind, "metadata": {"labels": {"version": version}}, "data": {"release": text.decode()}}


@pytest.mark.parametrize("kind", ["Secret", "ConfigMap"])
@pytest.mark.parametrize("data", [gzip.compress(CONTENT), CONTENT], ids=["packed", "as-helm-2-did"])
def test_manifest_of_a_record(kind: str, data: bytes) -> None:
    assert manifest_in(record(data, kind)) == MANIFEST


@pytest.mark.parametrize(
    "broken",
    [
        record(b"\x1f\x8bmarker"),
        record(b"marker"),
        record(b'["marker"]'),
        record(b'{"manifest": ["marker"]}'),
        {"kind": "Secret", "data": {"release": "marker!"}},
        {"kind": "Secret"},
    ],
)
def test_what_is_no_record_is_told_without_its_content(broken: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="cannot be read") as error:
        manifest_in(broken)
    assert "marker" not in str(error.value)


def test_highest_version_counts_as_a_number() -> None:
    records = [record(CONTENT, version=version) for version in ("9", "10", "x")]
    assert newest(records) == records[1]
    assert newest([]) is None


@pytest.mark.parametrize(
    ("manager", "operation", "annotations", "release"),
    [
        ("helm", "Update", ("shop", "app"), Release("app", "shop")),
        ("helm", "Apply", ("shop", "app"), None),
        ("kubectl", "Update", ("shop", "app"), None),
        ("helm", "Update", (), None),
    ],
)
def test_release_of_an_object_that_a_predecessor_updated(
    manager: str, operation: str, annotations: tuple[str, ...], release: Release | None
) -> None:
    keys = ("meta.helm.sh/release-name", "meta.helm.sh/release-namespace")
    entry = {"manager": manager, "operation": operation, "fieldsV1": {"f:data": {}}}
    metadata = {
        "name": "a",
        "namespace": "n",
        "annotations": dict(zip(keys, annotations, strict=False)),
        "managedFields": [entry],
    }
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    assert release_of(live_object(body), {"helm"}) == release
