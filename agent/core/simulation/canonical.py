"""One object of a world without what only counts or tells the time: what it is, and what it refers to.

Left out: uid, resourceVersion, metadata.generation, times, generated names, addresses that the cluster gave
out, the words of conditions, and the revision counters of rollouts, whose order ``Form.counter`` keeps. An
``observedGeneration`` becomes whether it is the present one. References by uid stand beside the text, to be
put into words by who knows the world.
"""

from __future__ import annotations

import re
from json import dumps
from typing import Any, Final, NamedTuple

from agent.core.model import Body
from agent.core.simulation.tables import dig

REVISION: Final = "deployment.kubernetes.io/revision"
UID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
COUNTERS: Final = ("uid", "resourceVersion", "generation", "creationTimestamp", "selfLink")
GIVEN: Final = ("podIP", "podIPs", "hostIP", "hostIPs")
NO_ADDRESS: Final = ("", "None")


class Row(NamedTuple):
    """A text in which ``@`` stands for each uid, and these uids in their order."""

    text: str
    refs: tuple[str, ...]


class Form(NamedTuple):
    """An object without counters and times.

    ``rows``: items of a list whose order means nothing; ``counter``: its place among those of one owner;
    ``is_generated``: the name says nothing either.
    """

    head: Row
    rows: tuple[Row, ...]
    counter: int
    is_generated: bool


def form_of(body: Body) -> Form:
    """What an object is, apart from how often it was written and when."""
    metadata = body["metadata"]
    is_generated = "generateName" in metadata and bool(metadata.get("ownerReferences"))
    counter = int(dig(metadata, ("annotations", REVISION)) or 0)
    kept = {key: value for key, value in body.items() if key not in ("metadata", "status", "endpoints")}
    kept["metadata"] = _metadata(metadata, is_generated=is_generated)
    if "status" in body:
        kept["status"] = _timeless(body["status"], metadata.get("generation"))
    rows: tuple[Row, ...] = ()
    match body["kind"]:
        case "Service":
            kept["spec"] = _without_address(body)
        case "EndpointSlice":
            rows = tuple(_row(_endpoint(item)) for item in body.get("endpoints") or ())
        case "ControllerRevision":
            counter = kept.pop("revision")
    return Form(_row(kept), rows, counter, is_generated)


def _row(value: Any) -> Row:
    text = dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    refs = tuple(UID.findall(text))
    return Row(UID.sub("@", text) if refs else text, refs)


def _metadata(metadata: Body, *, is_generated: bool) -> Body:
    kept: Body = {key: value for key, value in metadata.items() if key not in COUNTERS}
    if is_generated:
        del kept["name"]
    if "deletionTimestamp" in kept:
        kept["deletionTimestamp"] = True
    if REVISION in (kept.get("annotations") or {}):
        kept["annotations"] = {key: text for key, text in kept["annotations"].items() if key != REVISION}
    if kept.get("ownerReferences"):
        # The uid says which one, also where the name was generated.
        kept["ownerReferences"] = [
            {key: value for key, value in owner.items() if key != "name"} for owner in kept["ownerReferences"]
        ]
    if kept.get("managedFields"):
        rows = [{key: value for key, value in row.items() if key != "time"} for row in kept["managedFields"]]
        kept["managedFields"] = sorted(dumps(row, sort_keys=True) for row in rows)
    return kept


def _timeless(value: Any, generation: Any) -> Any:
    if isinstance(value, dict):
        kept: Body = {}
        for key, inner in value.items():
            if key == "observedGeneration":
                kept[key] = inner == generation
            elif key in GIVEN:
                kept[key] = bool(inner)
            elif key != "message":
                kept[key] = _timeless(inner, generation)
        return kept
    if isinstance(value, list):
        return [_timeless(item, generation) for item in value]
    return "time" if isinstance(value, str) and TIME.fullmatch(value) else value


def _without_address(service: Body) -> Body:
    """The spec; an address that nobody asked for was given by the cluster."""
    spec: Body = service["spec"]
    owners = service["metadata"].get("managedFields") or ()
    is_given = any("f:clusterIP" in (dig(row, ("fieldsV1", "f:spec")) or ()) for row in owners)
    if is_given or spec.get("clusterIP", "") in NO_ADDRESS:
        return spec
    rest = {key: value for key, value in spec.items() if key not in ("clusterIP", "clusterIPs")}
    return rest | {"clusterIP": True}


def _endpoint(row: Body) -> Body:
    if not dig(row, ("targetRef", "uid")):
        return row
    target = {key: value for key, value in row["targetRef"].items() if key != "name"}
    return {key: value for key, value in row.items() if key != "addresses"} | {"targetRef": target}
