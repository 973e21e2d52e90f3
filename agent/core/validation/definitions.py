"""Whether a CustomResourceDefinition is one that the API server takes.

Source: kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions (structural
schemas, versions).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from agent.core.model import Body
from agent.core.validation.problem import Problem, RawPath

_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_OF_TYPE: Final[Mapping[str, type | tuple[type, ...]]] = {
    "array": list,
    "boolean": bool,
    "integer": (int, float),
    "number": (int, float),
    "object": dict,
    "string": str,
}
_BRINGING: Final = ("CustomResourceDefinition", "APIService")


def definition_problems(body: Body) -> Iterator[Problem]:
    """What is wrong with the name, the versions and the schemas of an apiextensions.k8s.io/v1 definition."""
    spec = body.get("spec") or {}
    versions = spec.get("versions")
    if body.get("apiVersion") != "apiextensions.k8s.io/v1" or not isinstance(versions, list):
        return
    wanted = f"{(spec.get('names') or {}).get('plural')}.{spec.get('group')}"
    if body["metadata"].get("name") != wanted:
        message = f"is not {wanted}: plural and group make the name"
        yield Problem("definition", ("metadata", "name"), message, "make them agree")
    if spec.get("preserveUnknownFields") is True:
        remedy = "say x-kubernetes-preserve-unknown-fields: true in the schemas"
        yield Problem("definition", ("spec", "preserveUnknownFields"), "is true", remedy)
    stored = [one for one in versions if isinstance(one, dict) and one.get("storage") is True]
    if len(stored) != 1:
        message = f"has {len(stored)} versions with storage: true, one is needed"
        yield Problem("definition", ("spec", "versions"), message, "store exactly one version")
    for number, version in enumerate(versions):
        at = ("spec", "versions", number)
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if not isinstance(schema, dict):
            yield Problem("definition", at, "has no schema.openAPIV3Schema", "each version needs its own")
        else:
            path = (*at, "schema", "openAPIV3Schema")
            if schema.get("type") != "object":
                yield Problem("definition", path, "is not type: object", "a custom resource is an object")
            yield from _unstructured(schema, path)


def brings(bodies: Iterable[Body], api_version: str, kind: str) -> bool:
    """Whether a definition or an APIService among ``bodies`` makes the server serve a kind in a version."""
    group, _, version = api_version.rpartition("/")
    for body in bodies:
        spec = body.get("spec") or {}
        if body.get("kind") not in _BRINGING or spec.get("group") != group:
            continue
        if body["kind"] == "APIService":
            found = [spec.get("version")]
        elif (spec.get("names") or {}).get("kind") == kind:
            rows = spec.get("versions") or [{"name": spec.get("version"), "served": True}]
            found = [row.get("name") for row in rows if row.get("served")]
        else:
            continue
        if version in found:
            return True
    return False


def _unstructured(node: Any, path: RawPath) -> Iterator[Problem]:
    """What is wrong with a node of a schema, and with all below it."""
    if not isinstance(node, dict):
        return
    for message, remedy in _of_node(node):
        yield Problem("definition", path, message, remedy)
    for name, below in (node.get("properties") or {}).items():
        yield from _unstructured(below, (*path, "properties", name))
    for word in ("items", "additionalProperties"):
        if isinstance(node.get(word), dict):
            yield from _unstructured(node[word], (*path, word))


def _of_node(node: Body) -> Iterator[tuple[str, str]]:
    """Messages with remedies; x-kubernetes-int-or-string and -preserve-unknown-fields need no type."""
    loose = node.get("x-kubernetes-int-or-string") or node.get("x-kubernetes-preserve-unknown-fields")
    if not node.get("type") and not loose:
        yield "has no type", "a structural schema names the type of each field"
    if node.get("type") and node["type"] not in _TYPES:
        yield f"has a type that is none of {', '.join(_TYPES)}", "use one of them"
    if not _fits(node.get("default"), node.get("type")):
        yield f"has a default that is no {node['type']}", "mend it"
    if node.get("uniqueItems") is True:
        yield "has uniqueItems", "say x-kubernetes-list-type: set"
    if node.get("properties") and node.get("additionalProperties"):
        yield "has properties and additionalProperties", "keep one of them"
    if node.get("type") == "array" and not isinstance(node.get("items"), dict):
        yield "is a list without items", "say what its items are"
    if node.get("x-kubernetes-list-type") == "map" and not node.get("x-kubernetes-list-map-keys"):
        yield "is a map list without x-kubernetes-list-map-keys", "name its keys"


def _fits(value: Any, kind: Any) -> bool:
    """Whether a default may stand in a field of this type; what is not known here fits."""
    wanted = _OF_TYPE.get(kind, object) if isinstance(kind, str) else object
    is_number = kind in {"integer", "number"}
    return value is None or (isinstance(value, wanted) and not (is_number and isinstance(value, bool)))
