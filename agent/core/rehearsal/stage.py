"""Where a rehearsal begins: a model cluster in which the base release is installed and at rest.

What the manifests name and nobody in them makes is put there first, and told as an assumption: Secrets that
an operator makes, namespaces, kinds that another release defines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from agent.core.ledger import Entry, Generation, GenerationState, Ledger, Source
from agent.core.model import Body, Desired, Form, GroupKind, ObjectId
from agent.core.rehearsal.agent import Setup
from agent.core.rehearsal.others import with_others
from agent.core.simulation import requests
from agent.core.simulation.draft import Draft
from agent.core.simulation.engine import advance, next_due
from agent.core.simulation.standins import IMAGE
from agent.core.simulation.tables import Served
from agent.core.simulation.world import NEVER, World, id_of
from agent.core.stamps import stamped
from agent.errors import ClusterError

_CRD: Final = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")
_NAMESPACE: Final = GroupKind("", "Namespace")
_SECRET: Final = GroupKind("", "Secret")
_ROUNDS: Final = 6
_PAUSE: Final = 10.0
_REST: Final = 600.0
"""Seconds after which the base release counts as installed though something still moves."""


@dataclass(frozen=True)
class Stage:
    """The world in which the base is in service, the ledger that says so, and what had to be assumed.

    ``missing`` tells which objects the model would not take, with its words. ``since``: the version of the
    world after which pods are the upgrade's; ``before``: what was last applied of each member; ``unready``
    are members whose pods are made after ``since`` though the upgrade does not change them. ``comes``: what
    somebody else makes in each namespace once the upgrade has made that. ``first``: roles and bindings
    as they were before the handoff widened them; what a union alone gives was promised to nobody.
    """

    world: World
    ledger: Ledger
    assumed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    since: int = 0
    before: Mapping[ObjectId, Body] = field(default_factory=dict)
    unready: frozenset[ObjectId] = frozenset()
    comes: Mapping[str, Mapping[ObjectId, Body]] = field(default_factory=dict)
    first: Mapping[ObjectId, Body] = field(default_factory=dict)


def installed(world: World, setup: Setup, base: Desired | None, head: Desired) -> Stage:
    """The stage of an upgrade from ``base`` (None: from nothing) to ``head``."""
    releases = tuple(setup.releases.values())
    world, kinds = with_kinds(world, (m.body for one in releases for m in one.manifests.values()))
    world = _with_namespaces(world, setup, base) if base is not None else world
    world, comes, others = with_others(world, releases, setup.policy)
    ledger = Ledger(head.set_name)
    assumed = (*(f"{kind} is served by something else" for kind in kinds), *others)
    if base is None:
        world = at_rest(world)
        return Stage(world, ledger, assumed, since=world.version, comes=comes)
    world, refused = _applied(advance(world, 0), setup, base)
    world = at_rest(world)
    taken = Generation(1, base.revision, GenerationState.IN_SERVICE, world.now)
    entries = {key: entry for key in base.manifests if (entry := _entry(world, base, key)) is not None}
    ledger = replace(ledger, generations=(taken,), entries=entries)
    before = {key: manifest.body for key, manifest in base.manifests.items()}
    return Stage(world, ledger, assumed, refused, since=world.version, before=before, comes=comes)


def at_rest(world: World) -> World:
    """The world once nothing happens by itself any more, or after a long while."""
    until = world.now + _REST
    while (due := next_due(world)) < NEVER and due <= until:
        world = advance(world, max(0.0, due - world.now))
    return world


def _applied(world: World, setup: Setup, base: Desired) -> tuple[World, tuple[str, ...]]:
    """Every object of the base applied by our manager; what is refused is tried again a little later."""
    pending = sorted(base.manifests, key=lambda key: (setup.policy.rank(key.group_kind), key))
    refused: dict[ObjectId, str] = {}
    for _ in range(_ROUNDS):
        refused = {}
        for key in pending:
            body = stamped(base.manifests[key].body, base.set_name, 1, base.revision)
            draft = Draft(world)
            try:
                requests.apply(draft, body, setup.rules.manager)
            except ClusterError as error:
                # What is said of a Secret may repeat what is in it.
                refused[key] = "refused" if key.group_kind == _SECRET else str(error)
            else:
                world = draft.finish()
        world = advance(world, _PAUSE)
        pending = [key for key in pending if key in refused]
        if not pending:
            break
    return world, tuple(f"{key}: {why}" for key, why in sorted(refused.items()))


def _entry(world: World, base: Desired, key: ObjectId) -> Entry | None:
    manifest = base.manifests[key]
    body = world.get(key) or _stored_elsewhere(world, key)
    if body is None:
        return None
    source = Source(base.revision, manifest.origin.file, manifest.origin.document)
    uid = str(body["metadata"]["uid"])
    return Entry(key, manifest.api_version, 1, (source,), Form.FINAL, uid)


def _stored_elsewhere(world: World, key: ObjectId) -> Body | None:
    """An object that an aggregated API server keeps under another group."""
    return next(
        (
            body
            for kind, objects in world.kinds.items()
            if kind.kind == key.kind
            for own, body in objects.items()
            if (own.namespace, own.name) == (key.namespace, key.name)
        ),
        None,
    )


def with_kinds(world: World, bodies: Iterable[Body]) -> tuple[World, tuple[GroupKind, ...]]:
    """The world that serves every kind of these bodies that they do not define, and which kinds those are."""
    bodies = tuple(bodies)
    defined = {
        GroupKind(str(spec.get("group")), str((spec.get("names") or {}).get("kind")))
        for body in bodies
        if id_of(body).group_kind == _CRD and (spec := body.get("spec") or {})
    }
    # Programs of the model that stand in for those of the release serve the kinds of their group themselves.
    has_standins = any(IMAGE in str(body.get("spec")) for body in bodies)
    apis = (body.get("spec") or {} for body in bodies if body["kind"] == "APIService" and has_standins)
    by_pods = {str(spec.get("group")) for spec in apis if spec.get("service")}
    used: dict[GroupKind, list[Body]] = {}
    for body in bodies:
        kind = id_of(body).group_kind
        if kind not in defined and kind not in world.tables.served and kind.group not in by_pods:
            used.setdefault(kind, []).append(body)
    rows = {kind: _row(kind, found) for kind, found in used.items()}
    tables = replace(world.tables, served={**world.tables.served, **rows})
    return (replace(world, tables=tables) if rows else world), tuple(sorted(rows))


def _row(kind: GroupKind, found: Iterable[Body]) -> Served:
    found = tuple(found)
    versions = sorted({body["apiVersion"].rpartition("/")[2] for body in found})
    is_namespaced = any(id_of(body).namespace for body in found)
    return Served(kind, tuple(versions), kind.kind.lower() + "s", is_namespaced, kind)


def _with_namespaces(world: World, setup: Setup, base: Desired) -> World:
    """The world with the namespaces of the base: what others made stands in them."""
    draft = Draft(world)
    for key, manifest in sorted(base.manifests.items()):
        if key.group_kind == _NAMESPACE:
            body = stamped(manifest.body, base.set_name, 1, base.revision)
            requests.apply(draft, body, setup.rules.manager)
    return draft.finish()
