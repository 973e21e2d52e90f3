"""Readiness probes, sent to the pod's address as a kubelet does (Kubernetes: liveness, readiness)."""

import http.client
import socket
import ssl
import time
from dataclasses import dataclass
from typing import Any


def _unverified() -> ssl.SSLContext:
    # The kubelet does not verify the certificate of an HTTPS probe.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


UNVERIFIED = _unverified()


def port_number(port: int | str, container: dict[str, Any]) -> int:
    """Return the number of a port that may be named; raise ValueError for a name that no port has."""
    if isinstance(port, int):
        return port
    named = {row.get("name"): int(row["containerPort"]) for row in container.get("ports") or []}
    if port not in named:
        raise ValueError(f"no port is named {port}")
    return named[port]


@dataclass
class Probe:
    """The readiness probe of one container; without one it passes at once.

    Attributes:
        passed: the verdict so far.
    """

    container: dict[str, Any]
    address: str
    passed: bool = False
    _due: float = 0
    _streak: int = 0

    def start(self) -> None:
        """Begin anew, as when the container starts."""
        spec = self._spec()
        self.passed = spec is None
        self._streak = 0
        self._due = time.monotonic() + (spec or {}).get("initialDelaySeconds", 0)

    def hurry(self) -> None:
        """Probe at the next occasion instead of a period later."""
        self._due = min(self._due, time.monotonic())

    def run(self) -> None:
        """Probe if it is time, and count successes or failures up to their thresholds."""
        spec = self._spec()
        if spec is None or time.monotonic() < self._due:
            return
        good = self._once(spec)
        self._streak = max(self._streak, 0) + 1 if good else min(self._streak, 0) - 1
        if good and self._streak >= spec.get("successThreshold", 1):
            self.passed = True
        elif -self._streak >= spec.get("failureThreshold", 3) or not self.passed:
            self.passed = False
        self._due = time.monotonic() + spec.get("periodSeconds", 10)

    def _spec(self) -> dict[str, Any] | None:
        spec: dict[str, Any] | None = self.container.get("readinessProbe")
        return spec

    def _once(self, spec: dict[str, Any]) -> bool:
        timeout = spec.get("timeoutSeconds", 1)
        try:
            if "httpGet" in spec:
                return self._http(spec["httpGet"], timeout)
            port = (spec.get("tcpSocket") or spec.get("grpc") or {}).get("port")
            if port is not None:
                socket.create_connection((self.address, port_number(port, self.container)), timeout).close()
        except (OSError, http.client.HTTPException, ValueError):
            return False
        return True

    def _http(self, get: dict[str, Any], timeout: float) -> bool:
        port = port_number(get["port"], self.container)
        connection: http.client.HTTPConnection
        if get.get("scheme") == "HTTPS":
            connection = http.client.HTTPSConnection(self.address, port, timeout=timeout, context=UNVERIFIED)
        else:
            connection = http.client.HTTPConnection(self.address, port, timeout=timeout)
        try:
            headers = {row["name"]: row["value"] for row in get.get("httpHeaders") or []}
            connection.request("GET", get.get("path") or "/", headers={**headers, "Connection": "close"})
            return 200 <= connection.getresponse().status < 400
        finally:
            connection.close()
