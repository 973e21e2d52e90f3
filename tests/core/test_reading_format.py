"""Readings as bytes and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core import reading_format
from agent.core.yamlread import read_documents
from tests.core.test_yamlread import json_values


@given(st.dictionaries(st.text(max_size=5), json_values, min_size=1))
def test_values_keep_their_types(body: dict[str, object]) -> None:
    reading = read_documents(
        b"a: 1e300\nb: 12345678901234567890\nc: 1.5\n---\nk: [\n---\nd: {x: 1, x: 2}\n", "a.yaml"
    )
    reading.documents[0].body["more"] = body
    again = reading_format.parse(reading_format.dump(reading), "a.yaml")
    assert again == reading
    assert repr(again) == repr(reading)


def test_the_file_is_who_asks() -> None:
    reading = read_documents(b"a: 1\n---\nk: [\n", "a.yaml")
    again = reading_format.parse(reading_format.dump(reading), "b.yaml")
    assert again == reading_format.renamed(reading, "b.yaml")
    assert {doc.origin.file for doc in again.documents} == {"b.yaml"}
    assert {finding.origin and finding.origin.file for finding in again.findings} == {"b.yaml"}


def test_the_deepest_document_that_is_read_can_be_written() -> None:
    reading = read_documents(f"a: {'[' * 239}{']' * 239}\n".encode(), "a.yaml")
    assert reading_format.parse(reading_format.dump(reading), "a.yaml") == reading


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b'{"documents": [1], "findings": []}', b'{"documents": [']
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        reading_format.parse(data, "a.yaml")
