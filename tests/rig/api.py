"""A small client of the Kubernetes API for the rig: one identity, plain paths, JSON in and out.

The tests and the pods' servers need another client than the agent's, or an error in the agent's would hide
itself. urllib3 reads no proxy or bundle from the environment.

Exceptions::

    ApiError              an answer other than 2xx, with its status
    └── NotFoundError     404
    ConnectionError       no answer at all (from urllib3's HTTPError)
"""

import json
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import urllib3

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
JSON = "application/json"

RETRY_FOR = 5.0


class ApiError(Exception):
    """An answer other than 2xx."""

    def __init__(self, method: str, path: str, status: int, text: str) -> None:
        super().__init__(f"{method} {path}: {status} {text}")
        self.status = status
        self.text = text


class NotFoundError(ApiError):
    """The server says 404."""


@dataclass(frozen=True)
class Reply:
    """One answer: status, headers and the whole body."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    def json(self) -> Any:
        """Return the body as JSON."""
        return json.loads(self.body)

    @property
    def text(self) -> str:
        """The message of a Status, else the start of the body."""
        try:
            return str(json.loads(self.body)["message"])
        except (ValueError, KeyError, TypeError):  # not a Status
            return self.body[:300].decode(errors="replace")


class Api:
    """The API server as one identity sees it. Threads may share it."""

    def __init__(self, server: str, token: str, ca: bytes, *, user_agent: str = "rig") -> None:
        self.server = server
        self.token = token
        self.ca = ca
        context = ssl.create_default_context(cadata=ca.decode())
        self._headers = {"Authorization": f"Bearer {token}", "User-Agent": user_agent, "Accept": JSON}
        self._pool = urllib3.PoolManager(
            maxsize=32, retries=False, ssl_context=context, timeout=urllib3.Timeout(connect=5, read=30)
        )

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()

    def raw(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30,
    ) -> Reply:
        """Send one request and return its answer, whatever its status; ConnectionError when none came."""
        try:
            answer = self._pool.request(
                method,
                self.server + path,
                body=body,
                headers={**self._headers, **(headers or {})},
                timeout=timeout,
            )
        except urllib3.exceptions.HTTPError as error:
            raise ConnectionError(f"{method} {path}: {error}") from error
        return Reply(answer.status, answer.data, answer.headers)

    def request(
        self, method: str, path: str, body: Any = None, content_type: str = JSON, timeout: float = 30
    ) -> Any:
        """Send JSON and return the JSON answer.

        A 429 is tried again as its Retry-After says, for five seconds. Raises ApiError, NotFoundError,
        ConnectionError.
        """
        data = None if body is None else json.dumps(body).encode()
        deadline = time.monotonic() + RETRY_FOR
        while True:
            reply = self.raw(method, path, data, {"Content-Type": content_type}, timeout)
            wait = float(reply.headers.get("Retry-After", 1))
            if reply.status != 429 or time.monotonic() + wait > deadline:
                break
            time.sleep(wait)
        if reply.status == 404:
            raise NotFoundError(method, path, reply.status, reply.text)
        if not 200 <= reply.status < 300:
            raise ApiError(method, path, reply.status, reply.text)
        return reply.json()

    def get(self, path: str) -> Any:
        """GET a path."""
        return self.request("GET", path)

    def find(self, path: str) -> Any | None:
        """GET a path; None when the server says 404."""
        try:
            return self.get(path)
        except NotFoundError:
            return None

    def create(self, path: str, body: Any) -> Any:
        """POST to a collection."""
        return self.request("POST", path, body)

    def replace(self, path: str, body: Any) -> Any:
        """PUT an object."""
        return self.request("PUT", path, body)

    def patch(self, path: str, body: Any, content_type: str = MERGE) -> Any:
        """PATCH an object."""
        return self.request("PATCH", path, body, content_type)

    def delete(self, path: str, **options: Any) -> None:
        """DELETE an object; that it is gone already is no error. `options` are DeleteOptions."""
        body = {"kind": "DeleteOptions", "apiVersion": "v1", **options}
        try:
            self.request("DELETE", path, body)
        except NotFoundError:
            return

    def watch(self, path: str, resource_version: str, seconds: int = 300) -> Iterator[dict[str, Any]]:
        """Yield a collection's watch events until the server or the connection ends the watch."""
        query = (
            f"watch=1&allowWatchBookmarks=true&resourceVersion={resource_version}&timeoutSeconds={seconds}"
        )
        separator = "&" if "?" in path else "?"
        timeout = urllib3.Timeout(connect=5, read=seconds + 10)
        try:
            answer = self._pool.request(
                "GET",
                f"{self.server}{path}{separator}{query}",
                headers=self._headers,
                preload_content=False,
                timeout=timeout,
            )
            try:
                yield from _lines(answer)
            finally:
                answer.close()
                answer.release_conn()
        except urllib3.exceptions.HTTPError as error:
            raise ConnectionError(f"watch {path}: {error}") from error


def _lines(answer: urllib3.BaseHTTPResponse) -> Iterator[dict[str, Any]]:
    if answer.status != 200:
        raise ApiError("GET", "watch", answer.status, answer.data[:300].decode(errors="replace"))
    rest = b""
    for chunk in answer.stream(65536):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (json.loads(line) for line in lines if line)
