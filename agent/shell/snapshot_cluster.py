"""The port over a snapshot: it lists what was read then, and answers nothing else.

What only a live cluster can say (dry runs, access reviews, requests, certificates) raises ``Unreachable``:
the plan then says what it would ask, and holds by it.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Final, NoReturn

from agent.core.model import Body, GroupKind, ObjectId
from agent.core.policy import id_of
from agent.core.propagation import Propagation
from agent.core.simulation.selectors import parsed, selects
from agent.errors import Unreachable
from agent.shell.cluster import Discovery, Document, Listing, Resource, WatchEvent
from agent.shell.snapshot import Read, Snapshot

_NAMESPACE: Final = GroupKind("", "Namespace")


@dataclass(frozen=True)
class SnapshotCluster:
    """``known`` are values that the snapshot masks and the caller knows from elsewhere (Secrets in Git)."""

    snapshot: Snapshot
    known: Mapping[ObjectId, Body] = field(default_factory=dict)

    def discover(self) -> Discovery:
        """What was served then."""
        return self.snapshot.discovery

    def list(self, resource: Resource, namespace: str = "", selector: str = "") -> Listing:
        """What was read then. Raises Unreachable for what was not, with the reason of then."""
        read = self._read(resource.kind, namespace)
        if read.error:
            raise Unreachable(f"when the snapshot was taken: {read.error}")
        wanted = parsed(selector)
        items = [
            {**body, **self.known.get(id_of(body), {})}
            for body in read.items
            if namespace in ("", body["metadata"].get("namespace", ""))
            and selects(wanted, body["metadata"].get("labels") or {})
        ]
        return Listing(items, "0")

    def list_metadata(self, resource: Resource, namespace: str = "", selector: str = "") -> Listing:
        """The same, apiVersion, kind and metadata only."""
        whole = self.list(resource, namespace, selector)
        keys = ("apiVersion", "kind", "metadata")
        return whole._replace(items=[{key: body[key] for key in keys} for body in whole.items])

    def get(self, resource: Resource, object_id: ObjectId) -> Body | None:
        """One of the objects that were listed, or None."""
        listed = self.list(resource, object_id.namespace).items
        return next((body for body in listed if id_of(body) == object_id), None)

    def _read(self, kind: GroupKind, namespace: str) -> Read:
        reads = self.snapshot.reads
        found = reads.get((kind, namespace)) or reads.get((kind, ""))
        if found is not None:
            return found
        places = reads.get((_NAMESPACE, ""))
        if places and not places.error and namespace not in {b["metadata"]["name"] for b in places.items}:
            return Read(())  # a namespace that was not there held nothing
        raise Unreachable(f"{kind} in {namespace or 'all namespaces'} is not in the snapshot")

    def _unasked(self, what: str) -> NoReturn:
        raise Unreachable(f"{what}: a snapshot is not asked")

    def apply(self, resource: Resource, body: Body, *, manager: str, take_over: bool = False) -> Body:
        """Raises Unreachable."""
        self._unasked(f"apply {resource.kind} {body['metadata']['name']} as {manager} ({take_over=})")

    def dry_run(self, resource: Resource, body: Body, *, manager: str, take_over: bool = False) -> Body:
        """Raises Unreachable."""
        self._unasked(f"try {resource.kind} {body['metadata']['name']} as {manager} ({take_over=})")

    def delete(
        self,
        resource: Resource,
        object_id: ObjectId,
        *,
        uid: str,
        resource_version: str,
        propagation: Propagation = Propagation.BACKGROUND,
    ) -> None:
        """Raises Unreachable."""
        self._unasked(
            f"delete {object_id} of {resource.plural} ({uid=}, {resource_version=}, {propagation=})"
        )

    def can(self, verb: str, resource: Resource, namespace: str = "", name: str = "") -> str:
        """Raises Unreachable."""
        self._unasked(f"may we {verb} {resource.kind} {namespace}/{name}")

    def whoami(self) -> str:
        """Raises Unreachable."""
        self._unasked("who are we")

    def create(self, resource: Resource, body: Body) -> Body:
        """Raises Unreachable."""
        self._unasked(f"create {resource.kind} {body['metadata']['name']}")

    def replace_status(self, resource: Resource, body: Body) -> Body:
        """Raises Unreachable."""
        self._unasked(f"replace the status of {resource.kind} {body['metadata']['name']}")

    def replace(self, resource: Resource, body: Body) -> Body:
        """Raises Unreachable."""
        self._unasked(f"replace {resource.kind} {body['metadata']['name']}")

    def read(self, path: str) -> int:
        """Raises Unreachable."""
        self._unasked(f"GET {path}")

    def log(self, pod: ObjectId, lines: int) -> str:
        """Raises Unreachable."""
        self._unasked(f"the last {lines} lines of the log of {pod}")

    def openapi(self, api_versions: Collection[str]) -> Mapping[str, Document]:
        """Nothing: a snapshot has definitions, and no documents."""
        del api_versions
        return {}

    def verify_serving(self, namespace: str, service: str, port: int, bundle: str) -> str:
        """Raises Unreachable."""
        self._unasked(f"certificates of {namespace}/{service}:{port} ({len(bundle)} characters of CA)")

    def watch(self, resource: Resource, resource_version: str, stop: Event) -> Iterator[WatchEvent]:
        """Raises Unreachable."""
        self._unasked(f"watch {resource.kind} after {resource_version} ({stop.is_set()=})")


def secret_data(body: Body) -> Body:
    """The ``data`` of a Secret as the server stores it: ``stringData`` wins over what stands there."""
    clear = body.get("stringData") or {}
    encoded = {key: base64.b64encode(str(value).encode()).decode() for key, value in clear.items()}
    return {"data": {**(body.get("data") or {}), **encoded}}
