"""The structure of kinds: which fields there are and what they hold, by apiVersion and kind.

The shipped table (policies/schemas.json.gz) has the built-in kinds of one Kubernetes version, the server's
own document what it serves, a CustomResourceDefinition its own versions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import jsonschema_rs

from agent.core.kinds import CRD
from agent.core.model import Body
from agent.core.policy import group_kind_of
from agent.core.quantity import amount
from agent.core.schemas import BUILTIN
from agent.core.validation.closing import COMPONENTS, METADATA, closed, custom
from agent.core.validation.table import kind_key

_OF_KIND: Final = "x-kubernetes-group-version-kind"


class Structure(NamedTuple):
    """What one kind looks like: a closed JSON Schema, or why it could not be read.

    ``is_certain`` is False where it comes from a table and the server may be of another version.
    """

    schema: Body
    validator: jsonschema_rs.Draft4Validator | None
    is_certain: bool
    why: str = ""


@dataclass(frozen=True)
class Structures:
    """The structures that are known; compiled when first asked for, and kept.

    ``version`` of Kubernetes as "1.36", empty where nobody has said.
    """

    version: str = ""
    _schemas: Mapping[tuple[str, str], Body] = field(default_factory=dict)
    _components: Mapping[str, Body] = field(default_factory=dict)
    _certain: frozenset[tuple[str, str]] = frozenset()
    _kept: dict[tuple[str, str], Structure] = field(default_factory=dict)

    @staticmethod
    def from_table(table: Any) -> Structures:
        """The shipped table, parsed: ``version``, ``kinds`` by "apiVersion Kind", ``components``."""
        components = {name: closed(node, is_builtin=True) for name, node in table["components"].items()}
        schemas = {_key(key): {"$ref": COMPONENTS + name} for key, name in table["kinds"].items()}
        return Structures(str(table["version"]), schemas, components)

    def with_definitions(self, bodies: Iterable[Body]) -> Structures:
        """The same with the versions that CustomResourceDefinitions among ``bodies`` define."""
        schemas = {key: custom(schema) for body in bodies for key, schema in _defined(body)}
        return self._with(schemas, self._components)

    def with_document(self, document: Body) -> Structures:
        """The same with what an OpenAPI v3 document of the server describes."""
        nodes: Mapping[str, Body] = (document.get("components") or {}).get("schemas") or {}
        components = {
            name: closed(node, is_builtin=True) if name.startswith(BUILTIN) else custom(node)
            for name, node in nodes.items()
        }
        schemas = {
            _key(kind_key(kind)): {"$ref": COMPONENTS + name}
            for name, node in nodes.items()
            if "metadata" in (node.get("properties") or {})
            for kind in node.get(_OF_KIND) or ()
        }
        return self._with(schemas, {**self._components, **components})

    def get(self, api_version: str, kind: str) -> Structure | None:
        """The structure of a kind in a version, or None where nobody has said."""
        key = (api_version, kind)
        if key not in self._kept and key in self._schemas:
            self._kept[key] = self._compiled(key)
        return self._kept.get(key)

    def versions(self, kind: str) -> tuple[str, ...]:
        """The versions in which a kind of this name is known."""
        return tuple(version for version, name in self._schemas if name == kind)

    def _with(self, schemas: Mapping[tuple[str, str], Body], components: Mapping[str, Body]) -> Structures:
        if not schemas:
            return self
        certain = self._certain | schemas.keys()
        return Structures(self.version, {**self._schemas, **schemas}, components, certain)

    def _compiled(self, key: tuple[str, str]) -> Structure:
        schemas = {METADATA.removeprefix(COMPONENTS): {"type": "object"}, **self._components}
        schema = {**self._schemas[key], "components": {"schemas": schemas}}
        is_certain = key in self._certain
        try:
            validator = jsonschema_rs.Draft4Validator(
                schema,
                formats={"quantity": _is_quantity},
                validate_formats=True,
                mask="the value",
                # Patterns as Go reads them: in linear time, without looking around.
                pattern_options=jsonschema_rs.RegexOptions(),
                offline=True,
            )
        except (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
            return Structure(schema, None, is_certain, str(error).partition("\n")[0])
        return Structure(schema, validator, is_certain)


def resolved(node: Body, root: Body) -> Body:
    """A node of a structure's schema, followed to what it refers to."""
    while "$ref" in node:
        node = root["components"]["schemas"].get(node["$ref"].removeprefix(COMPONENTS), {})
    return node


def _is_quantity(text: str) -> bool:
    return amount(text) is not None


def _key(text: str) -> tuple[str, str]:
    api_version, _, kind = text.partition(" ")
    return api_version, kind


def _defined(body: Body) -> Iterable[tuple[tuple[str, str], Body]]:
    spec = body.get("spec") or {}
    if group_kind_of(body) != CRD or not isinstance(spec, dict):
        return
    group, names = spec.get("group"), spec.get("names") or {}
    common = (spec.get("validation") or {}).get("openAPIV3Schema")
    for version in spec.get("versions") or ({"name": spec.get("version")},):
        schema = ((version.get("schema") or {}).get("openAPIV3Schema")) or common
        # Without preserveUnknownFields (v1beta1) a schema is no list of all fields.
        if isinstance(schema, dict) and not spec.get("preserveUnknownFields", common is not None):
            yield (f"{group}/{version.get('name')}", str(names.get("kind"))), schema
