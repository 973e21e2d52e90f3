"""What ``trapeze validate`` found: text, JSON, and SARIF 2.1.0 for forges.

Source: docs.oasis-open.org/sarif/sarif/v2.1.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent.core.model import Body, Severity
from agent.core.render.words import counted, printable
from agent.core.validation.checks import Checked
from agent.core.validation.problem import place_text

FINDINGS_FORMAT: Final = "trapeze.dev/findings/v1"
_LEVELS: Final = {Severity.WARNING: "warning", Severity.OBJECT: "error", Severity.SET: "error"}
_RULES: Final = {
    "reading": "A document cannot be read as a manifest, or only with a remark",
    "shape": "A field is no map or no list",
    "unknown-field": "A field that its kind does not have",
    "missing-field": "A field that its kind requires is missing",
    "wrong-type": "A field holds another type",
    "wrong-value": "A value that the schema does not allow",
    "quantity": "A quantity that cannot be read",
    "twice": "Two items of a list have the same merge key",
    "duplicate": "Two items of a list have a field in common that tells them apart",
    "name": "A name that the API server refuses",
    "labels": "A label that the API server refuses",
    "annotations": "An annotation that the API server refuses",
    "selector": "A selector that does not match the labels of its own template",
    "size": "More bytes than the API server takes",
    "removed-version": "An API version that is no longer served",
    "definition": "A CustomResourceDefinition that the API server refuses",
    "dangling": "A pointer to an object that is not in the set",
    "unknown-kind": "A kind whose schema nobody knows",
    "no-schema": "A schema that does not compile",
}


def findings_text(checked: Sequence[Checked], objects: int) -> str:
    """One line each, as compilers write them, and a last one that counts."""
    lines = []
    for one in checked:
        place = f"{one.file}:{one.line}: " if one.file else ""
        told = f"{one.finding.message}" + (f"; {one.finding.remedy}" if one.finding.remedy else "")
        lines.append(printable(f"{place}{_LEVELS[one.finding.severity]}: {told} [{one.rule}]"))
    errors = sum(_LEVELS[one.finding.severity] == "error" for one in checked)
    counts = f"{counted(errors, 'error')}, {counted(len(checked) - errors, 'warning')}"
    return "\n".join([*lines, f"{counted(objects, 'object')}: {counts}"]) + "\n"


def findings_json(checked: Sequence[Checked], objects: int) -> Body:
    """The same for programs (docs/findings.schema.json)."""
    return {
        "format": FINDINGS_FORMAT,
        "objects": objects,
        "findings": [
            {
                "rule": one.rule,
                "level": _LEVELS[one.finding.severity],
                "file": one.file,
                "line": one.line,
                "object": str(one.manifest.id) if one.manifest else "",
                "path": place_text(one.problem.path, one.manifest.body)
                if one.problem and one.manifest
                else "",
                "message": one.finding.message,
                "remedy": one.finding.remedy,
            }
            for one in checked
        ],
    }


def findings_sarif(checked: Sequence[Checked], version: str) -> Body:
    """The same as forges read it: rules, results, and where each stands in the repo."""
    rules = sorted({one.rule for one in checked})
    return {
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "trapeze",
                        "semanticVersion": version,
                        "rules": [{"id": r, "shortDescription": {"text": _RULES[r]}} for r in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(one, rules) for one in checked],
            }
        ],
    }


def _result(one: Checked, rules: Sequence[str]) -> Body:
    told = one.finding.message + (f"; {one.finding.remedy}" if one.finding.remedy else "")
    result: Body = {
        "ruleId": one.rule,
        "ruleIndex": rules.index(one.rule),
        "level": _LEVELS[one.finding.severity],
        "message": {"text": printable(told)},
    }
    if one.file:
        place = {"artifactLocation": {"uri": _uri(one.file)}, "region": {"startLine": max(one.line, 1)}}
        result["locations"] = [{"physicalLocation": place}]
    return result


def _uri(file: str) -> str:
    """RFC 3986: what is neither unreserved nor a slash, byte by byte."""
    return "".join(
        char if char.isascii() and (char.isalnum() or char in "-._~/") else _escaped(char) for char in file
    )


def _escaped(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace"))
