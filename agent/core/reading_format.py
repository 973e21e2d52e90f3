"""A Reading as bytes, so that a file is parsed once: JSON without the file's name, which is no part of it."""

from __future__ import annotations

from typing import Any

import orjson

from agent.core.model import Finding, Origin, Severity
from agent.core.yamlread import Document, Reading


def dump(reading: Reading) -> bytes:
    """The reading as JSON."""
    documents = [[doc.body, doc.origin.document, doc.origin.line] for doc in reading.documents]
    findings = [
        [one.severity.value, one.message, one.remedy, *(one.origin or Origin("", 0, 0))[1:]]
        for one in reading.findings
    ]
    return orjson.dumps({"documents": documents, "findings": findings})


def parse(data: bytes, file: str) -> Reading:
    """What ``dump`` wrote, as a reading of ``file``.

    Raises:
        ValueError: the bytes are something else.
    """
    try:
        value: Any = orjson.loads(data)
        documents = tuple(
            Document(body, Origin(file, number, line)) for body, number, line in value["documents"]
        )
        findings = tuple(
            Finding(Severity(severity), message, Origin(file, number, line) if line else None, remedy)
            for severity, message, remedy, number, line in value["findings"]
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"no reading: {error}") from error
    return Reading(documents, findings)


def renamed(reading: Reading, file: str) -> Reading:
    """The same content under another file name."""
    return Reading(
        tuple(Document(doc.body, doc.origin._replace(file=file)) for doc in reading.documents),
        tuple(
            Finding(one.severity, one.message, one.origin and one.origin._replace(file=file), one.remedy)
            for one in reading.findings
        ),
    )
