"""Where a rehearsal begins: a model cluster in which the base release is installed and at rest.

What the manifests name and nobody in them makes is put there first, and told as an assumption: Secrets that
an operator makes, namespaces, kinds that another release defines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from agent.core.ledger import Entry, Generation, GenerationState, Ledger, Source
from agent.core.model import Body, Desired, Form, GroupKind, Manifest, ObjectId
from agent.core.policy import Policy
from agent.core.references import pod_template
from agent.core.rehearsal.agent import Setup
from agent.core.simulation import requests
from agent.core.simulation.draft import Draft
from agent.core.simulation.engine import advance, next_due
from agent.core.simulation.standins import IMAGE
from agent.core.simulation.tables import Served
from agent.core.simulation.world import NEVER, World
from agent.core.stamps import stamped
from agent.core.uses import uses_of
from agent.errors import ClusterError

OTHERS: Final = "somebody-else"
"""The field manager of what is assumed to stand."""

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

    ``missing`` tells which objects of the base the model would not take, with its words.
    """

    world: World
    ledger: Ledger
    assumed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def installed(world: World, setup: Setup, base: Desired | None, head: Desired) -> Stage:
    """The stage of an upgrade from ``base`` (None: from nothing) to ``head``."""
    releases = tuple(setup.releases.values())
    world, kinds = _with_kinds(world, releases)
    world = _with_namespaces(world, setup, base) if base is not None else world
    world, others, homeless = _with_others(world, setup.policy, releases)
    ledger = Ledger(head.set_name)
    assumed = (*(f"{kind} is served by something else" for kind in kinds), *others)
    if base is None:
        return Stage(at_rest(world), ledger, assumed, homeless)
    world, refused = _applied(world, setup, base)
    world = at_rest(world)
    taken = Generation(1, base.revision, GenerationState.IN_SERVICE, world.now)
    entries = {key: entry for key in base.manifests if (entry := _entry(world, base, key)) is not None}
    return Stage(
        world, replace(ledger, generations=(taken,), entries=entries), assumed, (*refused, *homeless)
    )


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


def _with_kinds(world: World, releases: Iterable[Desired]) -> tuple[World, tuple[GroupKind, ...]]:
    """The world that serves every kind that the releases use and do not define."""
    manifests = [m for release in releases for m in release.manifests.values()]
    defined = {
        GroupKind(str(spec.get("group")), str((spec.get("names") or {}).get("kind")))
        for m in manifests
        if m.id.group_kind == _CRD and (spec := m.body.get("spec") or {})
    }
    # Programs of the model that stand in for those of the release serve the kinds of their group themselves.
    has_standins = any(IMAGE in str(m.body.get("spec")) for m in manifests)
    apis = (m.body.get("spec") or {} for m in manifests if m.id.kind == "APIService" and has_standins)
    by_pods = {str(spec.get("group")) for spec in apis}
    used: dict[GroupKind, list[Manifest]] = {}
    for m in manifests:
        kind = m.id.group_kind
        if kind not in defined and kind not in world.tables.served and kind.group not in by_pods:
            used.setdefault(kind, []).append(m)
    rows = {kind: _row(kind, found) for kind, found in used.items()}
    tables = replace(world.tables, served={**world.tables.served, **rows})
    return (replace(world, tables=tables) if rows else world), tuple(sorted(rows))


def _row(kind: GroupKind, found: Iterable[Manifest]) -> Served:
    found = tuple(found)
    versions = sorted({manifest.api_version.rpartition("/")[2] for manifest in found})
    is_namespaced = any(manifest.id.namespace for manifest in found)
    return Served(kind, tuple(versions), kind.kind.lower() + "s", is_namespaced, kind)


def _with_namespaces(world: World, setup: Setup, base: Desired) -> World:
    """The world with the namespaces of the base: what others made stands in them."""
    draft = Draft(world)
    for key, manifest in sorted(base.manifests.items()):
        if key.group_kind == _NAMESPACE:
            body = stamped(manifest.body, base.set_name, 1, base.revision)
            requests.apply(draft, body, setup.rules.manager)
    return draft.finish()


def _with_others(
    world: World, policy: Policy, releases: Iterable[Desired]
) -> tuple[World, tuple[str, ...], tuple[str, ...]]:
    """The world with what the releases' pods and objects name and no manifest makes.

    What would stand in a namespace that only comes with the upgrade cannot stand before: it is told last.
    """
    wanted: dict[ObjectId, Body] = {}
    made = {key for release in releases for key in release.manifests}
    for release in releases:
        for key, manifest in sorted(release.manifests.items()):
            for need, body in _needs(key, manifest.body, policy):
                if need not in made and need not in wanted and world.get(need) is None:
                    wanted[need] = body
    homes = {"", *(key.name for key in (*world.of(*_NAMESPACE), *wanted) if key.group_kind == _NAMESPACE)}
    homeless = {key for key in wanted if key.namespace not in homes}
    draft = Draft(world)
    for key in sorted(wanted.keys() - homeless, key=lambda key: (key.group_kind != _NAMESPACE, key)):
        requests.apply(draft, wanted[key], OTHERS)
    told = (f"{key} stands, made by something else" for key in sorted(wanted.keys() - homeless))
    lacks = (f"{key} is made by no manifest, and its namespace comes with the upgrade" for key in homeless)
    return advance(draft.finish(), 0), tuple(told), tuple(sorted(lacks))


def _needs(key: ObjectId, body: Body, policy: Policy) -> Iterator[tuple[ObjectId, Body]]:
    if key.namespace:
        yield ObjectId("", "Namespace", "", key.namespace), _bare("Namespace", "", key.namespace)
    template: Mapping[str, Body] | None = pod_template(body, policy)
    if template is None:
        return
    for use in uses_of(key, dict(template)):
        name = use.id.name
        if use.id.kind == "ServiceAccount" and name == "default":
            continue
        bare = _bare(use.id.kind, use.id.namespace, name)
        if use.keys and use.id.kind in ("ConfigMap", "Secret"):
            bare["data"] = dict.fromkeys(sorted(use.keys), "")
        yield use.id, bare


def _bare(kind: str, namespace: str, name: str) -> Body:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    body: Body = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    if kind == "PersistentVolumeClaim":
        body["spec"] = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return body
