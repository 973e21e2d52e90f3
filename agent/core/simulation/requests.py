"""What the API server does with a request: checks, merges, admits and stores, in that order.

Every function writes a ``Draft``; a dry run is the same on a draft that is thrown away.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from agent.core.model import Body, ObjectId
from agent.core.propagation import Propagation
from agent.core.rbac import Ask, Subject
from agent.core.simulation.admission import admitted, check_namespace, check_service_account
from agent.core.simulation.defaulting import defaulted, without_nulls
from agent.core.simulation.definitions import (
    DEFINITION,
    check_conversion,
    check_declared,
    check_definition,
    conformed,
    definition_of,
)
from agent.core.simulation.discovery import find
from agent.core.simulation.draft import Draft
from agent.core.simulation.escalation import check_grant
from agent.core.simulation.fields import Schema, first_duplicate
from agent.core.simulation.ownership import apply as merged
from agent.core.simulation.ownership import is_same, update
from agent.core.simulation.quotas import check_quota, limited
from agent.core.simulation.schemas import schema_of
from agent.core.simulation.tables import Served, dig, put
from agent.core.simulation.validation import check_schema, validate
from agent.core.simulation.world import id_of, stamp
from agent.errors import Conflict, Forbidden, Invalid, NotFound, NotServed

CLEANUP: Final = "customresourcecleanup.apiextensions.k8s.io"
"""The finalizer that a CRD gets when it is deleted, until its objects are gone."""

COLLECTED: Final = {Propagation.ORPHAN: "orphan", Propagation.FOREGROUND: "foregroundDeletion"}
"""The finalizers by which the garbage collector keeps an object until it is done with what that owns.

https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/
"""

SERVER_FIELDS: Final = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "managedFields",
    "selfLink",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)


class Target(NamedTuple):
    """What a request is about: how its kind is served, whom it names, where that is stored and who asks."""

    served: Served
    id: ObjectId
    stored: ObjectId
    version: str
    schema: Schema
    who: Subject | None = None
    definition: Body | None = None


def target(draft: Draft, body: Body, verb: str, who: Subject | None = None) -> Target:
    """Find out where a body goes; raises ``NotServed``, ``Unreachable`` or ``Invalid``."""
    api_version, kind = str(body.get("apiVersion", "")), str(body.get("kind", ""))
    metadata = body.get("metadata") or {}
    if not (api_version and kind and metadata.get("name")):
        raise Invalid("apiVersion, kind and metadata.name must be given")
    asked = id_of(body)
    served = find(draft, asked.group_kind, verb, asked.namespace)
    version = api_version.rpartition("/")[2]
    if version not in served.versions:
        raise NotServed(f"the server serves no {kind} in version {api_version}")
    if served.is_namespaced != bool(asked.namespace):
        words = "must name a namespace" if served.is_namespaced else "has no namespace"
        raise Invalid(f"{asked}: {served.kind} {words}")
    definition = definition_of(draft, served)
    check_conversion(draft, definition, version)
    schema = schema_of(draft, served, version)
    return Target(served, asked, stored_id(served, asked), version, schema, who, definition)


def stored_id(served: Served, object_id: ObjectId) -> ObjectId:
    """Where an object is kept: an aggregated API server keeps it under another group."""
    return ObjectId(*served.storage, object_id.namespace, object_id.name)


def shown(body: Body, served: Served, version: str) -> Body:
    """A stored body as a client reads it, in this version."""
    group = served.kind.group
    api_version = f"{group}/{version}" if group else version
    return body if body["apiVersion"] == api_version else body | {"apiVersion": api_version}


def create(draft: Draft, body: Body, manager: str = "", who: Subject | None = None) -> Body:
    """A plain create; raises ``Conflict`` where the name is taken. ``who`` None is the control plane."""
    to = target(draft, body, "create", who)
    if draft.get(to.stored) is not None:
        raise Conflict(f"{to.id} already exists", already_exists=True)
    config = _config(body, to)
    if manager:
        config = update({"metadata": {}}, config, manager, to.schema, at=stamp(draft.now))
    return _store(draft, to, None, config)


def apply(
    draft: Draft,
    body: Body,
    manager: str,
    *,
    force: bool = False,
    is_dry: bool = False,
    who: Subject | None = None,
) -> Body:
    """Server-side apply; raises ``Conflict`` naming the managers whose fields it would change."""
    to = target(draft, body, "patch", who)
    live = draft.get(to.stored)
    if live is None and who is not None:
        ask = Ask("create", to.served.kind.group, to.served.plural, "", to.id.namespace, to.id.name)
        if not draft.rights().allows(who, ask):
            raise Forbidden(f"{to.id} is forbidden: {who.user} may not create it")
    _check_preconditions(to, live, body["metadata"])
    config = _config(body, to)
    check_schema(draft, to.served, config)
    if to.definition is not None:
        check_declared(to.definition, to.version, config)
    if words := first_duplicate(config, to.schema):
        raise Invalid(f"{to.id} is invalid: {words}")
    result = merged(live, config, manager, to.schema, at=stamp(draft.now), force=force)
    if result.clashes and not force:
        words = ", ".join(str(clash) for clash in result.clashes)
        count = f"{len(result.clashes)} conflict" + ("s" if len(result.clashes) > 1 else "")
        names = tuple(sorted({clash.manager.name for clash in result.clashes}))
        raise Conflict(f"{to.id}: Apply failed with {count}: {words}", managers=names)
    return _store(draft, to, live, result.body, is_dry=is_dry)


def replace(draft: Draft, body: Body, manager: str, who: Subject | None = None) -> Body:
    """A plain update; ``metadata.resourceVersion`` and ``uid`` in the body are preconditions."""
    to = target(draft, body, "update", who)
    live = draft.get(to.stored)
    if live is None:
        raise NotFound(f"{to.id} not found")
    _check_preconditions(to, live, body["metadata"])
    config = _config(body, to)
    if "status" in live and to.served.has_status:
        config["status"] = live["status"]
    kept = {key: live["metadata"][key] for key in SERVER_FIELDS if key in live["metadata"]}
    # Filled in first: what an update leaves out and the server fills in otherwise becomes the updater's.
    config = defaulted(draft, to.served, config | {"metadata": config["metadata"] | kept})
    return _store(draft, to, live, update(live, config, manager, to.schema, at=stamp(draft.now)))


def replace_status(draft: Draft, body: Body) -> Body:
    """A plain update of the status subresource: nothing else of the body counts."""
    to = target(draft, body, "update")
    live = draft.get(to.stored)
    if live is None:
        raise NotFound(f"{to.id} not found")
    _check_preconditions(to, live, body["metadata"])
    return shown(draft.put(to.stored, {**live, "status": body.get("status") or {}}), to.served, to.version)


def _config(body: Body, to: Target) -> Body:
    """What the client may set: neither server fields nor a status that is a subresource; nulls are absent."""
    config: Body = without_nulls(body)
    if to.served.has_status:
        config.pop("status", None)
    config["metadata"] = {key: value for key, value in config["metadata"].items() if key not in SERVER_FIELDS}
    group, version = to.stored.group, to.served.storage_version or to.version
    return config | {"apiVersion": f"{group}/{version}" if group else version}


def _check_preconditions(to: Target, live: Body | None, metadata: Body) -> None:
    """A version is compared with what stands; an apply that makes an object anew only heeds the uid.

    https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
    """
    uid, version = metadata.get("uid"), metadata.get("resourceVersion")
    found = live["metadata"] if live else {}
    if uid and uid != found.get("uid"):
        raise Conflict(
            f"{to.id}: Precondition failed: UID in precondition: {uid}, in object: {found.get('uid', '')}"
        )
    if live and version and version != found.get("resourceVersion"):
        raise Conflict(
            f"{to.id}: the object has been modified; please apply your changes to the latest version"
        )


def _store(draft: Draft, to: Target, live: Body | None, body: Body, *, is_dry: bool = False) -> Body:
    if live is None:
        check_namespace(draft, to.served, to.id)
        if to.id.group_kind == ("", "Pod"):
            check_service_account(draft, body)
    body = defaulted(draft, to.served, body)
    if to.definition is not None:
        body = conformed(to.definition, to.version, body)
    if live is None and to.id.group_kind == ("", "Pod"):
        body = limited(draft, to.id, body)
    # Admission comes first: also an apply that would change nothing fails where a webhook cannot be asked.
    body = admitted(draft, to.served, "CREATE" if live is None else "UPDATE", body, live, is_dry=is_dry)
    if live is not None and is_same(live, body):
        return shown(live, to.served, to.version)
    if live is None:
        check_quota(draft, to.served, to.id, body)
    validate(draft, to.served, live, body)
    if to.stored.group_kind == DEFINITION:
        check_definition(live, body)
    check_grant(draft, to.who, to.stored, live, body)
    stored = draft.put(to.stored, body)
    if _is_let_go(stored):
        draft.drop(to.stored)
    return shown(stored, to.served, to.version)


def _is_let_go(body: Body) -> bool:
    metadata = body["metadata"]
    return (
        "deletionTimestamp" in metadata
        and not metadata.get("finalizers")
        and body["kind"] not in ("Pod", "Namespace")
    )


def delete(
    draft: Draft,
    object_id: ObjectId,
    *,
    uid: str = "",
    resource_version: str = "",
    propagation: Propagation = Propagation.BACKGROUND,
) -> None:
    """Delete; a missing object is success, a precondition that fails ``Conflict``."""
    served = find(draft, object_id.group_kind, "delete", object_id.namespace)
    stored = stored_id(served, object_id)
    live = draft.get(stored)
    if live is None:
        return
    to = Target(served, object_id, stored, served.versions[0], {})
    _check_preconditions(to, live, {"uid": uid, "resourceVersion": resource_version})
    admitted(draft, served, "DELETE", live, live)
    begin_delete(draft, stored, propagation)


def let_go(draft: Draft, stored: ObjectId, finalizer: str) -> None:
    """Take one finalizer off; an object that was only waiting for it goes."""
    live = draft.get(stored)
    if live is None:
        return
    rest = [name for name in live["metadata"].get("finalizers") or () if name != finalizer]
    if _is_let_go(draft.put(stored, put(live, ("metadata", "finalizers"), rest))):
        draft.drop(stored)


def begin_delete(draft: Draft, stored: ObjectId, propagation: Propagation = Propagation.BACKGROUND) -> None:
    """Remove an object, or mark it for those who still have to let it go.

    Finalizers keep it, pods end in their own time, a namespace and a CRD after what they hold
    (https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/).
    """
    live = draft.get(stored)
    if live is None or "deletionTimestamp" in live["metadata"]:
        return
    if propagation in COLLECTED:
        held = [*(live["metadata"].get("finalizers") or ()), COLLECTED[propagation]]
        live = put(live, ("metadata", "finalizers"), held)
    if stored.kind == "CustomResourceDefinition":
        live = put(live, ("metadata", "finalizers"), [*(live["metadata"].get("finalizers") or ()), CLEANUP])
    metadata = live["metadata"]
    grace = int(dig(live, ("spec", "terminationGracePeriodSeconds")) or 0) if stored.kind == "Pod" else 0
    waits = metadata.get("finalizers") or stored.kind == "Pod" or dig(live, ("spec", "finalizers"))
    if not waits:
        draft.drop(stored)
        return
    ending = metadata | {"deletionTimestamp": stamp(draft.now), "deletionGracePeriodSeconds": grace}
    draft.put(stored, live | {"metadata": ending})
    draft.mark(metadata["uid"], "deleted", draft.now)
