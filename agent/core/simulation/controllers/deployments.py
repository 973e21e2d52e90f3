"""Deployments: rollouts over ReplicaSets, as pkg/controller/deployment does them.

https://kubernetes.io/docs/concepts/workloads/controllers/deployment/
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

from agent.core.model import Body, ObjectId
from agent.core.simulation.controllers.common import (
    POD,
    Controller,
    Item,
    children,
    claim,
    counts,
    digest,
    is_deleting,
    orphans,
    owner_key,
    owner_reference,
    within,
)
from agent.core.simulation.controllers.rollouts import HASH, RECREATE, REVISION, Rollout, size, write_status
from agent.core.simulation.controllers.scaling import DESIRED, MOST, is_rescaled, sizes
from agent.core.simulation.draft import Draft
from agent.core.simulation.requests import begin_delete
from agent.core.simulation.selectors import selects
from agent.core.simulation.tables import dig, put
from agent.core.simulation.world import NEVER, Event, controller_of


def calls(draft: Draft, event: Event) -> Iterable[ObjectId]:
    """A Deployment's own writes, those of its ReplicaSets and of their pods (Recreate waits for these)."""
    if event.id.kind == "Deployment":
        return [event.id]
    body: Body | None = event.body
    if event.id.group_kind == POD:
        owner = owner_key(event.body, "ReplicaSet")
        body = draft.get(owner) if owner else None
    elif event.id.kind != "ReplicaSet":
        return ()
    elif not controller_of(event.body):
        return within(draft, "apps", "Deployment", event.id.namespace)
    deployment = owner_key(body, "Deployment") if body else None
    return [deployment] if deployment else ()


def sync(draft: Draft, key: ObjectId) -> float:
    """Bring a Deployment one step on; the time at which it would pass its deadline."""
    deployment = draft.get(key)
    if deployment is None or is_deleting(deployment):
        return NEVER
    found = orphans(draft, "apps", "ReplicaSet", key.namespace)
    claim(draft, deployment, found, partial(selects, deployment["spec"]["selector"]))
    return _sync(
        draft, _rollout(key, deployment, children(draft, deployment["metadata"]["uid"], "ReplicaSet"))
    )


def _rollout(key: ObjectId, body: Body, sets: list[Item]) -> Rollout:
    template = body["spec"]["template"]
    new = next((item for item in sets if _without_hash(item[1]["spec"]["template"]) == template), None)
    return Rollout(key, body, new, tuple(item for item in sets if item is not new))


def _without_hash(template: Body) -> Body:
    labels = dig(template, ("metadata", "labels")) or {}
    return put(
        template, ("metadata", "labels"), {name: text for name, text in labels.items() if name != HASH}
    )


def _sync(draft: Draft, rollout: Rollout) -> float:
    if rollout.body["spec"].get("paused") or is_rescaled(rollout):
        for key, number in list(sizes(rollout)):
            _scale(draft, rollout, key, number)
    else:
        if rollout.body["spec"]["strategy"]["type"] == RECREATE:
            rollout = _recreate(draft, rollout)
        else:
            rollout = _roll(draft, rollout)
        _clean_up(draft, rollout)
    return write_status(draft, _again(draft, rollout))


def _again(draft: Draft, rollout: Rollout) -> Rollout:
    body = draft.get(rollout.key) or rollout.body
    sets = [(key, found) for key, _ in rollout.all if (found := draft.get(key)) is not None]
    return _rollout(rollout.key, body, sets)


def _ensure_new(draft: Draft, rollout: Rollout) -> Rollout:
    """The ReplicaSet of the template exists and has the highest revision."""
    highest = max((_revision(body) for _, body in rollout.old), default=0)
    if rollout.new is None:
        key, body = _new_set(draft, rollout, highest + 1)
        draft.put(key, body)
    elif _revision(rollout.new[1]) <= highest:
        key = rollout.new[0]
        draft.put(key, put(rollout.new[1], ("metadata", "annotations", REVISION), str(highest + 1)))
    else:
        key = rollout.new[0]
    newest = draft.get(key)
    revision = str(_revision(newest or {}))
    deployment = draft.get(rollout.key) or rollout.body
    draft.put(rollout.key, put(deployment, ("metadata", "annotations", REVISION), revision))
    found = [item for item in rollout.all if item[0] != key]
    return _again(draft, rollout._replace(new=(key, newest or {}), old=tuple(found)))


def _revision(body: Body) -> int:
    return int(dig(body, ("metadata", "annotations", REVISION)) or 0)


def _new_set(draft: Draft, rollout: Rollout, revision: int) -> Item:
    spec, metadata = rollout.body["spec"], rollout.body["metadata"]
    code = digest(spec["template"])
    taken = 0
    # Another owner's ReplicaSet can have the name: status.collisionCount in a real cluster.
    while draft.get(ObjectId("apps", "ReplicaSet", metadata["namespace"], f"{metadata['name']}-{code}")):
        taken += 1
        code = digest([spec["template"], taken])
    template = put(spec["template"], ("metadata", "labels", HASH), code)
    name = f"{metadata['name']}-{code}"
    body = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": name,
            "namespace": metadata["namespace"],
            "labels": template["metadata"]["labels"],
            "annotations": {REVISION: str(revision), **_wanted(rollout)},
            "ownerReferences": [owner_reference(rollout.body)],
        },
        "spec": {
            "replicas": min(rollout.replicas, max(0, rollout.most - sum(size(item) for item in rollout.old))),
            **counts(minReadySeconds=spec.get("minReadySeconds", 0)),
            "selector": put(spec["selector"], ("matchLabels", HASH), code),
            "template": template,
        },
    }
    return ObjectId("apps", "ReplicaSet", metadata["namespace"], name), body


def _available(item: Item) -> int:
    return int(dig(item[1], ("status", "availableReplicas")) or 0)


def _wanted(rollout: Rollout) -> dict[str, str]:
    """What a ReplicaSet remembers of its Deployment (util/deployment_util.go, SetReplicasAnnotations)."""
    return {DESIRED: str(rollout.replicas), MOST: str(rollout.most)}


def _scale(draft: Draft, rollout: Rollout, key: ObjectId, replicas: int) -> None:
    body = draft.get(key)
    notes = {**(dig(body, ("metadata", "annotations")) or {}), **_wanted(rollout)}
    if body is not None and (body["spec"]["replicas"], body["metadata"].get("annotations")) != (
        replicas,
        notes,
    ):
        draft.put(key, put(put(body, ("spec", "replicas"), replicas), ("metadata", "annotations"), notes))


def _roll(draft: Draft, rollout: Rollout) -> Rollout:
    """RollingUpdate: up as far as maxSurge allows, down as far as maxUnavailable allows (rolling.go)."""
    rollout = _ensure_new(draft, rollout)
    new = rollout.new
    if new is None:
        return rollout
    total = sum(size(item) for item in rollout.all)
    if size(new) > rollout.replicas:
        _scale(draft, rollout, new[0], rollout.replicas)
    elif size(new) < rollout.replicas and total < rollout.most:
        more = min(rollout.most - total, rollout.replicas - size(new))
        _scale(draft, rollout, new[0], size(new) + more)
        return _again(draft, rollout)
    _shrink_old(draft, rollout, new)
    return _again(draft, rollout)


def _shrink_old(draft: Draft, rollout: Rollout, new: Item) -> None:
    """First old pods that are not available, then as many available ones as can be spared."""
    total = sum(size(item) for item in rollout.all)
    least = rollout.replicas - rollout.unavailable
    room = total - least - (size(new) - _available(new))
    sizes = {item[0]: size(item) for item in rollout.old}
    old = sorted(rollout.old, key=lambda item: _revision(item[1]))
    for item in old:
        if room <= 0:
            break
        broken = min(room, size(item) - _available(item))
        sizes[item[0]] -= broken
        room -= broken
    spare = min(room, sum(_available(item) for item in rollout.all) - least)
    for item in old:
        if spare <= 0:
            break
        less = min(spare, sizes[item[0]])
        sizes[item[0]] -= less
        spare -= less
    for key, number in sizes.items():
        _scale(draft, rollout, key, number)


def _recreate(draft: Draft, rollout: Rollout) -> Rollout:
    """Recreate: the new pods come when no old one runs any more (recreate.go)."""
    for item in rollout.old:
        _scale(draft, rollout, item[0], 0)
    if any(children(draft, body["metadata"]["uid"]) for _, body in rollout.old):
        return _again(draft, rollout)
    rollout = _ensure_new(draft, rollout)
    if rollout.new:
        _scale(draft, rollout, rollout.new[0], rollout.replicas)
    return _again(draft, rollout)


def _clean_up(draft: Draft, rollout: Rollout) -> None:
    """Old ReplicaSets without pods go, but for revisionHistoryLimit of them."""
    empty = [item for item in rollout.old if not size(item) and not dig(item[1], ("status", "replicas"))]
    empty.sort(key=lambda item: _revision(item[1]))
    surplus = len(empty) - rollout.body["spec"].get("revisionHistoryLimit", 10)
    for key, _ in empty[: max(0, surplus)]:
        begin_delete(draft, key)


CONTROLLER: Final = Controller("deployment", calls, sync)
