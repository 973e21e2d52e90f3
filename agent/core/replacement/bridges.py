"""Bridge bindings: the old role for the old subjects, for as long as their binding changes its role.

A roleRef cannot be changed (kubernetes.io/docs/reference/access-authn-authz/rbac, clusterrolebinding): the
binding is deleted and made anew, and nobody may be without a right in between, nor for as long as a pod of
the old generation runs. A bridge is a member of the set that no revision wants, and is pruned as such.
"""

from __future__ import annotations

from typing import Final

from agent.core.model import Body, LiveObject, ObjectId
from agent.core.situation import Situation
from agent.core.stamps import digest_of, stamped

BRIDGES: Final = "trapeze.dev/bridges"
"""The annotation of a bridge: the binding whose rights it holds."""

_NAME: Final = 200
_DIGEST: Final = 8


def bridge_of(situation: Situation, live: LiveObject, generation: int) -> Body:
    """The bridge for a binding as it stands; another role gives another name, so that two can stand."""
    role = live.body.get("roleRef") or {}
    name = f"{live.id.name[:_NAME]}-bridge-{digest_of({'role': role})[:_DIGEST]}"
    metadata: Body = {"name": name, "annotations": {BRIDGES: str(live.id)}}
    if live.id.namespace:
        metadata["namespace"] = live.id.namespace
    body = {
        "apiVersion": live.body["apiVersion"],
        "kind": live.id.kind,
        "metadata": metadata,
        "roleRef": role,
        "subjects": list(live.body.get("subjects") or ()),
    }
    return stamped(body, situation.desired.set_name, generation, situation.desired.revision)


def id_of_bridge(live: LiveObject, bridge: Body) -> ObjectId:
    """The identity of a binding's bridge."""
    return live.id._replace(name=str(bridge["metadata"]["name"]))


def carries(standing: LiveObject | None, bridge: Body) -> bool:
    """Whether a live bridge gives all that this one would give."""
    if standing is None or standing.is_deleting or standing.body.get("roleRef") != bridge["roleRef"]:
        return False
    has = standing.body.get("subjects") or ()
    return all(subject in has for subject in bridge["subjects"])


def is_bridge(live: LiveObject) -> bool:
    """Whether the object was made as a bridge."""
    return BRIDGES in live.annotations
