"""Files as kubectl reads them: splitting, bytes, JSON, lists, and what is a finding."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.model import Severity
from agent.core.yamlread import Reading, read_documents

FILE = "app/web.yaml"


def read(text: str | bytes) -> Reading:
    return read_documents(text if isinstance(text, bytes) else text.encode(), FILE)


def bodies(text: str | bytes) -> list[dict[str, object]]:
    reading = read(text)
    assert reading.findings == ()
    return [document.body for document in reading.documents]


def broken(text: str | bytes) -> list[str]:
    return [str(f) for f in read(text).findings if f.severity is Severity.OBJECT]


def test_documents_know_their_place() -> None:
    reading = read("# header\n---\n\na: 1\n--- # second\n# c\nb: 2\n---\n---\nnull\n---\nc: 3")
    assert [doc.body for doc in reading.documents] == [{"a": 1}, {"b": 2}, {"c": 3}]
    assert [str(doc.origin) for doc in reading.documents] == [
        "app/web.yaml:4 (document 1)",
        "app/web.yaml:7 (document 2)",
        "app/web.yaml:12 (document 3)",
    ]


@pytest.mark.parametrize("text", ["", "\n", "# a\n", "---\n---\n", "null\n---\n~\n", "---"])
def test_nothing_is_nothing(text: str) -> None:
    assert bodies(text) == []


def test_a_broken_document_leaves_the_others() -> None:
    reading = read("a: 1\n---\nk: [}\n---\nb: 2\n")
    assert [doc.body for doc in reading.documents] == [{"a": 1}, {"b": 2}]
    assert [doc.origin.document for doc in reading.documents] == [1, 3]
    (finding,) = reading.findings
    assert finding.severity is Severity.OBJECT
    assert str(finding).startswith("app/web.yaml:3 (document 2): did not find expected node content; mend it")


@pytest.mark.parametrize(
    "text",
    [
        "--- {a: 1}\n",
        "----\na: 1\n",
        "%YAML 1.1\n---\na: 1\n",
        "a: \x07\n",
        'a: "\\/"\n',
        'a: "\\ud83d\\ude00"\n',
        "a: *b\n",
        "a: &x [*x]\n",
        "? [a]\n: b\n",
        "~: a\n",
        "a: .inf\n",
        "a: b\n}\n",
        "<<: text\n",
        "a: b\n\tc: d\n",
        "- a\n",
        "text\n",
    ],
)
def test_refused(text: str) -> None:
    assert len(broken(text)) == 1


def test_templates_are_named() -> None:
    assert "commit what the templates render to" in broken("a: {{ .Values.a }}\n")[0]


def test_a_key_that_stands_twice_refuses_the_set() -> None:
    reading = read("---\nspec:\n  on: 1\n  other: 2\n  true: 3\n")
    assert reading.documents[0].body == {"spec": {"true": 3, "other": 2}}
    (finding,) = reading.findings
    assert finding.severity is Severity.SET
    assert finding.message == "key spec.true stands twice, in lines 3 and 5; the last counts"


def test_merges() -> None:
    text = "x: [&p {a: 1, b: 1}, &q {b: 2, c: 2}]\nd: {<<: [*p, *q], a: 9}\ne:\n  <<: *p\n  <<: *q\n"
    (body,) = bodies(text)
    assert body["d"] == {"a": 9, "b": 1, "c": 2}
    assert body["e"] == {"a": 1, "b": 2, "c": 2}


def test_a_merge_after_its_key_wins_and_is_told() -> None:
    reading = read("a: 1\n<<: {a: 2}\n")
    assert reading.documents[0].body == {"a": 2}
    assert [f.severity for f in reading.findings] == [Severity.WARNING]


def test_quoted_merge_is_a_key() -> None:
    assert bodies('"<<": {a: 1}\n') == [{"<<": {"a": 1}}]


def test_alias_bomb() -> None:
    lines = ["a0: &a0 [1,1,1,1,1,1,1,1,1,1]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "excessive aliasing" in broken("\n".join(lines))[0]


def test_deep_nesting() -> None:
    assert bodies(f"a: {'[' * 239}{']' * 239}\n")
    assert "nested deeper" in broken(f"a: {'[' * 400}{']' * 400}\n")[0]
    assert "nested deeper" in broken(f'{{"a": {"[" * 400}{"]" * 400}}}')[0]
    assert "nested deeper" in broken(f'{{"a": {"[" * 100_000}{"]" * 100_000}}}')[0]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\xef\xbb\xbfk: v\n", "v"),
        ("k: v\n".encode("utf-16"), "v"),
        (b"\xfe\xff" + "k: v\n".encode("utf-16-be"), "v"),
        (b"k: caf\xe9\n", "caf\ufffd"),
        (b"k: |\r\n  a\r\n  b\r\n", "a\nb\n"),
        (b"k: |\n  a", "a\n"),
        (b"k: |+\n  a", "a\n"),
        (b"k: \t v\t# c\n", "v"),
        (b'k: "a\xc2\x85b"\n', "a b"),
        (b"k: v\n...\nlater: [", "v"),
        (b"k: !Ref v\n", "v"),
        (b'{"k": "\\ud83d\\ude00"}', "\U0001f600"),
        (b'{"k": "\\ud83d"}', "\ufffd"),
        (b'{"k": "\\/"}', "/"),
    ],
)
def test_bytes(data: bytes, expected: str) -> None:
    assert bodies(data) == [{"k": expected}]


def test_a_byte_order_mark_within_a_file() -> None:
    assert bodies(b"a: 1\n---\n\xef\xbb\xbfb: 2\n") == [{"a": 1}, {"b": 2}]


def test_json_stream() -> None:
    text = ' {"a": 9007199254740993, "b": 1.0, "c": 12345678901234567890}\n{"a": [{"d": 1}]}'
    assert bodies(text) == [{"a": 2**53 + 1, "b": 1, "c": 12345678901234567890.0}, {"a": [{"d": 1}]}]


@pytest.mark.parametrize("tail", ["---\na: 1\n", "x", '{"a": NaN}', '{"a": 1e999}', "[1]", '{"a": "\t"}'])
def test_json_stream_that_breaks(tail: str) -> None:
    reading = read('{"a": 1}\n' + tail)
    assert [doc.body for doc in reading.documents] == [{"a": 1}]
    assert [f.origin.line for f in reading.findings if f.origin] == [2]


def test_json_key_twice() -> None:
    reading = read('{"a": 1}\n{\n "k": {"x": 1,\n "x": 2}}\n')
    assert reading.documents[1].body == {"k": {"x": 2}}
    assert [f.message for f in reading.findings] == [
        "key k.x stands twice, in lines 3 and 4; the last counts"
    ]


def test_lists_are_unpacked_and_numbered() -> None:
    text = """
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: A}
-
- {apiVersion: v1, kind: B}
---
apiVersion: v1
kind: ConfigMapList
items:
- metadata: {name: c}
---
apiVersion: v1
kind: List
items:
---
kind: D
"""
    reading = read(text)
    assert [doc.body["kind"] for doc in reading.documents] == ["A", "B", "ConfigMap", "D"]
    assert [doc.origin[1:] for doc in reading.documents] == [(1, 5), (3, 7), (4, 12), (5, 18)]
    assert [f.message for f in reading.findings] == ["entry 2 of the List is null, not an object"]


def test_a_named_object_whose_kind_ends_in_list_is_one_object() -> None:
    text = "apiVersion: example.com/v1\nkind: DenyList\nmetadata: {name: a}\nitems: [{cidr: 192.0.2.0/24}]\n"
    assert [body["kind"] for body in bodies(text)] == ["DenyList"]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(
    st.lists(
        st.dictionaries(st.text(max_size=5), json_values, min_size=1, max_size=3), min_size=1, max_size=3
    )
)
def test_what_json_says_is_read(values: list[dict[str, object]]) -> None:
    assert bodies("\n".join(json.dumps(value) for value in values)) == values


@given(
    st.lists(st.dictionaries(st.sampled_from("abc"), st.integers() | st.booleans(), min_size=1), max_size=4)
)
def test_documents_do_not_depend_on_their_neighbours(values: list[dict[str, object]]) -> None:
    texts = ["".join(f"{key}: {json.dumps(value)}\n" for key, value in body.items()) for body in values]
    alone = [body for text in texts for body in bodies(text)]
    assert bodies("---\n".join(texts)) == alone


@given(st.binary(max_size=200))
def test_any_bytes_are_documents_or_findings(data: bytes) -> None:
    reading = read(data)
    assert all(isinstance(doc.body, dict) for doc in reading.documents)
    json.dumps([doc.body for doc in reading.documents], ensure_ascii=False).encode()
