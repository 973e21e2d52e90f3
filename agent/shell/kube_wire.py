"""One request to the API server: bounded in time, tried again where that is safe, refused in our words.

Tried again are 429 and 503 that name a Retry-After (the server did not begin; client-go does the same) and,
three times in all, requests that got no answer and reads that the server failed at (500, 502, 503, 504): one
list of forty that fails now and then would else hold a plan for ever. What is not safe to send twice is only
repeated where it surely never arrived: no connection, or 429.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Final, TypeVar
from urllib.parse import urlencode

import tenacity
import urllib3
from tenacity.stop import stop_base
from urllib3.exceptions import (
    ClosedPoolError,
    ConnectTimeoutError,
    EmptyPoolError,
    HTTPError,
    NewConnectionError,
    ProxyError,
    SSLError,
    TimeoutError,  # noqa: A004 - urllib3's own, which is no OSError
)

from agent.errors import ClusterError, Unreachable
from agent.shell.kube_clock import ServerClock
from agent.shell.kube_connect import Connection
from agent.shell.kube_errors import Asked, error_of

JSON: Final = "application/json"
_CONNECT_SECONDS: Final = 10.0
_CONNECT_ATTEMPTS: Final = 3
_CHUNK: Final = 1 << 18
_TOO_MANY: Final = 429
_UNAVAILABLE: Final = 503
_FAILED: Final = frozenset({500, 502, 503, 504})
_FIRST_ERROR: Final = 400
_UNAUTHORIZED: Final = 401
_BACKOFF: Final = tenacity.wait_random_exponential(multiplier=0.2, max=5)
_NEVER_SENT: Final = (NewConnectionError, ConnectTimeoutError, ClosedPoolError, EmptyPoolError, ProxyError)

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Request:
    """``is_safe``: sending it twice does no more than sending it once."""

    method: str
    path: str
    asked: Asked
    query: Mapping[str, str] = field(default_factory=dict)
    accept: str = JSON
    content_type: str = JSON
    body: bytes | None = None
    is_safe: bool = True


class _Again(Exception):
    """An attempt that may be repeated: after ``seconds``, or by backoff where the server named none."""

    def __init__(self, error: ClusterError, *, is_answer: bool, seconds: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.is_answer = is_answer
        self.seconds = seconds


class _TriedEnough(stop_base):
    """Three attempts; where the server says to come back (429, 503) for as long as the patience lasts."""

    def __call__(self, retry_state: tenacity.RetryCallState) -> bool:
        failure = retry_state.outcome.exception() if retry_state.outcome else None
        is_answer = isinstance(failure, _Again) and failure.is_answer
        return not is_answer and retry_state.attempt_number >= _CONNECT_ATTEMPTS


class Wire:
    """Sends requests over one connection; thread-safe.

    ``timeout`` bounds one attempt as a whole, ``patience`` all attempts with their pauses (both seconds).
    """

    def __init__(self, connection: Connection, *, timeout: float, patience: float) -> None:
        self._connection = connection
        self._timeout = timeout
        self.clock = ServerClock()
        self._enough = tenacity.stop_any(_TriedEnough(), tenacity.stop_before_delay(patience))
        self._retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_Again), wait=_pause, stop=self._enough, reraise=True
        )

    def send(self, request: Request) -> bytes:
        """The body of a good answer; raises the ``ClusterError`` that fits any other."""

        def attempt() -> bytes:
            deadline = time.monotonic() + self._timeout
            return _drained(self._answer(request, self._timeout), deadline)

        return self._retried(request, attempt, self._retrying)

    def stream(self, request: Request, *, silence: float, stop: Event) -> urllib3.BaseHTTPResponse:
        """A good answer whose body is read by the caller, who closes it; ``silence`` bounds each read.

        Once ``stop`` is set every pause ends and at most one more attempt is made.
        """
        enough = tenacity.stop_any(self._enough, tenacity.stop_when_event_set(stop))
        retrying = self._retrying.copy(stop=enough, sleep=tenacity.sleep_using_event(stop))
        return self._retried(request, lambda: self._answer(request, silence, is_stream=True), retrying)

    def ask_status(self, request: Request) -> int:
        """The HTTP status of the answer, whatever it is; raises only where none came."""

        def attempt() -> int:
            deadline = time.monotonic() + self._timeout
            response = self._sent(request, self._timeout)
            _drained(response, deadline)
            return int(response.status)

        return self._retried(request, attempt, self._retrying)

    def unanswered(self, asked: Asked, error: Exception) -> Unreachable:
        """The error for a request that got no answer, or only a part of one."""
        remedy = (
            "the kubeconfig's certificate-authority decides whom to trust"
            if isinstance(error, SSLError)
            else "is the API server up, and is this the right context?"
        )
        where = self._connection.host
        return Unreachable(f"cannot {asked.doing}: no answer from {where}: {_reason(error)}; {remedy}")

    def _retried(self, request: Request, attempt: Callable[[], _T], retrying: tenacity.Retrying) -> _T:
        def once() -> _T:
            try:
                return attempt()
            except (HTTPError, OSError) as error:
                told = self.unanswered(request.asked, error)
                if isinstance(error, SSLError) or not (request.is_safe or isinstance(error, _NEVER_SENT)):
                    raise told from error
                raise _Again(told, is_answer=False) from error

        try:
            return retrying(once)
        except _Again as again:
            raise again.error from again.__cause__

    def _answer(
        self, request: Request, silence: float, *, is_stream: bool = False
    ) -> urllib3.BaseHTTPResponse:
        response = self._sent(request, silence, is_stream=is_stream)
        if response.status < _FIRST_ERROR:
            return response
        raw = _drained(response, time.monotonic() + self._timeout)
        error = error_of(response.status, raw, request.asked)
        seconds = _retry_after(response)
        is_later = response.status == _UNAVAILABLE and request.is_safe and seconds is not None
        if is_later or response.status == _TOO_MANY:
            raise _Again(error, is_answer=True, seconds=seconds)
        if request.method == "GET" and response.status in _FAILED:
            raise _Again(error, is_answer=False)
        raise error

    def _sent(self, request: Request, silence: float, *, is_stream: bool = False) -> urllib3.BaseHTTPResponse:
        """The answer as it came; what gets a 401 is sent once more with credentials that were read anew."""
        number = self._connection.number
        response = self._urlopen(request, silence, is_stream=is_stream)
        if response.status != _UNAUTHORIZED:
            return response
        _give_back(response)
        self._connection.renew(number)
        return self._urlopen(request, silence, is_stream=is_stream)

    def _urlopen(self, request: Request, silence: float, *, is_stream: bool) -> urllib3.BaseHTTPResponse:
        connection = self._connection
        pool = connection.streams if is_stream else connection.requests
        headers = {**connection.identity(), "accept": request.accept}
        if request.body is not None:
            headers["content-type"] = request.content_type
        query = f"?{urlencode(request.query)}" if request.query else ""
        response = pool.request(
            request.method,
            f"{connection.host}{request.path}{query}",
            body=request.body,
            headers=headers,
            timeout=urllib3.Timeout(connect=min(_CONNECT_SECONDS, silence), read=silence),
            pool_timeout=self._timeout,
            preload_content=False,
            retries=False,
            redirect=False,
        )
        self.clock.heard(response.headers.get("date"))
        return response


def _drained(response: urllib3.BaseHTTPResponse, deadline: float) -> bytes:
    """The whole body; a peer that trickles is cut off at ``deadline``. Frees the connection for others."""
    parts: list[bytes] = []
    try:
        while part := response.read1(_CHUNK):
            parts.append(part)
            if time.monotonic() > deadline:
                raise HTTPError("the answer did not end in time")
    finally:
        _give_back(response)
    return b"".join(parts)


def _give_back(response: urllib3.BaseHTTPResponse) -> None:
    """The connection to the pool: open where the body was read, else closed (its place must not be lost)."""
    response.close()
    response.release_conn()


def _pause(state: tenacity.RetryCallState) -> float:
    failure = state.outcome.exception() if state.outcome else None
    if isinstance(failure, _Again) and failure.seconds is not None:
        return failure.seconds
    return _BACKOFF(state)


def _retry_after(response: urllib3.BaseHTTPResponse) -> float | None:
    """Seconds that the server asks us to wait; Kubernetes sends a whole number, never a date."""
    header = response.headers.get("retry-after", "")
    return float(header) if header.isdigit() else None


def _reason(error: BaseException) -> str:
    """The innermost reason in the operating system's or the TLS library's words."""
    seen: list[BaseException] = []
    at: BaseException | None = error
    while at is not None and at not in seen:
        if isinstance(at, ssl.SSLCertVerificationError):
            return f"certificate not trusted: {at.verify_message}"
        if isinstance(at, OSError) and at.strerror:
            return at.strerror
        seen.append(at)
        at = (
            at.__cause__ or at.__context__ or next((a for a in at.args if isinstance(a, BaseException)), None)
        )
    return "timed out" if isinstance(error, TimeoutError) else str(error)
