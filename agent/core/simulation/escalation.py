"""Nobody hands on more than they have: what the API server asks of whoever writes roles and bindings.

https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from agent.core.model import Body, ObjectId
from agent.core.rbac import RBAC_GROUP, Ask, Right, Subject, expanded
from agent.core.simulation.world import State
from agent.errors import Forbidden, Invalid, NotFound

ROLES: Final = {"Role": "roles", "ClusterRole": "clusterroles"}
BINDINGS: Final = ("RoleBinding", "ClusterRoleBinding")
COLLECTED: Final = ("ownerReferences", "finalizers", "managedFields")
"""What the garbage collector may change of a role whose rights it does not have."""


def check_grant(
    state: State, who: Subject | None, object_id: ObjectId, before: Body | None, body: Body
) -> None:
    """Raises ``Forbidden`` where this would grant what ``who`` has not; None stands for the control plane.

    Raises ``Invalid`` for a rule that its kind cannot hold, ``NotFound`` for a role that cannot be judged.
    """
    if object_id.group != RBAC_GROUP:
        return
    if object_id.kind == "Role" and any("nonResourceURLs" in rule for rule in body.get("rules") or ()):
        raise Invalid(f"{object_id} is invalid: rules: namespaced rules cannot apply to non-resource URLs")
    if who is None or (before is not None and _plain(before) == _plain(body)):
        return
    if not _is_asked(state, who, object_id, body):
        return
    lacking = sorted(map(str, _granted(state, who, object_id, body)))
    if lacking:
        raise Forbidden(
            f"{object_id} is forbidden: user {who.user!r} is attempting to grant RBAC permissions not "
            f"currently held: {', '.join(lacking[:3])}"
        )


def _plain(body: Body) -> Body:
    metadata = {key: value for key, value in body["metadata"].items() if key not in COLLECTED}
    return body | {"metadata": metadata}


def _is_asked(state: State, who: Subject, object_id: ObjectId, body: Body) -> bool:
    """Whether ``escalate`` on the role, or ``bind`` on the role that is bound, does not settle it."""
    if object_id.kind in ROLES:
        ask = Ask("escalate", RBAC_GROUP, ROLES[object_id.kind], "", object_id.namespace, object_id.name)
        return not state.rights().allows(who, ask)
    if object_id.kind not in BINDINGS:
        return False
    ref = body["roleRef"]
    ask = Ask("bind", RBAC_GROUP, ROLES.get(ref["kind"], ""), "", object_id.namespace, ref["name"])
    return not state.rights().allows(who, ask)


def _granted(state: State, who: Subject, object_id: ObjectId, body: Body) -> Iterator[Right]:
    """The rights in these rules that ``who`` has not."""
    held = state.rights().rights_of(who)
    for rule in _rules(state, object_id, body):
        for right in expanded(rule, object_id.namespace):
            if not any(one.covers(right) for one in held):
                yield right


def _rules(state: State, object_id: ObjectId, body: Body) -> list[Body]:
    if object_id.kind in ROLES:
        return list(body.get("rules") or ())
    ref = body["roleRef"]
    where = object_id.namespace if ref["kind"] == "Role" else ""
    role = state.get(ObjectId(RBAC_GROUP, ref["kind"], where, ref["name"]))
    if role is None:
        raise NotFound(f"{object_id}: {ROLES.get(ref['kind'])} {ref['name']!r} not found")
    return list(role.get("rules") or ())
