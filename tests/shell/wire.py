"""A scripted HTTP server in this process: what the adapter meets at the wire, without an API server.

``answers`` maps ``METHOD path`` (without query) to a list of answers, given out one after another; the last
one stays. Every request is kept in ``seen``.
"""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Seen:
    """One request as it arrived; header names in lower case."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Answer:
    """``body`` is sent as JSON, or as it is where it is bytes; ``stream`` writes a chunked body instead."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    stream: Callable[[Callable[[bytes], None]], None] | None = None
    cut: bool = False
    """Close the connection without an answer."""


@dataclass
class Wire:
    """The running server: its address, what it answers and what it has seen."""

    url: str
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    otherwise: Callable[[Seen], Answer] | None = None
    """Answers what no script answers; called without a lock."""
    seen: list[Seen] = field(default_factory=list)
    connections: int = 0
    most_connections: int = 0

    def answer(self, what: str, *answers: Answer) -> None:
        """Script the answers to ``METHOD path``."""
        self.answers[what] = list(answers)

    def requests(self, what: str) -> list[Seen]:
        """The requests that came for ``METHOD path``."""
        return [one for one in self.seen if f"{one.method} {one.path}" == what]


def status(code: int, reason: str, message: str, **details: Any) -> Answer:
    """A Status answer as the API server gives it."""
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "reason": reason}
    return Answer(code, {**body, "details": details, "code": code})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wire: Wire
    lock: threading.Lock

    def setup(self) -> None:
        super().setup()
        with self.lock:
            self.wire.connections += 1
            self.wire.most_connections = max(self.wire.most_connections, self.wire.connections)

    def finish(self) -> None:
        super().finish()
        with self.lock:
            self.wire.connections -= 1

    def _handle(self) -> None:
        parts = urlsplit(self.path)
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = json.loads(raw) if raw else None
        seen = Seen(self.command, parts.path, dict(parse_qsl(parts.query)), headers, body)
        with self.lock:
            self.wire.seen.append(seen)
            script = self.wire.answers.get(f"{seen.method} {seen.path}")
            answer = script and (script.pop(0) if len(script) > 1 else script[0])
        if not answer:
            otherwise = self.wire.otherwise
            answer = otherwise(seen) if otherwise else Answer(404, b"404 page not found")
        self._send(answer)

    def _send(self, answer: Answer) -> None:
        if answer.cut:
            self.close_connection = True
            return
        raw = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.stream:
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            answer.stream(self._chunk)
            self._chunk(b"")
        else:
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle  # noqa: N815 - http.server's names

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's own name
        """Requests are kept, not printed."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that stops a watch breaks the pipe: that is what the tests are about."""


@contextmanager
def serve(tls: tuple[Path, Path] | None = None) -> Iterator[Wire]:
    """A server on a free loopback port; with ``tls`` (certificate, key) it speaks HTTPS."""
    wire = Wire("")
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"wire": wire, "lock": threading.Lock()}))
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    wire.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield wire
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def kubeconfig(folder: Path, server: str, user: dict[str, Any] | None = None, **cluster: Any) -> str:
    """A kubeconfig file for ``server`` with one context, ``there``."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "there",
        "contexts": [{"name": "there", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "u", "user": user or {"token": "letmein"}}],
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(config))
    return str(path)
