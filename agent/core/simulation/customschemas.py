"""The structural schema of a custom kind: what it drops, fills in and refuses.

https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema.
Rules in CEL and combinators (anyOf and the like) are not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from agent.core.model import Body

KEPT: Final = "x-kubernetes-preserve-unknown-fields"
INT_OR_STRING: Final = "x-kubernetes-int-or-string"
ALWAYS: Final = ("apiVersion", "kind", "metadata")
TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}


def unknown(schema: Body, body: Body) -> str:
    """The first field, as a path, that the schema of a whole object does not declare; or empty."""
    return next(_unknown(schema, _own(body), ""), "")


def filled(schema: Body, body: Body) -> Body:
    """A whole object without fields that are not declared, and with defaults."""
    head: Body = {key: body[key] for key in ALWAYS if key in body}
    made: Body = _filled(schema, _own(body))
    return {**head, **made}


def problem(schema: Body, body: Body) -> str:
    """The first thing that the schema refuses about a whole object, with its path; or empty."""
    return next(_problems(schema, _own(body), ""), "")


def _own(body: Body) -> Body:
    return {key: value for key, value in body.items() if key not in ALWAYS}


def _inner(schema: Body, key: str) -> Body | None:
    """The schema of one field; None where none is declared."""
    known = (schema.get("properties") or {}).get(key)
    if known is None:
        more = schema.get("additionalProperties")
        known = more if isinstance(more, dict) else ({KEPT: True} if more else None)
    return known


def _unknown(schema: Body, value: Any, at: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            inner = _inner(schema, key)
            if inner is not None:
                yield from _unknown(inner, item, f"{at}.{key}")
            elif not schema.get(KEPT) and not schema.get("x-kubernetes-embedded-resource"):
                yield f"{at}.{key}"
    elif isinstance(value, list):
        for item in value:
            yield from _unknown(schema.get("items") or {KEPT: True}, item, f"{at}[]")


def _filled(schema: Body, value: Any) -> Any:
    if isinstance(value, list):
        items = schema.get("items")
        return [_filled(items, item) for item in value] if items else value
    if not isinstance(value, dict):
        return value
    kept: Body = {}
    for key, item in value.items():
        inner = _inner(schema, key)
        if inner is not None:
            kept[key] = _filled(inner, item)
        elif schema.get(KEPT) or schema.get("x-kubernetes-embedded-resource"):
            kept[key] = item
    for key, inner in (schema.get("properties") or {}).items():
        if key not in kept and "default" in inner:
            kept[key] = _filled(inner, inner["default"])
    return kept


def _problems(schema: Body, value: Any, at: str) -> Iterator[str]:
    if value is None and schema.get("nullable"):
        return
    wanted = TYPES.get(schema.get("type", ""))
    is_flag = isinstance(value, bool) and schema.get("type") != "boolean"
    if wanted and not schema.get(INT_OR_STRING) and (is_flag or not isinstance(value, wanted)):
        yield f"{at}: must be of type {schema['type']}"
        return
    yield from _of_scalar(schema, value, at)
    if isinstance(value, dict):
        yield from _of_map(schema, value, at)
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{at}: has {len(value)} items"
        for number, item in enumerate(value):
            yield from _problems(schema.get("items") or {}, item, f"{at}[{number}]")


def _of_map(schema: Body, value: Body, at: str) -> Iterator[str]:
    for key in schema.get("required") or ():
        if key not in value and key not in ALWAYS:
            yield f"{at}.{key}: Required value"
    for key, item in value.items():
        inner = _inner(schema, key)
        if inner is not None:
            yield from _problems(inner, item, f"{at}.{key}")


def _of_scalar(schema: Body, value: Any, at: str) -> Iterator[str]:
    if schema.get("enum") and value not in schema["enum"]:
        yield f"{at}: Unsupported value: {value!r}"
    if isinstance(value, str):
        if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
            yield f"{at}: has {len(value)} characters"
        if schema.get("pattern") and not re.search(schema["pattern"], value):
            yield f"{at}: does not match {schema['pattern']!r}"
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        low, high = schema.get("minimum", value), schema.get("maximum", value)
        if not low <= value <= high:
            yield f"{at}: {value} is out of bounds"
