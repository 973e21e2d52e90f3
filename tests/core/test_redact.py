"""Secret values are shown as digests: never clear, equal where equal."""

from __future__ import annotations

import base64
import json

import pytest

from agent.build import kinds_of
from agent.core.manifests import load
from agent.core.model import ABSENT, Action, Body, Category, Desired, FieldChange, ObjectId
from agent.core.plan import make_plan
from agent.core.preview import between
from agent.core.redact import masked, masked_body
from agent.core.render import as_json, markdown
from agent.core.render.difference import blocks
from agent.core.situation import Rules
from agent.core.steps import Change
from agent.core.yamlread import read_documents
from tests.core.bodies import RULES
from tests.core.casefiles import shipped

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


@pytest.mark.parametrize("told", [MARKER, ENCODED, f" {MARKER}\n", f"token={MARKER};", f"b64:{ENCODED}"])
def test_an_annotation_that_repeats_a_value_of_the_secret_is_masked(told: str) -> None:
    for values in ({"data": {"a": ENCODED}}, {"stringData": {"a": MARKER}}):
        body = {**SECRET, "data": None, "stringData": None, **values}
        body["metadata"] = {"name": "a", "annotations": {"copy": told, "owner": "x"}}
        annotations = masked_body(body, KEY)["metadata"]["annotations"]
        assert annotations["owner"] == "x"
        assert MARKER not in annotations["copy"]
        assert ENCODED not in annotations["copy"]


def test_a_short_value_is_masked_where_it_is_the_whole_of_an_annotation() -> None:
    body = {**SECRET, "data": {"a": base64.b64encode(b"on").decode()}, "stringData": {}}
    body["metadata"] = {"name": "a", "annotations": {"same": "on", "by chance": "the monitor"}}
    annotations = masked_body(body, KEY)["metadata"]["annotations"]
    assert annotations["same"].startswith("masked ")
    assert annotations["by chance"] == "the monitor"


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


def test_a_plan_that_changes_an_annotation_alone_shows_no_value_of_the_secret_in_it() -> None:
    def release(annotation: str) -> Desired:
        written = SECRET | {"metadata": {"name": "a", "annotations": {"copy": annotation}}}
        written |= {"data": {"a": ENCODED}, "stringData": {}}
        readings = {"a.yaml": read_documents(json.dumps(written).encode(), "a.yaml")}
        return load(readings, kinds_of(), set_name="shop", revision="1", namespace="default")

    base, head = release(f"now {MARKER}"), release(f"then {MARKER}")
    plan = make_plan(between(base, head, shipped(), RULES, Rules("trapeze/shop")))
    assert [str(one.path) for one in plan.changes[0].fields] == ["('metadata', 'annotations', 'copy')"]
    shown = [str(as_json(plan, KEY)), str(blocks(plan.changes, KEY)), markdown(plan, KEY, observed=False)]
    assert all("copy" in one and MARKER not in one for one in shown)
