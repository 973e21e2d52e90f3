"""Two answers to one file: kubectl's and ours, and whether they differ in what they say."""

from __future__ import annotations

from typing import Any

from agent.core.model import Body, Severity
from agent.core.yamlread import Reading, read_documents
from tests.oracle.deviations import is_refused_on_purpose
from tests.oracle.kubectl import Answer, Kubectl

_INT64 = range(-(2**63), 2**63)
_ASKED_AGAIN = 400
"""Of keys that differ in type alone (1 and "1") Go's map order decides each time anew which one is left.

The one that we take is left one time in eight at the least (maps of up to eight keys), so it shows.
"""


def difference(kubectl: Kubectl, data: bytes) -> str | None:
    """What is answered differently, in words; None where nothing is, and for lists, unpacked here."""
    answer, reading = kubectl.read(data), read_documents(data, "file.yaml")
    if any(_is_list(document) for document in answer.documents):
        return None
    found = _difference(answer, reading)
    for _ in range(_ASKED_AGAIN if found and not answer.error else 0):
        found = _difference(kubectl.read(data), reading)
        if found is None:
            break
    return found


def _difference(answer: Answer, reading: Reading) -> str | None:
    documents, error = _objects(answer)
    ours, refused = _until_broken(reading)
    theirs = [typed(document) for document in documents]
    if refused and not error and is_refused_on_purpose(refused):
        theirs, error = theirs[: len(ours)], refused
    if bool(error) != bool(refused):
        return f"kubectl: {error or 'takes it'}; here: {refused or 'taken'}"
    return None if theirs == ours else f"kubectl: {theirs}; here: {ours}"


def _is_list(document: Any) -> bool:
    return isinstance(document, dict) and str(document.get("kind")).endswith("List")


def _objects(answer: Answer) -> tuple[list[Any], str]:
    """Kubectl's documents up to the first that is no object; the program has no decoder for these."""
    for number, document in enumerate(answer.documents):
        if not isinstance(document, dict):
            return answer.documents[:number], "no object"
    return answer.documents, answer.error


def _until_broken(reading: Reading) -> tuple[list[Any], str]:
    broken = [f for f in reading.findings if f.severity is Severity.OBJECT]
    first = min((f.origin.document for f in broken if f.origin), default=None)
    before = [
        typed(document.body)
        for document in reading.documents
        if first is None or document.origin.document < first
    ]
    message = next((f.message for f in broken if f.origin and f.origin.document == first), "")
    return before, message


def typed(value: Any) -> Any:
    """A value that is equal to another only where their types are: True is no 1.

    Whole numbers beyond int64 are floats in Go, whatever JSON they come from.
    """
    if isinstance(value, dict):
        return {key: typed(part) for key, part in value.items()}
    if isinstance(value, list):
        return [typed(part) for part in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return (type(value).__name__, value)
    is_whole = isinstance(value, int) or value.is_integer()
    return ("number", int(value) if is_whole and int(value) in _INT64 else float(value))


def decoded(body: Body) -> Any:
    """A body as kubectl's object decoder leaves it, without null labels and annotations, ``typed``."""
    metadata = dict(body.get("metadata") or {})
    for field in ("labels", "annotations"):
        kept = {key: value for key, value in (metadata.pop(field, None) or {}).items() if value is not None}
        if kept:
            metadata[field] = kept
    return typed({**body, "metadata": metadata})
