"""The HTTP servers of pods: one per port, over TLS or not, that refuse, drain and end as a pod does."""

import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

IDLE_SECONDS = 90
HANDSHAKE_SECONDS = 5


@dataclass(frozen=True)
class Request:
    """One request; `certificate_name` is the common name of a client certificate that the server verified."""

    method: str
    path: str
    query: str
    headers: Message
    body: bytes
    certificate_name: str | None


@dataclass(frozen=True)
class Answer:
    """One answer; with a stream, the body follows in pieces until the stream ends."""

    status: int
    body: bytes = b""
    content_type: str = "application/json"
    stream: Iterator[bytes] | None = None


class App(Protocol):
    """What stands behind the ports of a container."""

    def start(self) -> None:
        """Do what must succeed before the ports open; raise ConnectionError or ApiError while it does not."""

    def context(self) -> ssl.SSLContext | None:
        """Return the TLS side of the ports, or None for plain HTTP. Called after `start`."""

    def answer(self, request: Request) -> Answer:
        """Answer one request."""


@dataclass
class Serving:
    """Whether a container's ports serve now; shared by its servers and read for each request.

    Attributes:
        refusal: why every request is answered 503; None while the container serves.
        draining: whether every answer ends its connection.
    """

    refusal: str | None = None
    draining: bool = False


class Server(ThreadingHTTPServer):
    """One port of one pod."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], app: App, serving: Serving) -> None:
        self.app = app
        self.serving = serving
        self._context = app.context()
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(address, _Handler)
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve one connection in its own thread: the handshake too, or one slow client would stop all."""
        connection: socket.socket = request
        try:
            if self._context is not None:
                connection.settimeout(HANDSHAKE_SECONDS)
                connection = self._context.wrap_socket(connection, server_side=True)
            with self._lock:
                self._connections.add(connection)
            self.finish_request(connection, client_address)
        except OSError:
            # The client went away or did not speak TLS: its own request is lost, and it knows.
            return
        finally:
            with self._lock:
                self._connections.discard(connection)
            self.shutdown_request(connection)

    def stop(self) -> None:
        """Close the port and every connection."""
        self.shutdown()
        self.server_close()
        with self._lock:
            left = list(self._connections)
        for connection in left:
            try:
                # The socket's own shutdown, not TLS's: it wakes the thread that waits in a read.
                socket.socket.shutdown(connection, socket.SHUT_RDWR)
            except OSError:
                continue  # ended by itself meanwhile


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = IDLE_SECONDS

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, _, query = self.path.partition("?")
        request = Request(self.command, path, query, self.headers, body, self._certificate_name())
        if self.server.serving.refusal is not None:
            answer = Answer(503, self.server.serving.refusal.encode(), "text/plain")
        else:
            answer = self.server.app.answer(request)
        self._send(answer)

    def _certificate_name(self) -> str | None:
        if not isinstance(self.connection, ssl.SSLSocket):
            return None
        subject: Any = (self.connection.getpeercert() or {}).get("subject", ())
        return next((value for row in subject for key, value in row if key == "commonName"), None)

    def _send(self, answer: Answer) -> None:
        if self.server.serving.draining:
            self.close_connection = True
        ending = "Connection: close\r\n" if self.close_connection else ""
        length = "Transfer-Encoding: chunked" if answer.stream else f"Content-Length: {len(answer.body)}"
        head = (
            f"HTTP/1.1 {answer.status} {self.responses.get(answer.status, ('?',))[0]}\r\n"
            f"Content-Type: {answer.content_type}\r\n{ending}{length}\r\n\r\n"
        )
        # One write: two small ones would wait for each other's acknowledgement.
        self.wfile.write(head.encode() + answer.body)
        if answer.stream:
            for piece in answer.stream:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _handle  # noqa: N815 - http.server's names

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's name
        """Keep quiet: the pods' logs would drown the kubelet's."""
