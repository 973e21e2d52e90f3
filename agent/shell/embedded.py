"""The embedded cluster: the port over a world of the model, held in this process; time moves when told."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from threading import Condition, Event
from typing import Any, Final, TypeVar

from agent.core.kinds import CRD
from agent.core.model import Body, ObjectId
from agent.core.propagation import Propagation
from agent.core.rbac import Ask, Subject, service_account
from agent.core.schemas import documents_of
from agent.core.simulation import discovery, requests
from agent.core.simulation.bootstrap import new_world
from agent.core.simulation.definitions import check_conversion, definition_of
from agent.core.simulation.draft import Draft
from agent.core.simulation.engine import advance
from agent.core.simulation.selectors import parsed, selects
from agent.core.simulation.serving import through_pointer
from agent.core.simulation.standins import Reply
from agent.core.simulation.tables import Served, Tables
from agent.core.simulation.world import World, id_of
from agent.core.stamps import digest_of
from agent.errors import Conflict, Forbidden, NotServed
from agent.shell.cluster import Discovery, Document, Listing, Resource, WatchEvent
from agent.shell.policies import read_tables, shipped_folder

T = TypeVar("T")

MANAGER: Final = "trapeze"
"""The field manager of plain creates and updates."""

VERBS: Final = frozenset({"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"})
ADMIN: Final = Subject("embedded-admin", frozenset({"system:masters", "system:authenticated"}))
FORBIDDEN: Final = 403
LOOK: Final = 0.05
"""Seconds after which a watch that has nothing to tell looks whether it shall stop."""


@lru_cache(maxsize=1)
def shipped_model() -> tuple[Tables, Any]:
    """The model's tables and what stands in a new cluster, as shipped. Raises ``ConfigError``."""
    folder: Path = shipped_folder()
    files = (folder / "kinds.yaml", folder / "model" / "cluster.yaml", folder / "model" / "bootstrap.yaml")
    kinds, cluster, bootstrap = (table for _, table in read_tables(files))
    return Tables.parse(cluster, kinds["kinds"]), bootstrap


class _Held:
    """The world that all views of one embedded cluster share."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.oldest = world.version
        self.changed = Condition()

    def write(self, do: Callable[[Draft], T], *, keep: bool = True) -> T:
        """Do one request; where it raises, or is a dry run, nothing of it is kept."""
        with self.changed:
            draft = Draft(self.world)
            result = do(draft)
            if keep:
                self.world = draft.finish()
                self.changed.notify_all()
            return result

    def advance(self, seconds: float) -> None:
        with self.changed:
            self.world = advance(self.world, seconds)
            self.changed.notify_all()


class EmbeddedCluster:
    """A cluster of its own at ``start`` (seconds since the epoch), seen by an admin.

    Raises what the port says. Safe to use from several threads.
    """

    def __init__(self, start: float = 0, *, subject: Subject = ADMIN, held: _Held | None = None) -> None:
        self._held = held or _Held(new_world(*shipped_model(), start=start))
        self._subject = subject

    def acting_as(self, namespace: str, name: str) -> EmbeddedCluster:
        """The same cluster as a ServiceAccount sees it, with that account's rights alone."""
        return EmbeddedCluster(subject=service_account(namespace, name), held=self._held)

    def advance(self, seconds: float) -> None:
        """Let time pass: controllers act, pods start and end."""
        self._held.advance(seconds)

    def now(self) -> float:
        """Seconds since the epoch, in the cluster's own time."""
        return self._held.world.now

    @property
    def world(self) -> World:
        """The state as a value; it stays as it is while the cluster goes on."""
        return self._held.world

    def request(self, pointer: ObjectId) -> Reply:
        """Does a request through this APIService, Service, Ingress, webhook or CRD get a right answer now?"""
        return through_pointer(self.world, pointer)

    def discover(self) -> Discovery:
        """What is served now."""
        kinds, failed = discovery.served_now(self.world)
        return Discovery({kind: _resource(served) for kind, served in kinds.items()}, failed)

    def list(self, resource: Resource, namespace: str = "", selector: str = "") -> Listing:
        """Whole objects of a kind."""
        world = self.world
        served = self._find(world, resource, "list", namespace)
        wanted = parsed(selector)
        items = [
            _shown(body, served, resource.versions[0])
            for key, body in sorted(world.of(*served.storage).items())
            if namespace in ("", key.namespace) and selects(wanted, body["metadata"].get("labels") or {})
        ]
        return Listing(items, str(world.version))

    def list_metadata(self, resource: Resource, namespace: str = "", selector: str = "") -> Listing:
        """The same, apiVersion, kind and metadata only."""
        whole = self.list(resource, namespace, selector)
        keys = ("apiVersion", "kind", "metadata")
        return whole._replace(items=[{key: body[key] for key in keys} for body in whole.items])

    def get(self, resource: Resource, object_id: ObjectId) -> Body | None:
        """One object, or None."""
        world = self.world
        served = self._find(world, resource, "get", object_id.namespace, object_id.name)
        body = world.get(requests.stored_id(served, object_id))
        return None if body is None else _shown(body, served, resource.versions[0])

    def apply(self, resource: Resource, body: Body, *, manager: str, take_over: bool = False) -> Body:
        """Server-side apply."""
        self._may("patch", resource, body)
        return self._held.write(
            lambda draft: requests.apply(draft, body, manager, force=take_over, who=self._subject)
        )

    def dry_run(self, resource: Resource, body: Body, *, manager: str, take_over: bool = False) -> Body:
        """What ``apply`` would answer."""
        self._may("patch", resource, body)
        return self._held.write(
            lambda draft: requests.apply(
                draft, body, manager, force=take_over, is_dry=True, who=self._subject
            ),
            keep=False,
        )

    def delete(
        self,
        resource: Resource,
        object_id: ObjectId,
        *,
        uid: str,
        resource_version: str,
        propagation: Propagation = Propagation.BACKGROUND,
    ) -> None:
        """Delete, and let go on to what it owns as ``propagation`` says."""
        self._find(self.world, resource, "delete", object_id.namespace, object_id.name)
        self._held.write(
            lambda draft: requests.delete(
                draft, object_id, uid=uid, resource_version=resource_version, propagation=propagation
            )
        )

    def can(self, verb: str, resource: Resource, namespace: str = "", name: str = "") -> str:
        """Empty when allowed, else the reason."""
        ask = Ask(verb, resource.kind.group, resource.plural, "", namespace, name)
        if self.world.rights().allows(self._subject, ask):
            return ""
        where = f" in namespace {namespace}" if namespace else ""
        return f"{self._subject.user} may not {verb} {resource.kind}{where}: no RBAC rule allows it"

    def whoami(self) -> str:
        """The user that the model's requests come from."""
        return self._subject.user

    def create(self, resource: Resource, body: Body) -> Body:
        """A plain create."""
        self._may("create", resource, body)
        return self._held.write(lambda draft: requests.create(draft, body, MANAGER, self._subject))

    def replace(self, resource: Resource, body: Body) -> Body:
        """A plain update."""
        self._may("update", resource, body)
        return self._held.write(lambda draft: requests.replace(draft, body, MANAGER, self._subject))

    def replace_status(self, resource: Resource, body: Body) -> Body:
        """A plain update of the status alone."""
        self._may("update", resource, body)
        return self._held.write(lambda draft: requests.replace_status(draft, body))

    def read(self, path: str) -> int:
        """The HTTP status of a GET."""
        if not self.world.rights().allows(self._subject, Ask("get", path=path)) and discovery.is_url(path):
            return FORBIDDEN
        return discovery.read_path(self.world, path).status

    def log(self, pod: ObjectId, lines: int) -> str:
        """Always empty: the programs of the model write nothing."""
        del pod, lines
        return ""

    def openapi(self, api_versions: Collection[str]) -> Mapping[str, Document]:
        """Documents of the group-versions that definitions bring; the model has none of built-in kinds."""
        crds = [body for _, body in sorted(self.world.of(*CRD).items())]
        return {
            api_version: Document(digest_of(body), body)
            for api_version, body in documents_of(crds).items()
            if api_version in api_versions
        }

    def verify_serving(self, namespace: str, service: str, port: int, bundle: str) -> str:
        """Always empty: the model's servers have no certificates that could be wrong."""
        del namespace, service, port, bundle
        return ""

    def watch(self, resource: Resource, resource_version: str, stop: Event) -> Iterator[WatchEvent]:
        """Events after ``resource_version`` until ``stop``; what was before this cluster began is too old."""
        served = self._find(self.world, resource, "watch")
        seen = int(resource_version)
        if seen < self._held.oldest:
            raise Conflict(f"watch {resource.kind}: version {resource_version} is too old; list again")
        while not stop.is_set():
            with self._held.changed:
                if self._held.world.version <= seen:
                    self._held.changed.wait(LOOK)
                world = self._held.world
            for event in world.events_after(seen):
                if event.id.group_kind == served.storage and not stop.is_set():
                    yield WatchEvent(event.type, _shown(event.body, served, resource.versions[0]))
            seen = world.version

    def _find(
        self, world: World, resource: Resource, verb: str, namespace: str = "", name: str = ""
    ) -> Served:
        """How the kind is served, if the caller may; raises ``Forbidden``, ``NotServed``, ``Unreachable``."""
        if reason := self.can(verb, resource, namespace, name):
            raise Forbidden(reason)
        served = discovery.find(world, resource.kind, verb, namespace)
        if resource.versions[0] not in served.versions:
            raise NotServed(f"the server serves no {resource.kind} in version {resource.versions[0]}")
        check_conversion(world, definition_of(world, served), resource.versions[0])
        return served

    def _may(self, verb: str, resource: Resource, body: Body) -> None:
        object_id = id_of(body)
        if reason := self.can(verb, resource, object_id.namespace, object_id.name):
            raise Forbidden(f"{object_id} is forbidden: {reason}")


def _shown(body: Body, served: Served, version: str) -> Body:
    """As a client reads it: outer maps of its own, so that one who writes into them spoils no state."""
    body = requests.shown(body, served, version)
    return body | {"metadata": dict(body["metadata"])}


def _resource(served: Served) -> Resource:
    return Resource(served.kind, served.versions, served.plural, served.is_namespaced, VERBS)
