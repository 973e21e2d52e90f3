"""Refusals at the wire: each is its own error, and none shows what a Secret holds."""

from __future__ import annotations

from typing import Any

import pytest

from agent.errors import (
    ClusterError,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    NotServed,
    Rejected,
    Unreachable,
)
from agent.shell.kube import KubeCluster
from tests.shell.kinds import MAPS, SECRETS, WEB_BODY, WEB_PATH
from tests.shell.wire import Answer, Wire, status

MANAGED = [
    {"reason": "FieldManagerConflict", "message": 'conflict with "kubectl" using v1', "field": ".data.a"},
    {"reason": "FieldManagerConflict", "message": 'conflict with "he\\"lm" using v1', "field": ".data.b"},
]
IMMUTABLE = [
    {"reason": "FieldValueInvalid", "message": "Invalid value: {}: field is immutable", "field": "s"}
]
MIXED = [*IMMUTABLE, {"reason": "FieldValueRequired", "message": "Required value", "field": "spec.x"}]
HOOK = 'admission webhook "guard.shop.dev" denied the request: no'
DOWN = 'Internal error occurred: failed calling webhook "guard.shop.dev": Post "https://x": no endpoints'
RBAC = 'configmaps is forbidden: User "bob" cannot patch resource "configmaps" in API group ""'
GRANT = 'roles "r" is forbidden: user "bob" (groups=["x"]) is attempting to grant RBAC permissions'
OTHER_UID = [{"reason": "FieldValueInvalid", "message": "field is immutable", "field": "metadata.uid"}]
QUOTA = 'configmaps "web" is forbidden: exceeded quota: q, requested: count=1, used: 1, limited: 1'


@pytest.mark.parametrize(
    ("answer", "error", "told"),
    [
        (status(409, "Conflict", "conflicts", causes=MANAGED), Conflict, {"managers": ('he"lm', "kubectl")}),
        (status(409, "Conflict", "object has been modified"), Conflict, {"managers": ()}),
        (status(409, "AlreadyExists", "already exists"), Conflict, {"already_exists": True}),
        (status(422, "Invalid", "is invalid", causes=IMMUTABLE), Invalid, {"is_immutable": True}),
        (status(422, "Invalid", "is invalid", causes=MIXED), Invalid, {"is_immutable": False}),
        (status(422, "Invalid", "cannot change roleRef"), Invalid, {"is_immutable": True}),
        (status(400, "BadRequest", "strict decoding error"), Invalid, {"is_immutable": False}),
        (status(500, "", "failed to create typed patch object (): .x: not declared"), Invalid, {}),
        (status(403, "Forbidden", RBAC), Forbidden, {}),
        (status(403, "Forbidden", GRANT), Forbidden, {}),
        (status(403, "Forbidden", QUOTA), Rejected, {}),
        (status(422, "Invalid", "no", causes=OTHER_UID), Conflict, {"managers": ()}),
        (status(400, "BadRequest", HOOK), Rejected, {}),
        (status(500, "InternalError", DOWN), Rejected, {}),
        (
            status(404, "NotFound", 'namespaces "shop" not found', name="shop", kind="namespaces"),
            NotFound,
            {},
        ),
        (status(404, "NotFound", "the server could not find the requested resource"), NotServed, {}),
        (status(500, "InternalError", "conversion webhook for x failed"), ClusterError, {}),
        (status(503, "ServiceUnavailable", "service unavailable"), Unreachable, {}),
        (Answer(500, b"upstream broke"), Unreachable, {}),
    ],
)
def test_each_refusal_is_its_own_error(
    wire: Wire, kube: KubeCluster, answer: Answer, error: type[ClusterError], told: dict[str, Any]
) -> None:
    wire.answer(f"PATCH {WEB_PATH}", answer)
    with pytest.raises(error, match=r"^cannot apply ConfigMap shop/web: ") as caught:
        kube.apply(MAPS, WEB_BODY, manager="m")
    assert type(caught.value) is error
    assert {name: getattr(caught.value, name) for name in told} == told
    assert len(wire.seen) == 1


MARKER = "MARKER-7f3a"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            status(
                500,
                "",
                f"failed to create typed patch object (): .stringData.port: expected string, got {MARKER}",
            ),
            ["it is malformed at stringData.port expected string"],
        ),
        (
            status(400, "BadRequest", f"Secret in version v1 cannot be handled: {MARKER}-not-base64!"),
            ["BadRequest"],
        ),
        (status(403, "Forbidden", f'admission webhook "g.dev" denied the request: {MARKER}'), ["by g.dev"]),
        (
            status(422, "Invalid", f"{MARKER}", causes=[{"field": "data[tls.crt]", "message": MARKER}]),
            ["Invalid at data[tls.crt]"],
        ),
        (Answer(502, MARKER.encode()), ["HTTP 502"]),
    ],
)
def test_a_refused_secret_never_shows_what_it_holds(
    wire: Wire, kube: KubeCluster, answer: Answer, words: list[str]
) -> None:
    # argoproj/argo-cd#16193, CVE-2025-23216: the refusal quoted the Secret into logs and status.
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"namespace": "app", "name": "s"},
        "stringData": {"password": MARKER, "port": 5432},
    }
    wire.answer("PATCH /api/v1/namespaces/app/secrets/s", answer)
    with pytest.raises(ClusterError, match="Secret app/s") as caught:
        kube.apply(SECRETS, body, manager="m")
    told = [
        str(caught.value),
        repr(caught.value),
        repr(caught.value.__cause__),
        repr(caught.value.__context__),
    ]
    assert all(MARKER not in text for text in told)
    assert all(word in str(caught.value) for word in words)
