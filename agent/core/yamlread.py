"""A file's bytes as manifests' documents, read as kubectl reads them.

The order is kubectl's (decoder.go of k8s.io/apimachinery, the resource builder of k8s.io/cli-runtime):

1. UTF-8, or UTF-16 by its byte order mark; a byte that is no UTF-8 becomes U+FFFD.
2. A file that starts with ``{`` is a stream of JSON values.
3. Any other is split at lines ``---`` before YAML is looked at; such a line may carry a comment.
4. Lists are unpacked (``is_list``), empty and null documents count for nothing.

Where kubectl stops at the first broken document, the others are read all the same: each broken one is
a finding, and the source counts as incomplete.
"""

from __future__ import annotations

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from agent.core.jsontree import read_stream
from agent.core.model import Body, Finding, Origin, Severity
from agent.core.yamlline import Unsure
from agent.core.yamllines import read_lines
from agent.core.yamltree import Repeat, Tree, Unreadable, read_tree

_SEPARATOR: Final = "---"
_NEXT_SEPARATOR: Final = "\n---"
_EN_QUAD, _HAIR_SPACE = 0x2000, 0x200A
_GO_SPACE: Final = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(_EN_QUAD, _HAIR_SPACE + 1))
)
"""unicode.IsSpace of Go."""

_SNIFFED: Final = 4096
"""How many bytes kubectl looks at to tell JSON from YAML."""

_MEND: Final = "mend it: until then nothing of this document is applied and nothing of the set taken away"
_RENDER: Final = "it looks like a template: commit what the templates render to"


@dataclass(frozen=True, slots=True)
class Document:
    """One object as written, before anything is filled in."""

    body: Body
    origin: Origin


@dataclass(frozen=True, slots=True)
class Reading:
    """What one file holds.

    ``document`` in the origins counts what the file yields: each document that holds something, and
    each entry of a List in its place. It is unique within the file and depends on the bytes alone.
    """

    documents: tuple[Document, ...] = ()
    findings: tuple[Finding, ...] = ()


class _Chunk(NamedTuple):
    """A piece of a file between separators; ``line`` counts from 1; ``problem`` of the separator after it."""

    text: str
    line: int
    problem: str = ""


def read_documents(data: bytes, file: str) -> Reading:
    """What kubectl would read in a file; nothing is raised, all that is wrong is a finding.

    A key that stands twice is a ``Severity.SET`` finding (kubectl takes the last without a word, see
    kubernetes/kubernetes#14791), a broken document a ``Severity.OBJECT`` one.
    """
    text = _decode(data)
    reading = _Collector(file)
    if _is_json(text):
        for outcome in read_stream(text):
            reading.take(outcome)
        return reading.done()
    for chunk in _chunks(text):
        reading.take(_tree(chunk), is_template="{{" in chunk.text)
    return reading.done()


def _is_json(text: str) -> bool:
    start = text.lstrip(_GO_SPACE)
    return start.startswith("{") and len(text[: len(text) - len(start)].encode()) < _SNIFFED


class _Collector:
    """Numbers what is found and puts it in words."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._number = 1
        self._documents: list[Document] = []
        self._findings: list[Finding] = []

    def take(self, outcome: Tree | Unreadable | None, *, is_template: bool = False) -> None:
        if isinstance(outcome, Unreadable):
            self._broken(str(outcome), outcome.line, _RENDER if is_template else _MEND)
        elif outcome is not None and outcome.value is not None:
            self._findings += [self._repeated(repeat) for repeat in outcome.repeats]
            if isinstance(outcome.value, dict):
                self._unpack(outcome.value, outcome)
            else:
                self._broken(f"the document is {_shape(outcome.value)}, not an object", outcome.line, _MEND)

    def done(self) -> Reading:
        return Reading(tuple(self._documents), tuple(self._findings))

    def _unpack(self, body: Body, tree: Tree) -> None:
        if not is_list(body):
            self._add(body, tree.line)
            return
        for index, item in enumerate(body.get("items") or ()):
            line = tree.items[index] if index < len(tree.items) else tree.line
            if isinstance(item, dict):
                self._add(_typed(item, body), line)
            else:
                self._broken(
                    f"entry {index + 1} of the {body['kind']} is {_shape(item)}, not an object", line, _MEND
                )

    def _add(self, body: Body, line: int) -> None:
        self._documents.append(Document(body, self._origin(line)))
        self._number += 1

    def _broken(self, message: str, line: int, remedy: str) -> None:
        self._findings.append(Finding(Severity.OBJECT, message, self._origin(line), remedy))
        self._number += 1

    def _repeated(self, repeat: Repeat) -> Finding:
        if repeat.is_merge:
            message = (
                f"key {repeat.path} of line {repeat.first} is replaced by the merge in line {repeat.last}"
            )
            return Finding(Severity.WARNING, message, self._origin(repeat.last), "write the merge first")
        message = (
            f"key {repeat.path} stands twice, in lines {repeat.first} and {repeat.last}; the last counts"
        )
        return Finding(Severity.SET, message, self._origin(repeat.last), "remove one of them")

    def _origin(self, line: int) -> Origin:
        return Origin(self._file, self._number, line)


def is_list(body: Body) -> bool:
    """Whether kubectl would unpack it: a ``List`` of v1, or a typed list such as ``ConfigMapList``.

    kubectl goes by the kind's name alone and takes a custom ``AllowList`` apart too; a list has no
    name of its own (ListMeta), so what has one is an object.
    """
    kind, items = body.get("kind"), body.get("items")
    if kind == "List" and body.get("apiVersion") == "v1":
        return items is None or isinstance(items, list)
    metadata = body.get("metadata")
    is_named = isinstance(metadata, dict) and bool(metadata.get("name"))
    return isinstance(kind, str) and kind.endswith("List") and isinstance(items, list) and not is_named


def _typed(item: Body, parent: Body) -> Body:
    """An entry with the apiVersion and kind that it may leave to its typed list."""
    kind = parent["kind"].removesuffix("List")
    if not kind or item.get("kind") or item.get("apiVersion"):
        return item
    return {**item, "apiVersion": parent.get("apiVersion"), "kind": kind}


def _decode(data: bytes) -> str:
    """Text as Go's unicode.BOMOverride gives it, with each CRLF as LF and a newline at the end.

    Behind a byte order mark of UTF-8 it lets bytes through that are no UTF-8: here as lone surrogates.
    """
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        text = data.decode("utf-16", "replace")
    elif data.startswith(BOM_UTF8):
        text = data.removeprefix(BOM_UTF8).decode("utf-8", "surrogateescape")
    else:
        text = data.decode("utf-8", "replace")
    text = text.replace("\r\n", "\n")
    return text if text.endswith("\n") else text + "\n"


def _chunks(text: str) -> Iterator[_Chunk]:
    """The pieces between separator lines; ``text`` ends with a newline.

    A separator before anything else stays in its piece: it starts the document.
    """
    begin, line, problem = 0, 1, ""
    for at in _separators(text):
        end = text.find("\n", at) + 1
        after = text[at + len(_SEPARATOR) : end].strip(_GO_SPACE)
        if after and not after.startswith("#"):
            number = line + text.count("\n", begin, at)
            problem = problem or f"invalid YAML document separator in line {number}"
        elif at > begin:
            yield _Chunk(text[begin:at], line, problem)
            line += text.count("\n", begin, end)
            begin, problem = end, ""
    if begin < len(text):
        yield _Chunk(text[begin:], line, problem)


def _separators(text: str) -> Iterator[int]:
    """Where lines begin with ``---``."""
    if text.startswith(_SEPARATOR):
        yield 0
    at = text.find(_NEXT_SEPARATOR)
    while at >= 0:
        yield at + 1
        at = text.find(_NEXT_SEPARATOR, at + 1)


def _tree(chunk: _Chunk) -> Tree | Unreadable | None:
    """The chunk's tree with lines of the file, or why there is none."""
    if chunk.problem:
        return Unreadable(chunk.problem, chunk.line)
    before = chunk.line - 1
    try:
        tree = _read(chunk.text)
    except Unreadable as error:
        return Unreadable(str(error), error.line + before)
    if tree is None:
        return None
    return Tree(
        tree.value,
        tree.line + before,
        tuple(line + before for line in tree.items),
        tuple(r._replace(first=r.first + before, last=r.last + before) for r in tree.repeats),
    )


def _read(text: str) -> Tree | None:
    try:
        return read_lines(text)
    except Unsure:
        return read_tree(text)


def _shape(value: Any) -> str:
    words = {
        list: "a list",
        dict: "a map",
        str: "text",
        bool: "a boolean",
        int: "a number",
        float: "a number",
    }
    return words.get(type(value), "null")
