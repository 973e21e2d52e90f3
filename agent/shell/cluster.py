"""The port to a cluster. Two adapters stand behind it: a real API server and the embedded model.

Both are held to the same contract tests (``tests/contract``). Every method raises the ``ClusterError``
that fits (agent/errors.py) and nothing else; a missing object is None where the signature says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import NamedTuple, Protocol

from agent.core.kinds import KindInfo
from agent.core.model import Body, GroupKind, ObjectId
from agent.core.propagation import Propagation


class Resource(NamedTuple):
    """How the server serves a kind: ``versions`` preferred first, ``verbs`` as discovery lists them."""

    kind: GroupKind
    versions: tuple[str, ...]
    plural: str
    is_namespaced: bool
    verbs: frozenset[str]


@dataclass(frozen=True)
class Discovery:
    """What the server serves. ``failed`` are group-versions that did not answer, with the reason."""

    resources: Mapping[GroupKind, Resource]
    failed: Mapping[str, str]

    @property
    def kinds(self) -> Mapping[GroupKind, KindInfo]:
        """How each kind is served, as ``Kinds.extended`` takes it."""
        return {r.kind: KindInfo(r.plural, r.is_namespaced) for r in self.resources.values()}


class Document(NamedTuple):
    """An OpenAPI v3 document of one group-version; an equal ``key`` means an equal ``body``."""

    key: str
    body: Body


class Listing(NamedTuple):
    """Objects with apiVersion and kind filled in, and the list's resourceVersion."""

    items: Sequence[Body]
    resource_version: str


class WatchEvent(NamedTuple):
    """``type`` is ADDED, MODIFIED or DELETED; ``body`` the object whole."""

    type: str
    body: Body


class Cluster(Protocol):
    """What Trapeze asks of a cluster; every method is one request unless it says otherwise."""

    def discover(self) -> Discovery:
        """What is served now (a handful of requests; not cached)."""
        ...

    def list(self, resource: Resource, namespace: str = "", selector: str = "") -> Listing:
        """Whole objects of a kind, in one namespace or in all, paged inside (500 a page)."""
        ...

    def list_metadata(self, resource: Resource, namespace: str = "", selector: str = "") -> Listing:
        """The same as PartialObjectMetadata: apiVersion, kind and metadata only."""
        ...

    def get(self, resource: Resource, object_id: ObjectId) -> Body | None:
        """One object read from the server's storage (no cache), or None on 404."""
        ...

    def apply(self, resource: Resource, body: Body, *, manager: str, take_over: bool = False) -> Body:
        """Server-side apply; the object as it stands afterwards. ``take_over`` forces conflicts.

        A ``metadata.resourceVersion`` or ``metadata.uid`` in the body is a precondition. The version alone
        does not keep the server from making an object anew that is gone meanwhile: the uid does.
        """
        ...

    def dry_run(self, resource: Resource, body: Body, *, manager: str, take_over: bool = False) -> Body:
        """What ``apply`` would answer; nothing is stored."""
        ...

    def delete(
        self,
        resource: Resource,
        object_id: ObjectId,
        *,
        uid: str,
        resource_version: str,
        propagation: Propagation = Propagation.BACKGROUND,
    ) -> None:
        """Delete if uid and resourceVersion still fit; a 404 is success.

        Only a background delete of an object without finalizers is done when this returns: what is orphaned
        or deleted in the foreground stays until its garbage collection is over.
        """
        ...

    def can(self, verb: str, resource: Resource, namespace: str = "", name: str = "") -> str:
        """SelfSubjectAccessReview: empty when allowed, else the reason."""
        ...

    def whoami(self) -> str:
        """SelfSubjectReview: what the server calls us. Raises NotFound where it cannot say."""
        ...

    def create(self, resource: Resource, body: Body) -> Body:
        """A plain create (reviews, the agent's own ledger); the object as the server answers."""
        ...

    def replace(self, resource: Resource, body: Body) -> Body:
        """A plain update; the body's ``metadata.resourceVersion`` is a precondition."""
        ...

    def replace_status(self, resource: Resource, body: Body) -> Body:
        """A plain update of the status alone; the body's ``metadata.resourceVersion`` is a precondition."""
        ...

    def read(self, path: str) -> int:
        """The HTTP status that a GET of this API path answers (``/apis/group/version``)."""
        ...

    def log(self, pod: ObjectId, lines: int) -> str:
        """The last lines that the pod's only or first container wrote, at most 8,192 bytes of them."""
        ...

    def openapi(self, api_versions: Collection[str]) -> Mapping[str, Document]:
        """The OpenAPI v3 documents of these group-versions; those that are not described are left out.

        One request for the index, and one for each document that is new or has changed.
        """
        ...

    def verify_serving(self, namespace: str, service: str, port: int, bundle: str) -> str:
        """What is wrong with the certificates of a Service's ready endpoints; empty when all verify.

        ``bundle`` is base64 PEM, the name asked for ``service.namespace.svc``. Raises Unreachable where no
        endpoint answers.
        """
        ...

    def watch(self, resource: Resource, resource_version: str, stop: Event) -> Iterator[WatchEvent]:
        """Events after ``resource_version`` in all namespaces until ``stop``; a server's end is retried.

        Raises ``Conflict`` when the version is too old (410): list again.
        """
        ...
