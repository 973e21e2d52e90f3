"""The aggregated API server's stand-in: every request is authorized and stored under the pod's own identity.

Flags: `--group=projectcalico.org --version=v3`, `--resource=networkpolicies:NetworkPolicy:namespaced` (or
`:cluster`; several times), `--storage-group=crd.projectcalico.org --storage-version=v1`: the objects are
custom resources of the same plural in that group. `--need-at-start=PATH` stands for informers that must have
synced.

In the order of a real one (k8s.io/apiserver, delegated authentication and authorization):

1. At start it reads kube-system's ConfigMap extension-apiserver-authentication and lists its storage.
2. The caller is who a front proxy with a verified certificate says, else whom a TokenReview names, else
    anonymous.
3. A SubjectAccessReview decides. Nothing is cached: a right that is taken away shows at once. `/readyz` is
   asked for like the rest, `/healthz` and `/livez` are not.
4. The request goes to the storage with group and version translated; a storage that says 401 or 403 means
   that the server's own rights are gone, and the caller reads 500.
"""

import json
import ssl
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs

from tests.rig.api import ApiError
from tests.rig.kubelet.apps import PlainServer, Setting, status, tls_context
from tests.rig.kubelet.discovery import Served
from tests.rig.kubelet.web import Answer, Request

CONFIG = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
OPEN_PATHS = frozenset({"/healthz", "/livez"})
VERBS = {"GET": "get", "HEAD": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
ANONYMOUS = {"user": "system:anonymous", "groups": ["system:unauthenticated"]}
AUTHENTICATED = "system:authenticated"


class AggregatedServer(PlainServer):
    """One group and version, in front of custom resources of another."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.served = Served.of(setting.options)
        self._own = setting.own
        self._config: dict[str, str] = {}

    def start(self) -> None:
        """Read the authentication config, list the storage and everything that must be listed."""
        self._config = self._own.get(CONFIG)["data"]
        for path in self.served.storage_collections():
            self._own.get(f"{path}?limit=1")
        super().start()

    def context(self) -> ssl.SSLContext:
        """TLS that verifies front proxies against the CA of the authentication config."""
        if self.setting.serving is None:
            raise ValueError("an aggregated server has no certificate")
        return tls_context(self.setting.serving, self._config["requestheader-client-ca-file"])

    def answer(self, request: Request) -> Answer:
        """Authenticate, authorize, then answer from discovery or storage."""
        if request.path in OPEN_PATHS:
            return Answer(200, b"ok", "text/plain")
        if refused := self._refused(request):
            return refused
        if request.path == "/readyz":
            return Answer(200, b"ok", "text/plain")
        return self.served.discovery(request) or self._stored(request)

    def _refused(self, request: Request) -> Answer | None:
        """Return the answer to a caller who is unknown or may not, or whom nobody can be asked about."""
        try:
            caller = self._caller(request)
            if caller is None:
                return status(401, "the token is not valid")
            refusal = self._refusal(caller, request)
        except (ConnectionError, ApiError) as error:
            return status(500, f"cannot authorize: {error}")
        if refusal:
            return status(403, refusal)
        lack = self.unmet_need()
        return status(500, lack) if lack else None

    def _caller(self, request: Request) -> dict[str, Any] | None:
        """Return user and groups as a SubjectAccessReview wants them; None for a token that nobody knows."""
        names = json.loads(self._config.get("requestheader-allowed-names", "[]"))
        name = request.certificate_name
        if name is not None and (not names or name in names):
            # The aggregator asks for discovery without a group; a real server adds this one to every caller.
            groups = {*(request.headers.get_all("X-Remote-Group") or []), AUTHENTICATED}
            return {"user": request.headers["X-Remote-User"], "groups": sorted(groups)}
        scheme, _, token = (request.headers["Authorization"] or "").partition(" ")
        if scheme != "Bearer":
            return ANONYMOUS
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
        seen = self._own.create("/apis/authentication.k8s.io/v1/tokenreviews", review)["status"]
        if not seen.get("authenticated"):
            return None
        return {"user": seen["user"]["username"], "groups": seen["user"].get("groups", [])}

    def _refusal(self, caller: dict[str, Any], request: Request) -> str | None:
        """Ask the API server whether the caller may; return its no in words."""
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {**caller, **self._attributes(request)},
        }
        decision = self._own.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", review)["status"]
        if decision["allowed"]:
            return None
        return f"{caller['user']} may not {request.method} {request.path}: {decision.get('reason', '')}"

    def _attributes(self, request: Request) -> dict[str, Any]:
        target = self.served.target(request.path)
        if target is None:
            return {"nonResourceAttributes": {"path": request.path, "verb": request.method.lower()}}
        verb = VERBS.get(request.method, request.method.lower())
        if not target.name:
            watching = parse_qs(request.query).get("watch", ["0"])[0] in {"1", "true"}
            verb = {"get": "watch" if watching else "list", "delete": "deletecollection"}.get(verb, verb)
        row: dict[str, str | None] = {"group": self.served.group, "version": self.served.version}
        row |= {"resource": target.resource, "verb": verb}
        row |= {"namespace": target.namespace, "name": target.name}
        return {"resourceAttributes": {key: value for key, value in row.items() if value}}

    def _stored(self, request: Request) -> Answer:
        path = self.served.storage_path(request.path)
        if path is None:
            return status(404, f"nothing at {request.path}")
        query = f"?{request.query}" if request.query else ""
        headers = {key: request.headers[key] for key in ("Accept", "Content-Type") if request.headers[key]}
        body = self.served.to_storage(request.body) if request.body else None
        if "watch=1" in request.query or "watch=true" in request.query:
            return self._watched(path, request.query)
        try:
            reply = self._own.raw(request.method, path + query, body, headers, timeout=10)
        except ConnectionError as error:
            return status(500, f"storage: {error}")
        if reply.status in {401, 403} or reply.status >= 500:
            return status(500, f"storage: {reply.status} {reply.text}")
        content_type = reply.headers.get("Content-Type", "application/json")
        return Answer(reply.status, self.served.from_storage(reply.body), content_type)

    def _watched(self, path: str, query: str) -> Answer:
        asked = parse_qs(query)
        seconds = int(asked.get("timeoutSeconds", ["300"])[0])
        events = self._own.watch(path, asked.get("resourceVersion", ["0"])[0], seconds)
        return Answer(200, stream=_translated(self.served, events))


def _translated(served: Served, events: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    try:
        for event in events:
            yield served.from_storage(json.dumps(event).encode()) + b"\n"
    except (ConnectionError, ApiError) as error:
        failure = {"apiVersion": "v1", "kind": "Status", "code": 500, "message": f"storage: {error}"}
        yield json.dumps({"type": "ERROR", "object": failure}).encode() + b"\n"
