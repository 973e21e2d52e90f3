"""What CustomResourceDefinitions make of the objects of their kinds: schemas, stored versions, conversion.

https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/
"""

from __future__ import annotations

from typing import Final

from agent.core.model import Body, GroupKind, ObjectId
from agent.core.simulation import customschemas
from agent.core.simulation.serving import through_resolver
from agent.core.simulation.tables import Served, dig
from agent.core.simulation.world import State
from agent.errors import Invalid, Unreachable

DEFINITION: Final = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")


def definition_of(state: State, served: Served) -> Body | None:
    """The definition under which the objects of a kind are stored; None for built-in kinds."""
    if served.kind in state.tables.served:
        return None
    for crd in state.of(*DEFINITION).values():
        spec = crd["spec"]
        if (spec["group"], spec["names"]["kind"]) == served.storage:
            return crd
    return None


def _schema(crd: Body, version: str) -> Body:
    rows = (row for row in crd["spec"]["versions"] if row["name"] == version)
    # The API server wants a schema; a world that is given without one keeps all fields.
    return next((dig(row, ("schema", "openAPIV3Schema")) for row in rows), None) or {customschemas.KEPT: True}


def check_declared(crd: Body, version: str, config: Body) -> None:
    """Raises ``Invalid`` where an apply names a field that the schema does not declare."""
    if path := customschemas.unknown(_schema(crd, version), config):
        raise Invalid(f"{_name(config)} is invalid: {path}: field not declared in schema")


def conformed(crd: Body, version: str, body: Body) -> Body:
    """The object as it is stored: pruned, with defaults; raises ``Invalid`` where the schema refuses it."""
    schema = _schema(crd, version)
    made = customschemas.filled(schema, body)
    if words := customschemas.problem(schema, made):
        raise Invalid(f"{_name(body)} is invalid: {words.lstrip('.')}")
    return made


def check_conversion(state: State, crd: Body | None, version: str) -> None:
    """Raises ``Unreachable`` where this version is not the stored one and what converts does not answer."""
    if crd is None or dig(crd, ("spec", "conversion", "strategy")) != "Webhook":
        return
    if any(row["name"] == version and row.get("storage") for row in crd["spec"]["versions"]):
        return
    ref = dig(crd, ("spec", "conversion", "webhook", "clientConfig", "service"))
    reply = through_resolver(state, ref) if ref else None
    if reply is None or not reply.is_right:
        words = reply or "it stands outside the cluster"
        raise Unreachable(f"conversion webhook for {crd['metadata']['name']} failed: {words}")


def check_definition(before: Body | None, body: Body) -> None:
    """Raises ``Invalid`` where the API server refuses a definition, new or changed.

    Not looked at: whether its schemas are structural.
    """
    spec, name = body["spec"], body["metadata"]["name"]
    if name != f"{spec['names']['plural']}.{spec['group']}":
        raise Invalid(f"{name} is invalid: metadata.name: must be spec.names.plural+'.'+spec.group")
    if sum(bool(row.get("storage")) for row in spec["versions"]) != 1:
        raise Invalid(f"{name} is invalid: spec.versions: must have exactly one version marked as storage")
    stored = dig(before, ("status", "storedVersions")) or ()
    lost = [one for one in stored if one not in {row["name"] for row in spec["versions"]}]
    if lost:
        raise Invalid(f"{name} is invalid: status.storedVersions: {lost[0]!r} must appear in spec.versions")


def _name(body: Body) -> ObjectId:
    metadata = body["metadata"]
    group = str(body["apiVersion"]).rpartition("/")[0]
    return ObjectId(group, body["kind"], metadata.get("namespace", ""), metadata["name"])
