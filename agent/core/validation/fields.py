"""Fields that a kind does not have, that lack, or that hold something else, by the structure of the kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import jsonschema_rs

from agent.core.few import few
from agent.core.model import Body
from agent.core.nearest import nearest
from agent.core.validation.problem import Problem, RawPath
from agent.core.validation.structures import Structure, resolved

_WORDS: Final = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "a map",
    "array": "a list",
}
_MANY: Final = 12
"""Allowed values that are told; more are counted."""


def field_problems(body: Body, structure: Structure) -> Iterator[Problem]:
    """What does not fit; values are never quoted. The status is the server's own and is not looked at."""
    if structure.validator is None:
        return
    for error in structure.validator.iter_errors(_without_nulls(body)):
        for rule, path, message, remedy in _told(error, structure.schema):
            yield Problem(rule, path, message, remedy, is_certain=structure.is_certain)


def _told(error: jsonschema_rs.ValidationError, root: Body) -> Iterator[tuple[str, RawPath, str, str]]:
    kind: Any = error.kind
    path = tuple(error.instance_path)
    match kind.name:
        case "additionalProperties":
            known = _known(path, root)
            for name in kind.unexpected:
                hint = nearest(name, known)
                remedy = f"take it out{hint}" if not hint else hint.removeprefix(", ")
                yield "unknown-field", (*path, name), "is no field of this kind", remedy
        case "required":
            yield "missing-field", path, f"lacks {_unquoted(kind.property)}", "add it"
        case "type":
            yield "wrong-type", path, f"is {_word(error.instance)}, not {_types(kind.types)}", _mend(error)
        case "enum":
            allowed = [str(one) for one in _list(kind.options) if one != ""]
            hint = nearest(error.instance, allowed) if isinstance(error.instance, str) else ""
            yield (
                "wrong-value",
                path,
                f"is none of {few(allowed, _MANY)}",
                hint.removeprefix(", ") or "use one of them",
            )
        case "format":
            yield "quantity", path, "is no quantity", "write it like 500m, 2 or 1Gi"
        case _:
            yield "wrong-value", path, f"does not fit its schema: {error.message}", "mend it"


def _known(path: RawPath, root: Body) -> list[str]:
    """The fields that may stand in the map at ``path``."""
    node = resolved(root, root)
    for part in path:
        below: Any = node.get("items") if isinstance(part, int) else (node.get("properties") or {}).get(part)
        if not isinstance(below, dict):
            below = node.get("additionalProperties")
        node = resolved(below, root) if isinstance(below, dict) else {}
    return sorted(node.get("properties") or ())


def _types(types: Any) -> str:
    return " or ".join(_WORDS.get(one, one) for one in _list(types))


def _list(value: Any) -> list[Any]:
    value = json.loads(value) if isinstance(value, str) else value
    return list(value)


def _unquoted(name: Any) -> str:
    return str(name).strip('"')


def _mend(error: jsonschema_rs.ValidationError) -> str:
    wants_text = "string" in _list(getattr(error.kind, "types", []))
    return "put it in quotes" if wants_text and not isinstance(error.instance, dict | list) else "mend it"


def _word(value: Any) -> str:
    match value:
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case None:
            return "null"
        case _:
            return "a map"


def _without_nulls(value: Any) -> Any:
    """Null in a map is an absent field to the server."""
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_without_nulls(inner) for inner in value]
    return value
