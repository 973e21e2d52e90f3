"""What stands behind every webhook, conversion and aggregated API of a release that nobody can run here.

All traffic to pods is sent to one TLS server, which has a certificate of the rig's authority for whatever
name it is asked by, admits everything and converts by renaming the version. Beside it, what a cluster's
operators bring: CA bundles are filled in where they are empty (as cert-manager and service-ca do),
LoadBalancers and Ingresses get an address.
"""

from __future__ import annotations

import json
import ssl
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.rig.api import JSON, STRATEGIC, Api, ApiError, NotFoundError
from tests.rig.build import program
from tests.rig.cluster import Cluster
from tests.rig.netns import NODE, PODS
from tests.rig.pki import Authority

ADDRESS = "10.244.255.1"
PORT = 8443
NODE_PATH = "/api/v1/nodes/node"
ROLES = {f"node-role.kubernetes.io/{role}": "" for role in ("master", "control-plane", "infra")}
INJECTOR = "ca-injector"
LOOK_SECONDS = 4
LABELLED_BY_THEMSELVES = {
    ("app", "longhorn-manager"): {
        f"longhorn.io/{role}": f"longhorn-{role}"
        for role in ("conversion-webhook", "admission-webhook", "recovery-backend")
    }
}
"""Pods that give themselves labels once they run, by a label of their template; Services select those."""

DROPPED = f"""
table ip everybody {{
  chain out {{
    type nat hook output priority -110;
    ip daddr {{ {PODS}, {NODE} }} ip daddr != {ADDRESS} meta l4proto tcp dnat to {ADDRESS}:{PORT}
  }}
}}
"""


@contextmanager
def everything_serves(cluster: Cluster) -> Iterator[None]:
    """Within the block every pod is ready and every backend answers, on this cluster."""
    notes = {
        "annotations": {"standin.dev/stands-in-for-all": ""},
        "labels": {**ROLES, "beta.kubernetes.io/os": "linux"},
    }
    cluster.api.patch(NODE_PATH, {"metadata": notes})
    nft = [program("nft"), "-f", "-"]
    subprocess.run(nft, input=DROPPED, text=True, check=True, capture_output=True)
    server = _Server(cluster.plane.serving_ca)
    stop = threading.Event()
    helpers = [threading.Thread(target=helper, daemon=True) for helper in _helpers(cluster, stop)]
    for helper in (threading.Thread(target=server.serve_forever, daemon=True), *helpers):
        helper.start()
    try:
        yield
    finally:
        stop.set()
        for helper in helpers:
            helper.join()
        server.shutdown()
        server.server_close()
        subprocess.run(nft, input="delete table ip everybody", text=True, check=True, capture_output=True)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, authority: Authority) -> None:
        self._authority = authority
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._tls = self._context_for("everybody.local")
        self._tls.sni_callback = self._named
        super().__init__((ADDRESS, PORT), _Handler)

    def _named(self, connection: ssl.SSLObject, name: str | None, _first: ssl.SSLContext) -> None:
        if name:
            connection.context = self._contexts.setdefault(name, self._context_for(name))

    def _context_for(self, name: str) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        with tempfile.TemporaryDirectory() as folder:
            pair = self._authority.issue(name[:60], (name,))
            context.load_cert_chain(*pair.write(Path(folder), "serving"))
        return context

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """One connection, the handshake too; who does not speak TLS goes unheard."""
        try:
            request.settimeout(10)
            request = self._tls.wrap_socket(request, server_side=True)
            self.finish_request(request, client_address)
        except OSError:
            return  # the client's own request is lost, and it knows
        finally:
            self.shutdown_request(request)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self) -> None:
        """Admit, or convert."""
        review = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        asked = review.get("request") or {}
        if review.get("kind") == "ConversionReview":
            version = asked["desiredAPIVersion"]
            objects = [{**body, "apiVersion": version} for body in asked["objects"]]
            said: dict[str, Any] = {"result": {"status": "Success"}, "convertedObjects": objects}
        else:
            said = {"allowed": True}
        kept = {key: review[key] for key in ("apiVersion", "kind")}
        self._send(200, {**kept, "response": {"uid": asked.get("uid"), **said}})

    def do_GET(self) -> None:
        """Discovery of a group version without kinds; 404 for its other forms, so that this one is used."""
        parts = self.path.partition("?")[0].strip("/").split("/")
        if len(parts) == 3 and parts[0] == "apis":
            listed = {"kind": "APIResourceList", "apiVersion": "v1", "resources": []}
            self._send(200, {**listed, "groupVersion": "/".join(parts[1:])})
        elif parts[0] in {"apis", "openapi"}:
            self._send(404, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404})
        else:
            self._send(200, {})

    def _send(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", JSON)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's name
        """Keep quiet."""


def _helpers(cluster: Cluster, stop: threading.Event) -> Iterator[Any]:
    bundle = cluster.ca_bundle
    admission = "/apis/admissionregistration.k8s.io/v1"
    yield partial(
        _follow,
        cluster.api,
        stop,
        f"{admission}/validatingwebhookconfigurations",
        partial(_trust_hooks, bundle),
    )
    yield partial(
        _follow,
        cluster.api,
        stop,
        f"{admission}/mutatingwebhookconfigurations",
        partial(_trust_hooks, bundle),
    )
    yield partial(
        _follow,
        cluster.api,
        stop,
        "/apis/apiregistration.k8s.io/v1/apiservices",
        partial(_trust_server, bundle),
    )
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    yield partial(_follow, cluster.api, stop, definitions, partial(_trust_conversion, bundle))
    yield partial(_follow, cluster.api, stop, "/api/v1/pods", _label_themselves)
    yield partial(_follow, cluster.api, stop, "/api/v1/services", _address)
    yield partial(_follow, cluster.api, stop, "/apis/networking.k8s.io/v1/ingresses", _address)


def _follow(api: Api, stop: threading.Event, collection: str, act: Any) -> None:
    """Act on every object of a collection as it comes and changes, until told to stop."""
    while not stop.is_set():
        try:
            listed = api.get(collection)
            for body in listed["items"]:
                act(api, collection, body)
            for event in api.watch(collection, listed["metadata"]["resourceVersion"], LOOK_SECONDS):
                if stop.is_set() or event["type"] == "ERROR":
                    break
                if event["type"] in {"ADDED", "MODIFIED"}:
                    act(api, collection, event["object"])
        except (ConnectionError, ApiError):
            stop.wait(0.3)  # listed anew: nothing is forgotten


def _trust_hooks(bundle: str, api: Api, collection: str, body: dict[str, Any]) -> None:
    empty = [
        at for at, hook in enumerate(body.get("webhooks") or ()) if not _is_trusting(hook["clientConfig"])
    ]
    if empty:
        patch = [
            {"op": "test", "path": "/metadata/resourceVersion", "value": body["metadata"]["resourceVersion"]},
            *(
                {"op": "add", "path": f"/webhooks/{at}/clientConfig/caBundle", "value": bundle}
                for at in empty
            ),
        ]
        _patch(api, (collection, ""), body, patch, "application/json-patch+json")


def _trust_server(bundle: str, api: Api, collection: str, body: dict[str, Any]) -> None:
    spec = body["spec"]
    if spec.get("service") and not spec.get("caBundle") and not spec.get("insecureSkipTLSVerify"):
        _patch(api, (collection, ""), body, {"spec": {"caBundle": bundle}}, STRATEGIC)


def _trust_conversion(bundle: str, api: Api, collection: str, body: dict[str, Any]) -> None:
    config = ((body["spec"].get("conversion") or {}).get("webhook") or {}).get("clientConfig")
    if config is not None and not _is_trusting(config):
        path = "/spec/conversion/webhook/clientConfig/caBundle"
        patch = [{"op": "add", "path": path, "value": bundle}]
        _patch(api, (collection, ""), body, patch, "application/json-patch+json")


def _is_trusting(config: dict[str, Any]) -> bool:
    return config.get("caBundle", "") not in {"", "Cg=="} or "service" not in config


def _address(api: Api, collection: str, body: dict[str, Any]) -> None:
    """An address for what waits for one from outside."""
    is_meant = collection.endswith("ingresses") or body["spec"].get("type") == "LoadBalancer"
    if is_meant and not (body["status"].get("loadBalancer") or {}).get("ingress"):
        status = {"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}}
        _patch(api, (collection, "/status"), body, status, STRATEGIC)


def _label_themselves(api: Api, collection: str, body: dict[str, Any]) -> None:
    labels = body["metadata"].get("labels") or {}
    for (key, value), own in LABELLED_BY_THEMSELVES.items():
        if labels.get(key) == value and not own.items() <= labels.items():
            _patch(api, (collection, ""), body, {"metadata": {"labels": own}}, STRATEGIC)


def _patch(api: Api, place: tuple[str, str], body: dict[str, Any], patch: Any, content_type: str) -> None:
    """``place`` is a collection and a subresource."""
    meta = body["metadata"]
    collection, part = place
    if "namespace" in meta:
        root, _, plural = collection.rpartition("/")
        collection = f"{root}/namespaces/{meta['namespace']}/{plural}"
    try:
        api.patch(f"{collection}/{meta['name']}{part}?fieldManager={INJECTOR}", patch, content_type)
    except NotFoundError:
        return
    except ApiError as error:
        if error.status not in {409, 422}:  # changed meanwhile: the next event tells of it
            raise
