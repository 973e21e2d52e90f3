"""A Secret that is refused shows nothing of what it holds (argoproj/argo-cd#16193, CVE-2025-23216)."""

from __future__ import annotations

import traceback
from typing import Any

import pytest

from agent.errors import Conflict, Invalid
from tests.contract.bench import Bench, named

MARKER = "MARKER-7f3a"


def secret(**fields: Any) -> dict[str, Any]:
    return named("v1", "Secret", "s", "shop", **fields)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"data": {"password": f"{MARKER}-not-base64!"}}, "illegal base64 data"),
        ({"stringData": {"password": f"{MARKER}-clear", "port": 5432}}, r"stringData\.port"),
        ({"stringData": {"password": {"nested": MARKER}}}, r"stringData\.password"),
        ({"stringData": {"ok": MARKER, "not a key": MARKER}}, r"data\[not a key\]"),
        (
            {"type": "kubernetes.io/tls", "stringData": {"password": MARKER}},
            r"data\[tls\.crt\], data\[tls\.key\]",
        ),
    ],
    ids=["not base64", "number", "map", "bad key", "missing key"],
)
@pytest.mark.parametrize("verb", ["apply", "dry_run"])
def test_an_invalid_secret_is_refused_by_key_and_without_its_content(
    server: Bench, verb: str, fields: dict[str, Any], told: str
) -> None:
    with pytest.raises(Invalid, match=f"Secret shop/s.*{told}") as caught:
        getattr(server, verb)(secret(**fields))
    assert MARKER not in str(caught.value)
    assert MARKER not in "".join(traceback.format_exception(caught.value))


def test_a_conflict_over_a_secret_names_managers_only(bench: Bench) -> None:
    bench.apply(secret(data={"password": "TUFSS0VS"}), "kubectl")
    with pytest.raises(Conflict) as caught:
        bench.apply(secret(data={"password": "b3RoZXI="}))
    assert caught.value.managers == ("kubectl",)
    assert all(text not in str(caught.value) for text in ("TUFSS0VS", "b3RoZXI"))
    assert "kubectl" in str(caught.value)


def test_an_immutable_secret_says_so(bench: Bench) -> None:
    bench.apply({**secret(stringData={"password": "1"}), "immutable": True})
    with pytest.raises(Invalid) as caught:
        bench.apply({**secret(stringData={"password": MARKER}), "immutable": True})
    assert caught.value.is_immutable
    assert MARKER not in str(caught.value)
