"""What the API server refuses: names, missing fields, changes of what cannot change."""

from __future__ import annotations

import re
from typing import Final

from agent.core.model import Body, ObjectId
from agent.core.simulation.selectors import selects
from agent.core.simulation.tables import Served, dig, each_at
from agent.core.simulation.world import State
from agent.errors import Invalid

SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
LABEL_VALUE: Final = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
HARMLESS: Final = ("None", "NoneOnDryRun")
"""What a webhook of admissionregistration.k8s.io/v1 may say of its side effects."""
LONGEST_NAME: Final = 253
LONGEST_LABEL: Final = 63


def validate(state: State, served: Served, before: Body | None, body: Body) -> None:
    """Raises ``Invalid`` with the API server's words where the object, or its change, is refused."""
    kind = served.kind.kind
    _validate_name(state, served, body)
    _validate_labels(served, body)
    if served.kind not in state.tables.served:
        return
    for row in state.tables.required.get(kind, ()):
        is_excused = any(dig(body, path) == value for path, value in row.unless)
        if not is_excused and dig(body, row.path) in (None, "", []):
            raise _invalid(served, body, ".".join(row.path), "Required value")
    _validate_selector(served, body)
    ports = dig(body, ("spec", "ports")) or ()
    if served.kind == ("", "Service") and len(ports) > 1 and not all(port.get("name") for port in ports):
        raise _invalid(served, body, "spec.ports.name", "Required value: several ports must have names")
    for hook in body.get("webhooks") or ():
        if hook.get("sideEffects") not in HARMLESS:
            raise _invalid(served, body, "webhooks.sideEffects", "Unsupported value: None or NoneOnDryRun")
    if before is not None:
        _validate_finalizers(served, before, body)
        _validate_change(state, served, before, body)
        _validate_stored(served, before, body)


def check_schema(state: State, served: Served, config: Body) -> None:
    """Raises ``Invalid`` where an apply names a field that is not declared, or a field has another type.

    https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation
    """
    if served.kind not in state.tables.served:
        return
    for path, known in state.tables.fields.get(served.kind.kind, ()):
        for value in each_at(config, path):
            for name in value if isinstance(value, dict) else ():
                if name not in known:
                    raise _invalid(served, config, ".".join((*path, name)), "field not declared in schema")
    _check_texts(state, served, config)
    for path in state.tables.integers.get(served.kind.kind, ()):
        for value in each_at(config, path):
            if isinstance(value, bool) or not isinstance(value, int):
                raise _invalid(served, config, ".".join(path), f"expected integer, got {value!r}")


def _check_texts(state: State, served: Served, config: Body) -> None:
    for path in state.tables.text_maps.get(served.kind.kind, ()):
        for value in each_at(config, path):
            for name, text in value.items() if isinstance(value, dict) else ():
                if not isinstance(text, str):
                    raise _invalid(served, config, ".".join((*path, name)), f"expected string, got {text!r}")


def _validate_name(state: State, served: Served, body: Body) -> None:
    """https://kubernetes.io/docs/concepts/overview/working-with-objects/names/."""
    name = body["metadata"].get("name", "")
    if not name:
        raise _invalid(served, body, "metadata.name", "Required value: name or generateName is required")
    spec = body.get("spec") or {}
    if served.kind.kind == "APIService" and name != f"{spec.get('version')}.{spec.get('group')}":
        raise _invalid(served, body, "metadata.name", "Invalid value: must be spec.version+'.'+spec.group")
    if served.kind in state.tables.free_names:
        return
    is_label = served.kind.group == "" and served.kind.kind in ("Namespace", "Service")
    rule, longest = (LABEL, LONGEST_LABEL) if is_label else (SUBDOMAIN, LONGEST_NAME)
    if len(name) > longest or not rule.fullmatch(name):
        raise _invalid(served, body, "metadata.name", f'Invalid value: "{name}": must be a DNS name')


def _validate_labels(served: Served, body: Body) -> None:
    for key, value in (body["metadata"].get("labels") or {}).items():
        if not isinstance(value, str):
            raise Invalid(f"metadata.labels.{key} of {served.kind} is not a string")
        if len(value) > LONGEST_LABEL or not LABEL_VALUE.fullmatch(value):
            raise _invalid(served, body, f"metadata.labels.{key}", "Invalid value: not a valid label value")


def _validate_selector(served: Served, body: Body) -> None:
    """Workloads select what they make (https://kubernetes.io/docs/concepts/workloads/controllers/deployment/)."""
    selector = dig(body, ("spec", "selector"))
    labels = dig(body, ("spec", "template", "metadata", "labels"))
    if served.kind.group != "apps" or not isinstance(selector, dict):
        return
    if not selects(selector, labels or {}):
        words = "Invalid value: `selector` does not match template `labels`"
        raise _invalid(served, body, "spec.template.metadata.labels", words)


def _validate_finalizers(served: Served, before: Body, body: Body) -> None:
    """https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/#how-finalizers-work."""
    was, now = (side["metadata"].get("finalizers") or () for side in (before, body))
    if "deletionTimestamp" in before["metadata"] and not set(now) <= set(was):
        words = "Forbidden: no new finalizers can be added if the object is being deleted"
        raise _invalid(served, body, "metadata.finalizers", words)


def _validate_change(state: State, served: Served, before: Body, body: Body) -> None:
    for row in state.tables.immutable.get(served.kind.kind, ()):
        if not all(dig(before, path) == value for path, value in row.when):
            continue
        was, now = dig(before, row.path), dig(body, row.path)
        if row.but and isinstance(was, dict) and isinstance(now, dict):
            was, now = ({k: v for k, v in side.items() if k not in row.but} for side in (was, now))
        if was is not None and was != now:
            raise _invalid(served, body, ".".join(row.path), f"Invalid value: {row.says}", is_immutable=True)


def _validate_stored(served: Served, before: Body, body: Body) -> None:
    """A version in which objects may be stored stays in the definition.

    https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/
    """
    if served.kind.kind != "CustomResourceDefinition":
        return
    versions = {version["name"] for version in body["spec"]["versions"]}
    for number, version in enumerate(dig(before, ("status", "storedVersions")) or ()):
        if version not in versions:
            words = f'Invalid value: "{version}": missing from spec.versions'
            raise _invalid(served, body, f"status.storedVersions[{number}]", words)


def _invalid(served: Served, body: Body, path: str, words: str, *, is_immutable: bool = False) -> Invalid:
    metadata = body["metadata"]
    name = ObjectId(*served.kind, metadata.get("namespace", ""), metadata.get("name", ""))
    return Invalid(f"{name} is invalid: {path}: {words}", is_immutable=is_immutable)
