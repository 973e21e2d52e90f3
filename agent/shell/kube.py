"""The port to a real API server (the other adapter is ``embedded``).

The official client brings configuration, credentials and sockets; bodies go past its models as JSON, since
its object wrappers cost more than parsing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from threading import Event
from typing import Final
from urllib.parse import quote

import orjson
from urllib3 import BaseHTTPResponse

from agent.core.model import Body, GroupKind, ObjectId
from agent.core.propagation import Propagation
from agent.errors import ClusterError, Invalid, NotFound, Unreachable
from agent.shell import kube_discovery, kube_list, kube_trust, kube_watch
from agent.shell.cluster import Discovery, Document, Listing, Resource, WatchEvent
from agent.shell.kube_connect import Connection
from agent.shell.kube_errors import Asked
from agent.shell.kube_wire import JSON, Request, Wire
from agent.shell.openapi import OpenApi

MASKED: Final = frozenset({GroupKind("", "Secret")})
"""Kinds of which a server's refusal may quote what nobody may read."""

_READ: Final = frozenset({"get", "list"})
_SERVICES: Final = Resource(GroupKind("", "Service"), ("v1",), "services", is_namespaced=True, verbs=_READ)
_PODS: Final = Resource(GroupKind("", "Pod"), ("v1",), "pods", is_namespaced=True, verbs=_READ)
_LOG_BYTES: Final = "8192"
_SLICES: Final = Resource(
    GroupKind("discovery.k8s.io", "EndpointSlice"), ("v1",), "endpointslices", is_namespaced=True, verbs=_READ
)
_METADATA: Final = f"{JSON};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,{JSON}"
_APPLY: Final = "application/apply-patch+yaml"
_MANAGER: Final = "trapeze"
_REVIEW_PATH: Final = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
_ACCESS_PATH: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


def connect(
    kubeconfig: str | None = None, context: str | None = None, *, pool_size: int = 8, timeout: float = 30.0
) -> KubeCluster:
    """A cluster by kubeconfig (given, else KUBECONFIG, else the default file), else by the pod's credentials.

    No request is made yet. ``pool_size`` is the number of connections, ``timeout`` the seconds that one
    attempt of a request may take. Raises ``ConfigError``, or ``Unauthorized`` when a credential plugin fails.
    """
    return KubeCluster(Connection(kubeconfig, context, pool_size), timeout=timeout)


class KubeCluster:
    """The port ``Cluster`` over HTTP; thread-safe. ``patience``: seconds for all attempts of a request."""

    def __init__(
        self,
        connection: Connection,
        *,
        timeout: float = 30.0,
        patience: float = 30.0,
        masked: frozenset[GroupKind] = MASKED,
    ) -> None:
        self._connection = connection
        self._wire = Wire(connection, timeout=timeout, patience=patience)
        self._masked = masked
        self.now = self._wire.clock.now
        self._openapi = OpenApi(self._document)

    def close(self) -> None:
        """Close the idle connections."""
        self._connection.close()

    def discover(self) -> Discovery:
        """What is served now: two requests with aggregated discovery."""
        return kube_discovery.discover(lambda path: self._document(path, kube_discovery.ACCEPT))

    def openapi(self, api_versions: Collection[str]) -> Mapping[str, Document]:
        """The server's documents; the last one of each group-version is kept."""
        return self._openapi.documents(api_versions)

    def _document(self, path: str, accept: str = JSON) -> Body:
        asked = Asked(f"discover {path.partition('?')[0]}", self._connection.who)
        return _json(self._wire.send(Request("GET", path, asked, accept=accept)), asked)

    def list(self, resource: Resource, namespace: str = "", selector: str = "") -> Listing:
        """Whole objects of a kind, paged inside."""
        return self._listing(resource, namespace, selector, JSON)

    def list_metadata(self, resource: Resource, namespace: str = "", selector: str = "") -> Listing:
        """The same with metadata only; a server that cannot leave the rest out is sent past us."""
        listing = self._listing(resource, namespace, selector, _METADATA)
        keys = ("apiVersion", "kind", "metadata")
        return listing._replace(items=[{key: item[key] for key in keys} for item in listing.items])

    def get(self, resource: Resource, object_id: ObjectId) -> Body | None:
        """One object, or None where it (or its namespace) does not exist."""
        asked = self._asked(resource, "get", object_id)
        try:
            return _json(self._wire.send(Request("GET", _path(resource, object_id), asked)), asked)
        except NotFound:
            return None

    def apply(self, resource: Resource, body: Body, *, manager: str, take_over: bool = False) -> Body:
        """Server-side apply; idempotent, so tried again like a read."""
        return self._apply(resource, body, "apply", {"fieldManager": manager, **_force(take_over)})

    def dry_run(self, resource: Resource, body: Body, *, manager: str, take_over: bool = False) -> Body:
        """What ``apply`` would answer; nothing is stored."""
        query = {"fieldManager": manager, "dryRun": "All", **_force(take_over)}
        return self._apply(resource, body, "dry-run apply", query)

    def delete(
        self,
        resource: Resource,
        object_id: ObjectId,
        *,
        uid: str,
        resource_version: str,
        propagation: Propagation = Propagation.BACKGROUND,
    ) -> None:
        """Delete under both preconditions; an empty ``uid`` is refused here."""
        asked = self._asked(resource, "delete", object_id)
        if not uid:
            raise Invalid(f"cannot {asked.doing}: its uid is not known, so it could be another object")
        preconditions = {"uid": uid} | ({"resourceVersion": resource_version} if resource_version else {})
        options = {"propagationPolicy": propagation.value, "preconditions": preconditions}
        request = Request("DELETE", _path(resource, object_id), asked, body=orjson.dumps(options))
        try:
            self._wire.send(request)
        except NotFound:
            return

    def can(self, verb: str, resource: Resource, namespace: str = "", name: str = "") -> str:
        """SelfSubjectAccessReview: empty when allowed, else who may not do what, and why."""
        attributes = {
            "verb": verb,
            "group": resource.kind.group,
            "resource": resource.plural,
            "namespace": namespace,
            "name": name,
        }
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        asked = Asked(f"ask whether we may {verb} {resource.kind}", self._connection.who)
        answer = _json(
            self._wire.send(Request("POST", _ACCESS_PATH, asked, body=orjson.dumps(review))), asked
        )
        status = answer.get("status") or {}
        if status.get("allowed"):
            return ""
        where = f" in namespace {namespace}" if namespace else ""
        why = status.get("reason") or status.get("evaluationError") or "no rule allows it"
        return f"may not {verb} {resource.kind}{f' {name}' if name else ''}{where}: {why}"

    def whoami(self) -> str:
        """SelfSubjectReview (Kubernetes 1.28): the user's name."""
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        asked = Asked("ask who we are", self._connection.who)
        request = Request("POST", _REVIEW_PATH, asked, body=orjson.dumps(review))
        answer = _json(self._wire.send(request), asked)
        return str(((answer.get("status") or {}).get("userInfo") or {}).get("username", ""))

    def create(self, resource: Resource, body: Body) -> Body:
        """A plain create; only tried again where it surely did not arrive."""
        object_id = _id_of(resource, body)
        path = _path(resource, object_id._replace(name=""), _version_of(body))
        return self._write("POST", path, body, self._asked(resource, "create", object_id, body))

    def replace(self, resource: Resource, body: Body) -> Body:
        """A plain update; only tried again where it surely did not arrive."""
        object_id = _id_of(resource, body)
        path = _path(resource, object_id, _version_of(body))
        return self._write("PUT", path, body, self._asked(resource, "replace", object_id, body))

    def replace_status(self, resource: Resource, body: Body) -> Body:
        """A plain update of the status alone."""
        object_id = _id_of(resource, body)
        path = f"{_path(resource, object_id, _version_of(body))}/status"
        return self._write("PUT", path, body, self._asked(resource, "replace the status of", object_id, body))

    def read(self, path: str) -> int:
        """The HTTP status that a GET of this API path answers."""
        return self._wire.ask_status(Request("GET", path, Asked(f"read {path}", self._connection.who)))

    def log(self, pod: ObjectId, lines: int) -> str:
        """The last lines of a pod's log; what is no UTF-8 in it is replaced."""
        query = {"tailLines": str(lines), "limitBytes": _LOG_BYTES}
        asked = Asked(f"read the log of {pod}", self._connection.who)
        raw = self._wire.send(Request("GET", f"{_path(_PODS, pod)}/log", asked, query, accept="*/*"))
        return raw.decode("utf-8", "replace")

    def verify_serving(self, namespace: str, service: str, port: int, bundle: str) -> str:
        """What is wrong with the certificates behind a Service's port, by handshakes from here."""
        body = self.get(_SERVICES, ObjectId("", "Service", namespace, service))
        if body is None:
            return f"Service {namespace}/{service} does not exist"
        slices = self.list(_SLICES, namespace, f"kubernetes.io/service-name={service}").items
        name = f"{service}.{namespace}.svc"
        return kube_trust.trouble_with(kube_trust.addresses(body, slices, port), name, bundle)

    def watch(self, resource: Resource, resource_version: str, stop: Event) -> Iterator[WatchEvent]:
        """Events after ``resource_version`` in all namespaces until ``stop``."""
        asked = self._asked(resource, "watch")

        def open_stream(after: str) -> BaseHTTPResponse:
            query = {
                "watch": "1",
                "resourceVersion": after,
                "allowWatchBookmarks": "true",
                "timeoutSeconds": str(kube_watch.SERVER_SECONDS),
            }
            request = Request("GET", _path(resource), asked, query)
            return self._wire.stream(request, silence=kube_watch.SILENCE_SECONDS, stop=stop)

        return kube_watch.watch(open_stream, asked, resource_version, stop)

    def _asked(
        self, resource: Resource, verb: str, object_id: ObjectId | None = None, body: Body | None = None
    ) -> Asked:
        what = str(object_id) if object_id else str(resource.kind)
        is_masked = resource.kind in self._masked
        return Asked(f"{verb} {what}", self._connection.who, is_masked, body)

    def _apply(self, resource: Resource, body: Body, verb: str, query: dict[str, str]) -> Body:
        object_id = _id_of(resource, body)
        asked = self._asked(resource, verb, object_id, body)
        request = Request(
            "PATCH",
            _path(resource, object_id, _version_of(body)),
            asked,
            query,
            content_type=_APPLY,
            body=_encoded(body, asked),
        )
        return _json(self._wire.send(request), asked)

    def _write(self, method: str, path: str, body: Body, asked: Asked) -> Body:
        query = {"fieldManager": _MANAGER}
        request = Request(method, path, asked, query, body=_encoded(body, asked), is_safe=False)
        return _json(self._wire.send(request), asked)

    def _listing(self, resource: Resource, namespace: str, selector: str, accept: str) -> Listing:
        asked = self._asked(resource, "list")
        path = _path(resource, ObjectId(*resource.kind, namespace, ""))
        fixed = {"labelSelector": selector} if selector else {}

        def page(query: dict[str, str]) -> Body:
            return _json(self._wire.send(Request("GET", path, asked, fixed | query, accept)), asked)

        return kube_list.whole_list(page, resource)


def _force(take_over: bool) -> dict[str, str]:  # noqa: FBT001 - it mirrors the port's own word
    return {"force": "true"} if take_over else {}


def _version_of(body: Body) -> str:
    return str(body["apiVersion"]).rpartition("/")[2]


def _id_of(resource: Resource, body: Body) -> ObjectId:
    metadata = body.get("metadata") or {}
    namespace = str(metadata.get("namespace") or "") if resource.is_namespaced else ""
    return ObjectId(*resource.kind, namespace, str(metadata.get("name") or ""))


def _path(resource: Resource, object_id: ObjectId | None = None, version: str = "") -> str:
    """The API path of an object; of its collection where ``object_id`` has no name."""
    group, used = resource.kind.group, version or resource.versions[0]
    path = f"/apis/{group}/{used}" if group else f"/api/{used}"
    if object_id and object_id.namespace and resource.is_namespaced:
        path += f"/namespaces/{quote(object_id.namespace, safe='')}"
    path += f"/{resource.plural}"
    return f"{path}/{quote(object_id.name, safe='')}" if object_id and object_id.name else path


def _encoded(body: Body, asked: Asked) -> bytes:
    """The body as JSON; whole numbers beyond 64 bits and keys that are no text have none."""
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError as error:
        raise Invalid(f"cannot {asked.doing}: {error}") from error


def _json(raw: bytes, asked: Asked) -> Body:
    try:
        answer = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise Unreachable(f"cannot {asked.doing}: the answer is no JSON; is this an API server?") from error
    if not isinstance(answer, dict):
        raise ClusterError(f"cannot {asked.doing}: the answer is no object")
    return answer
