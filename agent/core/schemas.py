"""What a schema says of lists, defaults and quantities: the server's own, or the one inside a definition.

Sources: kubernetes.io/docs/reference/using-api/server-side-apply (x-kubernetes-list-type, list-map-keys,
map-type) and kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions
(defaulting; a field that takes a number or a text of this pattern is a Quantity).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from agent.core.model import Body, GroupKind
from agent.core.paths import Pattern, Wild, pattern_text
from agent.core.table_row import Row
from agent.core.tables import DefaultRow, ListRow

_REF: Final = "#/components/schemas/"
BUILTIN: Final = tuple(
    f"io.k8s.{package}." for package in ("api", "apimachinery", "kube-aggregator", "apiextensions-apiserver")
)
"""How the components of built-in kinds are called; the others are of custom and aggregated kinds."""

_OF_KIND: Final = "x-kubernetes-group-version-kind"
_OF_THE_SERVER: Final = frozenset({"apiVersion", "kind", "metadata", "status"})
"""Top fields of every object, known by the tables."""

_QUANTITY: Final = "(([KMGTPE]i)|[numkMGTPE]|"
"""Part of the pattern that controller-gen writes for a resource.Quantity."""


@dataclass(frozen=True)
class Schema:
    """The rows that one kind's schema comes to."""

    lists: tuple[ListRow, ...] = ()
    defaults: tuple[DefaultRow, ...] = ()
    quantities: tuple[Row, ...] = ()


def schema_of(kind: GroupKind, schema: Body, components: Mapping[str, Body] | None = None) -> Schema:
    """The rows of a kind by its schema; ``components`` holds what its references name."""
    lists: list[ListRow] = []
    defaults: list[DefaultRow] = []
    quantities: list[Row] = []
    for pattern, node in _walk(schema, components or {}, (), frozenset()):
        kinds, path = (str(kind),), pattern_text(pattern)
        listed = _list_row(node, kinds, path)
        if listed is not None:
            lists.append(listed)
        default = node.get("default")
        if default is not None and not isinstance(default, dict):
            defaults.append(DefaultRow(kind=kinds, path=path, value=default))
        if _QUANTITY in str(node.get("pattern", "")):
            quantities.append(Row(kind=kinds, path=path))
    return Schema(tuple(lists), tuple(defaults), tuple(quantities))


def described(document: Body, api_version: str) -> Mapping[GroupKind, Schema]:
    """The schemas of a group-version's kinds by its OpenAPI v3 document.

    An empty default of a built-in kind is Go's zero of a required field, which the server fills in nowhere.
    """
    components: Mapping[str, Body] = (document.get("components") or {}).get("schemas") or {}
    version = api_version.rpartition("/")[2]
    found = {}
    for name, node in components.items():
        for one in node.get(_OF_KIND) or ():
            kind = GroupKind(str(one.get("group", "")), str(one["kind"]))
            if one.get("version") == version and "metadata" in (node.get("properties") or {}):
                found[kind] = schema_of(kind, node, components)
                if name.startswith(BUILTIN):
                    found[kind] = replace(
                        found[kind], defaults=tuple(d for d in found[kind].defaults if d.value)
                    )
    return found


def documents_of(definitions: Iterable[Body]) -> Mapping[str, Body]:
    """The document of each group-version that definitions bring, as the API server would write it."""
    found: dict[str, Body] = {}
    for body in definitions:
        spec = body["spec"]
        for version in spec["versions"]:
            schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
            kind = {"group": spec["group"], "version": version["name"], "kind": spec["names"]["kind"]}
            properties = {**(schema.get("properties") or {}), "metadata": {"type": "object"}}
            node = {**schema, "properties": properties, _OF_KIND: [kind]}
            document = found.setdefault(f"{kind['group']}/{kind['version']}", {"components": {"schemas": {}}})
            document["components"]["schemas"][f"{kind['kind']}.{kind['group']}"] = node
    return found


def defined(bodies: Iterable[Body], kinds: frozenset[GroupKind]) -> Mapping[GroupKind, Schema]:
    """The schemas of ``kinds`` by the CustomResourceDefinitions among ``bodies``, of the stored version."""
    found = {}
    for body in bodies:
        spec = body.get("spec") or {}
        kind = GroupKind(str(spec.get("group", "")), str((spec.get("names") or {}).get("kind", "")))
        if body.get("kind") == "CustomResourceDefinition" and kind in kinds:
            versions = sorted(spec.get("versions") or (), key=lambda one: not one.get("storage"))
            schema = next((one["schema"] for one in versions if one.get("schema")), spec.get("validation"))
            found[kind] = schema_of(kind, (schema or {}).get("openAPIV3Schema") or {})
    return found


def _list_row(node: Body, kinds: tuple[str, ...], path: str) -> ListRow | None:
    sort = node.get("x-kubernetes-list-type")
    if sort == "map":
        keys = tuple(node.get("x-kubernetes-list-map-keys") or ())
        return ListRow(kind=kinds, path=path, type="map", keys=keys)
    if sort == "set":
        return ListRow(kind=kinds, path=path, type="set")
    if node.get("x-kubernetes-map-type") == "atomic":
        return ListRow(kind=kinds, path=path, type="atomic", named=True)
    return None


def _walk(
    node: Body, components: Mapping[str, Body], path: Pattern, seen: frozenset[str]
) -> Iterator[tuple[Pattern, Body]]:
    """Every field below the top ones; what refers to itself is followed once."""
    node, seen = _resolved(node, components, seen)
    if path:
        yield path, node
    for name, below in (node.get("properties") or {}).items():
        if path or name not in _OF_THE_SERVER:
            yield from _walk(below, components, (*path, name), seen)
    for part, field in ((Wild.ITEM, "items"), (Wild.KEY, "additionalProperties")):
        below = node.get(field)
        if isinstance(below, dict):
            yield from _walk(below, components, (*path, part), seen)


def _resolved(
    node: Body, components: Mapping[str, Body], seen: frozenset[str]
) -> tuple[Body, frozenset[str]]:
    """A node with what it refers to; its own marks go over those of the type that it names."""
    names = [str(one["$ref"]) for one in (node, *(node.get("allOf") or ())) if "$ref" in one]
    for name in names:
        if name in seen:
            return {key: value for key, value in node.items() if key not in {"allOf", "$ref"}}, seen
        seen |= {name}
        node = {**components.get(name.removeprefix(_REF), {}), **node}
    return node, seen
