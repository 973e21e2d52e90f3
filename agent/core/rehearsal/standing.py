"""Where a rehearsal begins that starts from a live cluster, or a snapshot of one: with all that stands there.

A handoff that is under way goes on from where it is: the ledger's generations, widened forms, cutovers and
approvals hold in the model as they do in the cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from agent.core.absence import EVIDENCE
from agent.core.ledger import Generation, Ledger, Orphan
from agent.core.looking import members_of, places_of
from agent.core.model import Body, Desired, Live, ObjectId
from agent.core.rbac import RBAC_GROUP
from agent.core.references import pod_template
from agent.core.rehearsal.agent import Setup
from agent.core.rehearsal.others import needs_of, with_bare, with_others
from agent.core.rehearsal.scene import HELD_BACK, LASTING
from agent.core.rehearsal.stage import Stage, at_rest, with_kinds
from agent.core.simulation.restoring import restored
from agent.core.simulation.tables import put
from agent.core.simulation.world import World

_ANNOTATIONS: Final = ("spec", "template", "metadata", "annotations")
_NOT_READY: Final = "was not ready when it was looked at"
_COMES: Final = "what it serves is judged once it is ready"
_STAYS: Final = "nothing makes it ready here"


@dataclass(frozen=True)
class Standing:
    """What a look at a cluster gave at ``now`` (its own epoch seconds), and the ledger of the set there.

    ``releases`` are those that the ledger's generations and members came from, by revision.
    """

    live: Live
    ledger: Ledger
    releases: Mapping[str, Desired]
    now: float


def stage_of(world: World, setup: Setup, standing: Standing, head: Desired) -> Stage:
    """The stage of an upgrade to ``head`` from what stands."""
    objects = {key: obj.body for key, obj in standing.live.objects.items()}
    releases = tuple(setup.releases.values())
    written = (manifest.body for release in releases for manifest in release.manifests.values())
    world, kinds = with_kinds(world, (*objects.values(), *written))
    named = {key.group_kind for release in releases for key in release.manifests}
    unready = _unready(setup, standing)
    own = unready & head.manifests.keys()
    late_bodies = [objects[key] for key in sorted(own)]
    found = (_as_found(key, body, unready) for key, body in objects.items() if key not in own)
    placed = restored(world, found, late_bodies)
    world = with_bare(placed.world, _unread(placed.world, setup, standing))
    world, comes, others = with_others(world, releases, setup.policy, _seen_absent(standing, head))
    # What an aggregated API server keeps can be put there once that serves.
    served = restored(at_rest(world), (objects[key] for key in placed.left_out))
    world = at_rest(served.world)
    late = restored(world, late_bodies)
    left_out = {**served.left_out, **late.left_out}
    return Stage(
        late.world,
        _moved(standing.ledger, {**placed.uids, **served.uids, **late.uids}, world.now - standing.now),
        assumed=(
            *(f"{kind} is served by something else" for kind in kinds if kind in named),
            *others,
            *(f"{key} {_NOT_READY}: {_COMES if key in own else _STAYS}" for key in sorted(unready)),
        ),
        missing=(
            *(f"{key}: {why}" for key, why in sorted(left_out.items())),
            *(f"{kind} could not be read: {why}" for kind, why in sorted(standing.live.unknown.items())),
        ),
        since=world.version,
        before=_before(standing),
        unready=own,
        comes=comes,
        first=_before_widening(standing, late.world),
    )


def _unread(world: World, setup: Setup, standing: Standing) -> dict[ObjectId, Body]:
    """What objects that are ready mount and nobody read: it is there, or they would not be."""
    objects = standing.live.objects.items()
    ready = ((key, obj.body) for key, obj in objects if setup.health.judge(obj).is_ready)
    needs = (need for key, body in ready for need in needs_of(key, body, setup.policy))
    return {need: bare for need, bare in needs if world.get(need) is None}


def _seen_absent(standing: Standing, head: Desired) -> Callable[[ObjectId], bool]:
    """Whether the look would have shown an object that stands: its kind was read where it would be."""
    members = members_of(head, standing.ledger)
    kinds = (EVIDENCE | {key.group_kind for key in members}) - standing.live.unknown.keys()
    places = {kind: places_of(kind, members) for kind in kinds}
    return lambda key: bool({"", key.namespace} & set(places.get(key.group_kind, ())))


def _unready(setup: Setup, standing: Standing) -> frozenset[ObjectId]:
    """Workloads whose pods are not all there: the model must not take them as ready."""
    return frozenset(
        key
        for key, obj in standing.live.objects.items()
        if key.kind in LASTING
        and not obj.metadata.get("ownerReferences")
        and pod_template(obj.body, setup.policy) is not None
        and not setup.health.judge(obj).is_ready
    )


def _as_found(key: ObjectId, body: Body, unready: frozenset[ObjectId]) -> Body:
    """Somebody else's workload that is not ready never becomes it here."""
    if key not in unready:
        return body
    return put(body, (*_ANNOTATIONS, HELD_BACK), "true")


def _before(standing: Standing) -> dict[ObjectId, Body]:
    """What was last applied of each member."""
    found = {}
    for key, entry in standing.ledger.entries.items():
        release = standing.releases.get(entry.bases[-1].commit)
        manifest = release.manifests.get(key) if release else None
        if manifest is not None:
            found[key] = manifest.body
    return found


def _before_widening(standing: Standing, world: World) -> dict[ObjectId, Body]:
    """Roles and bindings as the release in service has them, while a handoff is under way."""
    last, newest = standing.ledger.last_in_service, standing.ledger.newest
    release = standing.releases.get(last.revision) if last else None
    if release is None or last == newest:
        return {}
    found = {}
    for key, manifest in release.manifests.items():
        live = world.get(key)
        if key.group == RBAC_GROUP and live is not None:
            found[key] = {
                **live,
                **{name: part for name, part in manifest.body.items() if name != "metadata"},
            }
    return found


def _moved(ledger: Ledger, uids: Mapping[str, str], by: float) -> Ledger:
    """The ledger on the model's clock (``by`` seconds ahead) and with the model's uids."""

    def uid(known: str) -> str:
        return uids.get(known, known)

    entries = {
        key: replace(
            entry,
            uid=uid(entry.uid),
            fingerprint=None,
            cutover_at=entry.cutover_at and entry.cutover_at + by,
            orphans=tuple(Orphan(orphan.id, uid(orphan.uid)) for orphan in entry.orphans),
        )
        for key, entry in ledger.entries.items()
    }
    return replace(
        ledger,
        generations=tuple(_generation(one, by) for one in ledger.generations),
        entries=entries,
        holds={},
        acts=tuple(replace(act, uid=uid(act.uid), at=act.at + by) for act in ledger.acts),
    )


def _generation(one: Generation, by: float) -> Generation:
    return replace(one, since=one.since + by, served=one.served and one.served + by)
