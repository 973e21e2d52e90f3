"""What the API server fills in before it stores an object."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from agent.core.model import Body, GroupKind
from agent.core.simulation.draft import Draft
from agent.core.simulation.tables import EACH, IF_THERE, Default, Served, Steps, dig, put
from agent.core.simulation.world import uid_at


def defaulted(draft: Draft, served: Served, body: Body) -> Body:
    """The body with defaults and without what is empty; fields that are given stay."""
    if served.kind not in draft.tables.served:
        return body
    body = _without_empty(body, draft.tables.null_when_empty.get(served.kind.kind, ()))
    for row in draft.tables.defaults.get(served.kind.kind, ()):
        if EACH in row.path or _holds(body, row):
            body = _fill(body, row.path, row)
    computed = _COMPUTED.get(served.kind)
    return computed(draft, body) if computed else body


def without_nulls(value: Any) -> Any:
    """A config as the server reads it: null means absent."""
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def _without_empty(value: Any, null: tuple[Steps, ...], at: Steps = ()) -> Any:
    """Empty lists, labels and annotations are not stored (omitempty); some lists read null instead."""
    if isinstance(value, list):
        return [_without_empty(item, null, (*at, EACH)) for item in value]
    if not isinstance(value, dict):
        return value
    kept: Body = {}
    for key, inner in value.items():
        is_notes = key in ("labels", "annotations") and at[-1:] == ("metadata",)
        if inner == [] and (*at, key) in null:
            kept[key] = None
        elif inner != [] and not (inner == {} and is_notes):
            kept[key] = _without_empty(inner, null, (*at, key))
    return kept


def _holds(node: Any, row: Default) -> bool:
    return all(dig(node, path) == value for path, value in row.when)


def _fill(node: Any, path: Steps, row: Default) -> Any:  # noqa: PLR0911 - one for each sort of step
    head, rest = path[0], path[1:]
    if head == IF_THERE:
        return node if node is None else _fill(node, rest, row)
    if head == EACH:
        if not isinstance(node, list):
            return node
        items = [_fill(item, rest, row) if _holds(item, row) or EACH in rest else item for item in node]
        return node if all(new is old for new, old in zip(items, node, strict=True)) else items
    node = {} if node is None else node
    if not isinstance(node, dict):
        return node
    inner = node.get(head)
    if rest:
        filled = _fill(inner, rest, row)
        return node if filled is inner else {**node, head: filled}
    value = node.get(row.source) if row.source else row.value
    if row.source and "" in (inner, value):
        return _without_empty_copy(node, head, value)
    return node if inner is not None or value is None else {**node, head: value}


def _without_empty_copy(node: Body, name: str, value: Any) -> Body:
    """An empty text is none: the field is filled in from its other name, or not stored."""
    rest = {key: inner for key, inner in node.items() if key != name or inner}
    return rest if name in rest or not value else {**rest, name: value}


def _service(draft: Draft, body: Body) -> Body:
    """A ClusterIP for every Service that has one (https://kubernetes.io/docs/concepts/services-networking/)."""
    spec = body["spec"]
    if spec["type"] == "ExternalName":
        return body
    number = draft.version + 1
    address = spec.get("clusterIP") or f"10.{96 + (number >> 16) % 16}.{number >> 8 & 255}.{number & 255}"
    return body | {"spec": spec | {"clusterIP": address, "clusterIPs": [address]}}


def _secret(draft: Draft, body: Body) -> Body:
    """StringData is written over data and not kept (https://kubernetes.io/docs/concepts/configuration/secret/)."""
    del draft
    given = body.get("stringData")
    if not given:
        return body
    data = {key: b64encode(str(value).encode()).decode() for key, value in given.items()}
    rest = {key: value for key, value in body.items() if key != "stringData"}
    return rest | {"data": {**(body.get("data") or {}), **data}}


def _namespace(draft: Draft, body: Body) -> Body:
    del draft
    name = body["metadata"]["name"]
    labelled = put(body, ("metadata", "labels", "kubernetes.io/metadata.name"), name)
    return labelled if labelled.get("status") else labelled | {"status": {"phase": "Active"}}


def _job(draft: Draft, body: Body) -> Body:
    """The selector and the labels that tell this Job's pods (pkg/registry/batch/job/strategy.go)."""
    if dig(body, ("spec", "selector")):
        return body
    # The uid of the write that follows this one.
    uid, name = uid_at(draft.version + 1), body["metadata"]["name"]
    legacy = {"controller-uid": uid, "job-name": name}
    labels = {**legacy, **{f"batch.kubernetes.io/{key}": value for key, value in legacy.items()}}
    given = dig(body, ("spec", "template", "metadata", "labels")) or {}
    body = put(body, ("spec", "template", "metadata", "labels"), {**given, **labels})
    if not body["metadata"].get("labels"):
        body = put(body, ("metadata", "labels"), {**given, **labels})
    selector = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    return put(body, ("spec", "selector"), selector)


_COMPUTED = {
    GroupKind("", "Service"): _service,
    GroupKind("", "Secret"): _secret,
    GroupKind("", "Namespace"): _namespace,
    GroupKind("batch", "Job"): _job,
}
