"""One container of a pod: its app, its ports, its crashes."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.rig.api import Api, ApiError
from tests.rig.kubelet.aggregated import AggregatedServer
from tests.rig.kubelet.apps import PlainServer, Setting
from tests.rig.kubelet.options import Options
from tests.rig.kubelet.probes import Probe, port_number
from tests.rig.kubelet.web import App, Server, Serving
from tests.rig.kubelet.webhook import WebhookServer
from tests.rig.pki import KeyPair

APPS: dict[str | None, Callable[[Setting], App]] = {"apiserver": AggregatedServer, "webhook": WebhookServer}
ALWAYS_TLS = frozenset({"apiserver", "webhook"})
FIRST_BACK_OFF, LONGEST_BACK_OFF = 1.0, 16.0
RETRY_START = 0.3


@dataclass
class Container:
    """A container; the pod's thread alone calls its methods.

    Attributes:
        started: when it was started last, on the monotonic clock; None while it waits.
        waiting: why it does not run, in Kubernetes' words; empty while it runs.
        message: the same in more words.
        restarts: how often it was started again.
        ended: the exit code it ended with for good; None before.
        is_mimed: it opens no port and needs no probe: somebody else answers at its address.
    """

    spec: dict[str, Any]
    address: str
    is_mimed: bool = False
    serving: Serving = field(default_factory=Serving)
    started: float | None = None
    waiting: str = "ContainerCreating"
    message: str = ""
    restarts: int = 0
    ended: int | None = None
    open: bool = False
    _app: App | None = None
    _servers: list[Server] = field(default_factory=list)
    _retry_at: float = 0
    _back_off: float = FIRST_BACK_OFF

    def __post_init__(self) -> None:
        self.probe = Probe({} if self.is_mimed else self.spec, self.address)

    def configure(self, pod: dict[str, Any], own: Api, certificate: Callable[[str | None], KeyPair]) -> None:
        """Make the app; a flag that it does not know leaves the container waiting with the message."""
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        try:
            options = Options.of(self.spec, namespace)
            secret = options.one("tls-secret") or None
            serving = certificate(secret) if secret or self._speaks_tls(options) else None
            make = APPS.get(options.stand_in, PlainServer)
            self._app = make(Setting(namespace, name, options, own, serving))
        except (ValueError, KeyError) as error:
            self.waiting, self.message = "CreateContainerConfigError", str(error)

    def _speaks_tls(self, options: Options) -> bool:
        probe = self.spec.get("readinessProbe") or {}
        asked = probe.get("httpGet", {}).get("scheme") == "HTTPS"
        return asked or options.stand_in in ALWAYS_TLS or bool(options.all("tls"))

    def advance(self, refusal: str | None, crash_after: float | None) -> None:
        """Do what is due: start, open the ports, crash, probe."""
        now = time.monotonic()
        if self._app is None or self.ended is not None:
            return
        if self.started is None:
            if now < self._retry_at:
                return
            self.started, self.waiting, self.message = now, "", ""
            self.probe.start()
        if crash_after is not None and now - self.started >= crash_after:
            self._crash(now, "the knob crash says so")
            return
        if self.serving.refusal != refusal:
            self.serving.refusal = refusal
            self.probe.hurry()
        if not self.open and now >= self._retry_at:
            self._open(now)
        if self.open:
            self.probe.run()

    def _open(self, now: float) -> None:
        """Start the app and open its ports; stay closed and try again while it cannot start."""
        if self._app is None:
            return
        try:
            self._app.start()
        except (ConnectionError, ApiError) as error:
            self.message = str(error)
            self._retry_at = now + RETRY_START
            return
        try:
            for port in self._ports():
                self._servers.append(Server((self.address, port), self._app, self.serving))
        except OSError as error:
            self._crash(now, f"port {port}: {error}")
            return
        self.open = True
        self.message = ""
        self.probe.hurry()

    def _ports(self) -> list[int]:
        rows = () if self.is_mimed else self.spec.get("ports") or ()
        return [
            port_number(row["containerPort"], self.spec)
            for row in rows
            if row.get("protocol", "TCP") == "TCP"
        ]

    def _crash(self, now: float, message: str) -> None:
        self.close()
        self.started, self.waiting, self.message = None, "CrashLoopBackOff", message
        self.restarts += 1
        self._retry_at = now + self._back_off
        self._back_off = min(self._back_off * 2, LONGEST_BACK_OFF)

    def close(self) -> None:
        """Close ports and connections."""
        for server in self._servers:
            server.stop()
        self._servers.clear()
        self.open = False
        self.probe.passed = False

    def end(self, code: int) -> None:
        """End for good with an exit code."""
        self.close()
        self.ended = code

    @property
    def ready(self) -> bool:
        """Whether the container runs, serves and passes its probe."""
        return self.ended is None and self.open and self.serving.refusal is None and self.probe.passed
