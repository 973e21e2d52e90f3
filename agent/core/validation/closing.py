"""An OpenAPI v3 schema of Kubernetes as a JSON Schema (draft 4) that refuses fields it does not name.

Sources: kubernetes.io/docs/reference/using-api/api-concepts (field validation), kubernetes.io/docs/tasks/
extend-kubernetes/custom-resources/custom-resource-definitions (structural schemas, pruning,
x-kubernetes-preserve-unknown-fields, -int-or-string, -embedded-resource).
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import jsonschema_rs

from agent.core.model import Body

COMPONENTS: Final = "#/components/schemas/"
METADATA: Final = f"{COMPONENTS}io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_QUANTITY: Final = f"{COMPONENTS}io.k8s.apimachinery.pkg.api.resource.Quantity"
_NAMELESS: Final = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}}

_KEPT: Final = frozenset(
    {
        "type", "enum", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
        "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
    }
)  # fmt: skip
"""What means the same in both; formats are left out: the server has its own notion of them."""
_UNREAD: Final = frozenset({"format", "nullable", "description", "default", "title", "example"})
_JOINED: Final = ("allOf", "anyOf", "oneOf")


def closed(node: Body, *, is_builtin: bool) -> Body:
    """The JSON Schema of one node. A built-in kind reads an empty text as absent, so enums allow it."""
    reference = _reference(node)
    if reference == _QUANTITY:
        return {"type": ["string", "number"], "format": "quantity"}
    if reference:
        return {"$ref": reference}
    if node.get("x-kubernetes-int-or-string") or node.get("format") == "int-or-string":
        kept = {key: node[key] for key in ("pattern",) if key in node}
        return {"type": ["integer", "string"], **kept}
    out = {key: value for key, value in node.items() if key in _KEPT and _is_read(key, value)}
    if is_builtin and "enum" in out:
        out["enum"] = [*out["enum"], ""]
    _close_map(node, out, is_builtin=is_builtin)
    if isinstance(node.get("items"), dict):
        out["items"] = closed(node["items"], is_builtin=is_builtin)
    for word in _JOINED:
        if word in node:
            out[word] = [_values_only(one) for one in node[word]]
    if "not" in node:
        out["not"] = _values_only(node["not"])
    return out


def custom(schema: Body) -> Body:
    """The JSON Schema of a custom kind: apiVersion, kind and metadata are as for every object."""
    own = closed(schema, is_builtin=False)
    properties = own.get("properties") or {}
    own["properties"] = {**properties, **_NAMELESS, "metadata": {"$ref": METADATA}}
    own["type"] = "object"
    return own


def _close_map(node: Body, out: Body, *, is_builtin: bool) -> None:
    properties, more = node.get("properties"), node.get("additionalProperties")
    if properties:
        out["properties"] = {key: closed(value, is_builtin=is_builtin) for key, value in properties.items()}
    if node.get("x-kubernetes-embedded-resource"):
        out["properties"] = {**out.get("properties", {}), **_NAMELESS, "metadata": {"$ref": METADATA}}
    required = [
        name
        for name in node.get("required") or ()
        # What the server fills in may be left out; the default of a built-in kind is Go's zero there.
        if is_builtin or (properties or {}).get(name, {}).get("default") is None
    ]
    if required:
        out["required"] = required
    if isinstance(more, dict):
        out["additionalProperties"] = closed(more, is_builtin=is_builtin)
    elif properties and more is None and not node.get("x-kubernetes-preserve-unknown-fields"):
        out["additionalProperties"] = False


def _values_only(node: Any) -> Any:
    """Below allOf, anyOf, oneOf and not a structural schema names values, never more fields."""
    if isinstance(node, dict):
        return {
            key: _values_only(value)
            for key, value in node.items()
            if _is_read(key, value) and (key not in _UNREAD or isinstance(value, dict))
        }
    return [_values_only(one) for one in node] if isinstance(node, list) else node


def _is_read(key: str, value: Any) -> bool:
    """Whether a keyword can be checked: a few patterns of Go's cannot, and refuse nothing then."""
    return key != "pattern" or not isinstance(value, str) or _compiles(value)


@cache
def _compiles(pattern: str) -> bool:
    try:
        jsonschema_rs.Draft4Validator({"pattern": pattern}, pattern_options=jsonschema_rs.RegexOptions())
    except (ValueError, jsonschema_rs.ValidationError):
        return False
    return True


def _reference(node: Body) -> str:
    if "$ref" in node:
        return str(node["$ref"])
    parts = node.get("allOf") or ()
    named = [str(part["$ref"]) for part in parts if isinstance(part, dict) and "$ref" in part]
    return named[0] if len(parts) == 1 and named else ""
