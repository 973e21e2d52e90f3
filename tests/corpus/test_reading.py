"""Every document of the corpus: read by lines, by libyaml and by kubectl's own code, it is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.core.yamlline import Unsure
from agent.core.yamllines import read_lines
from agent.core.yamlread import read_documents
from agent.core.yamltree import read_tree
from tests.corpus.releases import ARCHIVE, unpacked
from tests.oracle import kubectl as program
from tests.oracle.comparing import typed

pytestmark = pytest.mark.skipif(not ARCHIVE.is_file(), reason="the corpus is not beside the checkout")

FAST = 0.9
"""The share of each project's bytes that must be read by lines: what it costs to read hangs on it."""


def projects() -> list[str]:
    return sorted(path.name for path in unpacked().iterdir()) if ARCHIVE.is_file() else []


def files(project: str) -> list[Path]:
    return sorted(file for file in (unpacked() / project).rglob("*") if file.is_file())


def pieces(data: bytes) -> list[str]:
    """The documents' texts, split in the simplest way: the corpus has no odd separators."""
    return [piece if piece.endswith("\n") else f"{piece}\n" for piece in data.decode().split("\n---\n")]


@pytest.mark.parametrize("project", projects())
def test_by_lines_and_by_libyaml_is_the_same(project: str) -> None:
    fast = whole = 0
    for text in (text for file in files(project) for text in pieces(file.read_bytes())):
        whole += len(text)
        try:
            by_lines = read_lines(text)
        except Unsure:
            continue
        fast += len(text)
        by_libyaml = read_tree(text)
        if by_lines is None or by_libyaml is None:
            assert by_lines is None
            assert by_libyaml is None or by_libyaml.value is None
            continue
        assert typed(by_lines.value) == typed(by_libyaml.value)
        assert (by_lines.line, by_lines.items) == (by_libyaml.line, by_libyaml.items)
        assert by_libyaml.repeats == ()
    assert fast > FAST * whole


@pytest.mark.slow
@pytest.mark.parametrize("project", projects())
def test_kubectl_reads_the_same(project: str) -> None:
    with program.running() as kubectl:
        for file in files(project):
            answer, reading = kubectl.read(file.read_bytes()), read_documents(file.read_bytes(), file.name)
            assert (answer.error, reading.findings) == ("", ())
            read = [typed(document.body) for document in reading.documents]
            theirs = [
                typed(entry)
                for one in answer.documents
                for entry in (one["items"] if one["kind"].endswith("List") else [one])
            ]
            assert read == theirs
