"""Secret values are shown as digests: never clear, equal where equal."""

from __future__ import annotations

import base64

from agent.core.model import ABSENT, Action, Body, Category, FieldChange, ObjectId
from agent.core.redact import masked, masked_body
from agent.core.steps import Change

KEY = b"of this run"
MARKER = "MARKER-clear-value"
ENCODED = base64.b64encode(MARKER.encode()).decode()
SECRET: Body = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {
        "name": "a",
        "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": f'{{"data":"{MARKER}"}}',
            "team": "x",
        },
    },
    "data": {"a": ENCODED, "b": ENCODED[:4] + "\n" + ENCODED[4:], "c": "bm8=", "gone": None},
    "stringData": {"d": MARKER, "number": 7, "deep": {"e": MARKER}},
}


def test_no_clear_value_is_left_and_equal_stays_equal() -> None:
    shown = masked_body(SECRET, KEY)
    assert MARKER not in str(shown)
    assert ENCODED not in str(shown)
    assert "7" not in str(shown["stringData"]["number"]).split()
    assert (
        shown["data"]["a"]
        == shown["data"]["b"]
        == shown["stringData"]["d"]
        == shown["stringData"]["deep"]["e"]
    )
    assert shown["data"]["a"] != shown["data"]["c"]
    assert shown["metadata"]["name"] == "a"
    assert shown["metadata"]["annotations"]["team"] == "x"


def test_another_key_another_digest() -> None:
    assert masked_body(SECRET, KEY)["data"]["a"] != masked_body(SECRET, b"of another run")["data"]["a"]


def test_other_kinds_are_shown_as_they_stand() -> None:
    body: Body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": MARKER}}
    assert masked_body(body, KEY) is body


def change(kind: str, *fields: FieldChange) -> Change:
    return Change(ObjectId("", kind, "n", "a"), Action.UPDATE, Category.ADDITIVE, "", fields)


def test_fields_of_a_secret() -> None:
    fields = (
        FieldChange(("data", "a"), ENCODED, ABSENT),
        FieldChange(("data",), ABSENT, {"a": ENCODED}),
        FieldChange(("metadata",), ABSENT, SECRET["metadata"]),
        FieldChange(("type",), "Opaque", "x"),
    )
    shown = masked(change("Secret", *fields), KEY).fields
    assert MARKER not in str(shown)
    assert ENCODED not in str(shown)
    assert shown[0].before == shown[1].after["a"]
    assert shown[0].after is ABSENT
    assert (shown[3].before, shown[3].after) == ("Opaque", "x")
    same = change("ConfigMap", *fields)
    assert masked(same, KEY) is same
