"""A world with the objects of a live cluster in it: what was read there, put down as it stood.

Nothing is asked of admission and nobody's rights count: the API server has let all of it in before. What
controllers make of it by themselves (the pods of a Deployment, the endpoints of a Service) they make here
too; the model's own delays count, so that a rollout which was under way has to go on anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from agent.core.model import Body, ObjectId
from agent.core.simulation.discovery import find
from agent.core.simulation.draft import Draft
from agent.core.simulation.engine import advance
from agent.core.simulation.requests import SERVER_FIELDS, begin_delete, stored_id
from agent.core.simulation.world import World, controller_of, id_of
from agent.errors import ClusterError

_FIRST: Final = ("Namespace", "CustomResourceDefinition")
"""Kinds without which others have no place."""

_KEPT: Final = frozenset({"managedFields"})
"""Fields of the server that say who wrote what: conflicts depend on them."""


class Restored(NamedTuple):
    """The world, each live uid's uid in it, and what found no place, with the reason."""

    world: World
    uids: Mapping[str, str]
    left_out: Mapping[ObjectId, str]


def restored(world: World, bodies: Iterable[Body], later: Iterable[Body] = ()) -> Restored:
    """The world with these live bodies; what a controller of the model makes again itself is passed over.

    ``later`` are bodies that are to follow: what they make is passed over too.
    """
    bodies = list(bodies)
    by_uid = {body["metadata"].get("uid", ""): body for body in (*bodies, *later)}
    meant = [body for body in bodies if not _is_remade(world, body, by_uid)]
    uids: dict[str, str] = {}
    left_out: dict[ObjectId, str] = {}
    for first in (True, False):
        draft = Draft(world)
        going = []
        for body in _owners_first([one for one in meant if (one["kind"] in _FIRST) is first], by_uid):
            try:
                stored = _put_down(draft, body, uids)
            except ClusterError as error:
                left_out[id_of(body)] = str(error)
            else:
                going += [stored] if "deletionTimestamp" in body["metadata"] else []
        for stored in going:
            begin_delete(draft, stored)
        # New kinds are served a moment later.
        world = advance(draft.finish(), draft.timing.establish if first else 0.0)
    return Restored(world, uids, left_out)


def _is_remade(world: World, body: Body, by_uid: Mapping[str, Body]) -> bool:
    """Whether the model has it without us: its controller stands here too, or it is the model's own."""
    owners = world.tables.remade.get(body["kind"])
    if owners is None:
        return False
    controller = by_uid.get(controller_of(body))
    return not owners or (controller is not None and controller["kind"] in owners)


def _owners_first(bodies: list[Body], by_uid: Mapping[str, Body]) -> Iterable[Body]:
    placed: set[str] = set()
    pending = bodies
    while pending:
        waiting = {body["metadata"].get("uid", "") for body in pending} - placed
        ready = [one for one in pending if not (_owners(one) & waiting & by_uid.keys())]
        # Owners in a circle have no first one.
        for body in ready or pending:
            placed.add(body["metadata"].get("uid", ""))
            yield body
        pending = [one for one in pending if one not in ready] if ready else []


def _owners(body: Body) -> set[str]:
    return {str(owner["uid"]) for owner in body["metadata"].get("ownerReferences") or ()}


def _put_down(draft: Draft, body: Body, uids: dict[str, str]) -> ObjectId:
    asked = id_of(body)
    served = find(draft, asked.group_kind, "create", asked.namespace)
    stored = stored_id(served, asked)
    live = draft.get(stored)
    if live is None or not _says_the_same(live, body):
        live = draft.put(stored, _as_stored(draft, body, stored, served.storage_version, uids))
    uids[str(body["metadata"].get("uid", ""))] = str(live["metadata"]["uid"])
    return stored


def _as_stored(draft: Draft, body: Body, stored: ObjectId, version: str, uids: Mapping[str, str]) -> Body:
    metadata = {
        key: value
        for key, value in body["metadata"].items()
        if key in _KEPT or (key not in SERVER_FIELDS and key != "ownerReferences")
    }
    owners = [
        {**owner, "uid": uids[owner["uid"]]}
        for owner in body["metadata"].get("ownerReferences") or ()
        if owner["uid"] in uids
    ]
    version = version or str(body["apiVersion"]).rpartition("/")[2]
    found = {**body, "apiVersion": f"{stored.group}/{version}" if stored.group else version}
    found["metadata"] = metadata | ({"ownerReferences": owners} if owners else {})
    if body["kind"] in draft.tables.reckoned:
        found.pop("status", None)
    return found


def _says_the_same(live: Body, body: Body) -> bool:
    """Whether the new cluster of the model holds it already, as every cluster does."""
    apart = ("metadata", "status", "apiVersion")
    rest = [{key: value for key, value in one.items() if key not in apart} for one in (live, body)]
    labels = [one["metadata"].get("labels") or {} for one in (live, body)]
    return rest[0] == rest[1] and labels[0] == labels[1]
