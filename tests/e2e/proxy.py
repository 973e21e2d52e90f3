"""A proxy between the agent and the API server: at one of n requests something goes wrong.

It knows nothing of the agent: a fault is chosen by chance (of a fixed seed) and by the request's method. Were
it each n-th request, a tick of as many requests would meet it at the same one for ever.
"""

from __future__ import annotations

import json
import random
import ssl
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import urllib3
from ruamel.yaml import YAML

from tests.rig.api import JSON
from tests.rig.cluster import Cluster

SLOW_SECONDS = 0.05
PIECES = 8


class Fault(Enum):
    """What becomes of a request."""

    RESET_BEFORE = "reset before the server saw it"
    RESET_AFTER = "reset after the server did it"
    CONFLICT = "409"
    GONE = "410"
    INVALID = "422"
    TOO_MANY = "429 with Retry-After"
    INTERNAL = "500"
    UNAVAILABLE = "503"
    GATEWAY = "504 after the server did it"
    QUOTA = "403, exceeded quota"
    WEBHOOK = "400, denied by a webhook"
    SLOW = "a slow body"
    STALE = "a list of a while ago"
    DISCOVERY = "half of discovery fails"


READS = frozenset({Fault.STALE, Fault.DISCOVERY, Fault.GONE})
WRITES = frozenset({Fault.CONFLICT, Fault.INVALID, Fault.QUOTA, Fault.WEBHOOK})
ANSWERS = {
    Fault.CONFLICT: (
        409,
        "Conflict",
        "the object has been modified; please apply to the latest",
    ),
    Fault.GONE: (410, "Expired", "too old resource version"),
    Fault.INVALID: (422, "Invalid", "admission found something wrong with it"),
    Fault.TOO_MANY: (429, "TooManyRequests", "too many requests, please try again later"),
    Fault.INTERNAL: (500, "InternalError", "an error on the server has prevented the request"),
    Fault.UNAVAILABLE: (503, "ServiceUnavailable", "the server is currently unable to handle the request"),
    Fault.GATEWAY: (504, "Timeout", "the server was unable to return a response in time"),
    Fault.QUOTA: (
        403,
        "Forbidden",
        "exceeded quota: compute, requested: pods=2, used: pods=9",
    ),
    Fault.WEBHOOK: (400, "BadRequest", 'admission webhook "check.example.org" denied the request'),
}


class FaultProxy:
    """Serves a kubeconfig of its own; ``faults`` come in turn, at one of ``every`` requests that fit."""

    def __init__(self, cluster: Cluster, faults: tuple[Fault, ...], every: int) -> None:
        self._faults = faults
        self._every = every
        self._upstream = cluster.api.server
        context = ssl.create_default_context(cadata=cluster.api.ca.decode())
        self._pool = urllib3.PoolManager(maxsize=32, retries=False, ssl_context=context)
        self._lock = threading.Lock()
        self._chance = random.Random(1)  # noqa: S311 - nobody is to be kept from guessing it
        self._turn = 0
        self._lists: dict[str, urllib3.BaseHTTPResponse] = {}
        self.done: Counter[Fault] = Counter()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True

    @contextmanager
    def serving(self, kubeconfig: Path, own: Path) -> Iterator[None]:
        """Within the block ``own`` is a kubeconfig that leads through the proxy."""
        config = YAML(typ="safe", pure=True).load(kubeconfig.read_text())
        host, port = self._server.server_address[:2]
        for one in config["clusters"]:
            one["cluster"] = {"server": f"http://{host!s}:{port}"}
        own.write_text(json.dumps(config))
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._server.shutdown()
            self._server.server_close()

    def _next(self, method: str, path: str) -> Fault | None:
        """The fault of this request, or None."""
        with self._lock:
            fault = self._faults[self._turn % len(self._faults)]
            if not _fits(fault, method, path):
                return None
            if self._chance.random() * self._every >= 1:
                return None
            self._turn += 1
            self.done[fault] += 1
            return fault

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Forward one request, or do to it what its turn says."""
        length = int(handler.headers.get("Content-Length") or 0)
        body = handler.rfile.read(length) if length else None
        fault = self._next(handler.command, handler.path)
        if fault is Fault.RESET_BEFORE:
            _cut(handler)
            return
        if fault in ANSWERS and fault is not Fault.GATEWAY:
            _say(handler, fault)
            return
        if fault is Fault.STALE and handler.path in self._lists:
            _send(handler, self._lists[handler.path])
            return
        headers = {k: v for k, v in handler.headers.items() if k.lower() not in {"host", "content-length"}}
        answer = self._pool.request(
            handler.command, self._upstream + handler.path, body=body, headers=headers
        )
        if fault is Fault.RESET_AFTER:
            _cut(handler)
        elif fault is Fault.GATEWAY:
            _say(handler, fault)
        elif fault is Fault.DISCOVERY and answer.status == 200:
            _send(handler, answer, _half(answer.data))
        else:
            if _is_list(handler.command, handler.path):
                self._lists.setdefault(handler.path, answer)
            _send(handler, answer, pause=SLOW_SECONDS if fault is Fault.SLOW else 0)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one(self) -> None:
                """Any method."""
                proxy.answer(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one  # noqa: N815 - http.server's names

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's name
                """Keep quiet."""

        return Handler


def _fits(fault: Fault, method: str, path: str) -> bool:
    is_read = method == "GET"
    if fault is Fault.DISCOVERY:
        return is_read and path.partition("?")[0] == "/apis"
    if fault is Fault.STALE:
        return _is_list(method, path)
    if fault in READS:
        return is_read
    # A review is no write: what answers it is not what was asked to change.
    is_write = not is_read and "/authorization.k8s.io/" not in path and "dryRun" not in path
    return is_write if fault in WRITES else True


def _is_list(method: str, path: str) -> bool:
    return method == "GET" and ("limit=" in path or "labelSelector=" in path)


def _half(data: bytes) -> bytes:
    """Aggregated discovery in which every second version of a group is stale, as of a server that is down."""
    listed = json.loads(data)
    for group in listed.get("items", [])[::2]:
        for version in group.get("versions", []):
            version["freshness"] = "Stale"
            version["resources"] = []
    return json.dumps(listed).encode()


def _cut(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True
    handler.connection.close()


def _say(handler: BaseHTTPRequestHandler, fault: Fault) -> None:
    code, reason, message = ANSWERS[fault]
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code}
    data = json.dumps({**status, "reason": reason, "message": message}).encode()
    handler.send_response(code)
    handler.send_header("Content-Type", JSON)
    handler.send_header("Content-Length", str(len(data)))
    if fault is Fault.TOO_MANY:
        handler.send_header("Retry-After", "1")
    handler.end_headers()
    handler.wfile.write(data)


def _send(
    handler: BaseHTTPRequestHandler,
    answer: urllib3.BaseHTTPResponse,
    data: bytes | None = None,
    pause: float = 0,
) -> None:
    data = answer.data if data is None else data
    handler.send_response(answer.status)
    for name, value in answer.headers.items():
        if name.lower() not in {"content-length", "transfer-encoding", "content-encoding", "connection"}:
            handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    size = max(1, len(data) // PIECES)
    for start in range(0, len(data), size):
        handler.wfile.write(data[start : start + size])
        if pause:
            handler.wfile.flush()
            time.sleep(pause)
