"""Faults of readers that others met, each as a kind: our own files, and the originals where they stand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.build import kinds_of
from agent.core import manifests
from agent.core.model import Body, Desired, Severity
from agent.core.yamlread import Reading, read_documents
from tests.cases.originals import CASES
from tests.oracle.comparing import decoded

HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


def desired(**files: str) -> Desired:
    readings = {f"{name}.yaml": read_documents(text.encode(), f"{name}.yaml") for name, text in files.items()}
    return manifests.load(readings, kinds_of(), set_name="web", revision="1", namespace="app")


def body(text: str) -> Body:
    (document,) = read_documents(text.encode(), "a.yaml").documents
    return document.body


def data_of(text: str) -> Any:
    return body(HEAD + text)["data"]


def errors(reading: Reading | Desired) -> list[str]:
    return [str(finding) for finding in reading.findings if finding.severity is not Severity.WARNING]


@pytest.mark.parametrize(
    ("written", "read"),
    [("0444", 292), ("0640", 416), ("0o600", 384), ("08", 8), ("0x1A", 26), ("0b110", 6), ("-017", -15)],
)
def test_integers_of_every_base(written: str, read: int) -> None:
    """File modes became other permission bits (garden-io/garden#4929)."""
    assert data_of(f"data: {{mode: {written}}}\n") == {"mode": read}
    assert data_of(f"data:\n- mode: {written} # bits\n") == [{"mode": read}]


@pytest.mark.parametrize("written", ["=", "=~", "<<", "=x", "$s", "+", "^", "(a)"])
def test_signs_are_text(written: str) -> None:
    """A bare = lost a whole file of CRDs (yaml/pyyaml#89)."""
    assert data_of(f"data:\n- {written}\n- a\n") == [written, "a"]


@pytest.mark.parametrize(
    ("text", "read", "lines"),
    [
        ("data:\n  a: one\n  b: x\n  a: two\n", {"a": "two", "b": "x"}, "lines 5 and 7"),
        ("data: {a: one, a: two}\n", {"a": "two"}, "lines 4 and 4"),
        ("data:\n  1: one\n  '1': two\n", {"1": "two"}, "lines 5 and 6"),
        ("data:\n  on: one\n  yes: two\n", {"true": "two"}, "lines 5 and 6"),
        ("data:\n- b: 1\n  b: 2\n", [{"b": 2}], "lines 5 and 6"),
    ],
)
def test_a_key_that_stands_twice(text: str, read: Any, lines: str) -> None:
    """Kubectl keeps the last without a word, and a selector loses a line (kubernetes/kubernetes#14791)."""
    assert data_of(text) == read
    result = desired(a=HEAD + text)
    assert result.is_refused
    assert lines in errors(result)[0]


@pytest.mark.parametrize("number", [1_000_000, 20190612073634, 2**53 + 1, 2**63 - 1, -(2**63)])
def test_integers_keep_every_digit(number: int) -> None:
    """They went through a float and came out as other text (helm/helm#1707)."""
    for text in (f"data: {number}\n", f"data: {number} # c\n", f"data:\n  {number}\n"):
        assert data_of(text) == number
        assert isinstance(data_of(text), int)
    (document,) = read_documents(json.dumps({"data": number}).encode(), "a.json").documents
    assert document.body["data"] == number


@pytest.mark.parametrize("word", ["y", "Y", "yes", "Yes", "on", "ON", "n", "No", "off", "OFF"])
def test_words_of_yaml_1_1_are_booleans_as_keys_too(word: str) -> None:
    """Y as a key and "true" in the cluster never meet (cdk8s-team/cdk8s#349)."""
    is_true = word.lower() in {"y", "yes", "on"}
    assert data_of(f"data: {{{word}: a, k: {word}, q: '{word}'}}\n") == {
        str(is_true).lower(): "a",
        "k": is_true,
        "q": word,
    }
    assert data_of(f"data:\n  {word}: a\n  k: {word}\n") == {str(is_true).lower(): "a", "k": is_true}


@pytest.mark.parametrize("written", ["2024-01-02", "2024-1-2", "2024-13-40", "2024-01-02T10:00:00Z", "1:30"])
def test_dates_and_times_stay_as_written(written: str) -> None:
    """A date became an object that nothing could hash or print (marketplace-k8s-app-tools#113)."""
    assert data_of(f"data: {{k: {written}, '{written}': x}}\n") == {"k": written, written: "x"}
    assert data_of(f"data:\n  {written}: {written}\n") == {written: written}


@pytest.mark.parametrize(
    "nothing", ["", "# c\n", "null\n", "~\n", "--- # c\n", "apiVersion: v1\nkind: List\n"]
)
def test_nothing_is_no_object_and_no_error(nothing: str) -> None:
    """A naive loader trips over None (argoproj/argo-cd#1051)."""
    reading = read_documents(f"{nothing}---\n{HEAD}---\n{nothing}".encode(), "a.yaml")
    assert [document.body["kind"] for document in reading.documents] == ["ConfigMap"]
    assert reading.findings == ()


def test_only_lists_are_unpacked() -> None:
    """A custom AllowList came out as nameless objects of kind Allow (kubernetes-client/python#1792)."""
    named = "apiVersion: e.com/v1\nkind: AllowList\nmetadata: {name: a}\nitems: [{cidr: 192.0.2.0/24}]\n"
    typed = "apiVersion: v1\nkind: SecretList\nitems:\n- metadata: {name: s}\n"
    assert body(named)["kind"] == "AllowList"
    assert body(typed) == {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}


@pytest.mark.parametrize(
    ("header", "read"), [("|", "x\n"), ("|+", "x\n"), ("|-", "x"), (">", "x\n"), (">-", "x"), (">+", "x\n")]
)
def test_a_block_that_ends_with_the_file(header: str, read: str) -> None:
    """Without the newline that kubectl's reader adds there is a difference for ever."""
    assert data_of(f"data:\n  k: {header}\n    x") == {"k": read}


@pytest.mark.parametrize(
    ("written", "read"),
    [("\\ud83d\\ude00", "\U0001f600"), ("\\/", "/"), ("\\ud83d", "\ufffd"), ("\\u00e9", "é")],
)
def test_escapes_of_json(written: str, read: str) -> None:
    """A YAML reader made two lone surrogates of them, which nothing can encode."""
    text = f'{{"kind": "A", "data": "{written}"}} {{"kind": "B"}}'
    first, second = read_documents(text.encode(), "a.json").documents
    assert (first.body["data"], second.body["kind"]) == (read, "B")
    assert read.encode() in json.dumps(first.body, ensure_ascii=False).encode()


@pytest.mark.parametrize("broken", ["a: [\n", "a: *b\n", "a: 'b\n", "a: .inf\n", "\tb: c\n", "a: b: c\n"])
def test_a_broken_document_makes_the_source_incomplete(broken: str) -> None:
    """What could not be read was taken for gone, and pruned (argoproj/argo-cd#14090)."""
    result = desired(a=HEAD, b=f"{HEAD.replace('a}', 'b}')}---\n{broken}")
    assert not result.is_complete
    assert any(error.startswith("b.yaml:") and "document 2" in error for error in errors(result))


@pytest.mark.parametrize("other", ["data: {k: '1'}\n", "immutable: true\n", "data: {k: 1}\n"])
def test_the_same_object_twice(other: str) -> None:
    """The last one won, by the order of files (argoproj/argo-cd#5614)."""
    assert desired(a=HEAD, b=HEAD).findings == ()
    result = desired(a=HEAD, b=HEAD + other)
    assert result.is_refused
    assert all(name in errors(result)[0] for name in ("a.yaml", "b.yaml", "ConfigMap app/a"))
    assert result.findings == desired(b=HEAD + other, a=HEAD).findings


SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: app}\n"  # noqa: S105 - no value in it


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("stringData: {pw: marker, port: 5432}\n", "Secret app/s stringData.port is not a string"),
        ("stringData: {pw: marker, on: yes}\n", "Secret app/s stringData.true is not a string"),
        ("stringData: {pw: [marker]}\n", "Secret app/s stringData.pw is not a string"),
        ("data: {pw: marker!}\n", "Secret app/s data.pw is not base64"),
        ("data: {pw: märker}\n", "Secret app/s data.pw is not base64"),
        ("data: {pw: !!binary marker}\n", "a value tagged !!binary is not base64"),
        ("data: {pw: !!int marker}\n", "a value tagged !!int does not read as one"),
        ("stringData: marker\n", "Secret app/s stringData is not a map"),
    ],
)
def test_refusals_of_a_secret_tell_no_value(text: str, says: str) -> None:
    """A refusal quoted the whole object in status and log (argoproj/argo-cd#16193)."""
    result = desired(a=SECRET + text)
    assert says in errors(result)[0]
    assert "marker" not in repr(result.findings)
    assert "märker" not in repr(result.findings)


def originals() -> list[tuple[str, str]]:
    return [
        (path.parent.name, file)
        for path in sorted(CASES.glob("*/kubectl.json"))
        for file in json.loads(path.read_text(encoding="utf-8"))
    ]


@pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not beside the checkout")
@pytest.mark.parametrize(("name", "file"), originals())
def test_original_is_read_as_by_kubectl(name: str, file: str) -> None:
    folder = CASES / name
    answer = json.loads((folder / "kubectl.json").read_text(encoding="utf-8"))[file]
    reading = read_documents((folder / file).read_bytes(), file)
    found = [decoded(document.body) for document in reading.documents]
    expected = [decoded(one) for one in answer["objects"]]
    if name.startswith("11-"):  # kubectl unpacks the named list, which is what the case is about
        found, expected = found[1:], expected[1:]
        assert reading.documents[0].body["kind"] == "AllowList"
    assert found[: len(expected)] == expected
    assert len(found) == len(expected) or answer["rc"] != 0
    broken = [finding for finding in reading.findings if finding.severity is Severity.OBJECT]
    assert bool(broken) == (answer["rc"] != 0)


@pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not beside the checkout")
@pytest.mark.parametrize("file", ["head.yaml", "head-data.yaml"])
def test_original_secret_is_refused_without_its_value(file: str) -> None:
    text = next(CASES.glob("53-*")).joinpath(file).read_text(encoding="utf-8")
    result = desired(head=text)
    assert errors(result)
    assert "MARKER-7f3a" not in repr(result.findings)
