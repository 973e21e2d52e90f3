"""One pod's life, in a thread of its own: wait for what it mounts, start, serve, drain, end."""

import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from tests.rig.api import STRATEGIC, Api, ApiError, NotFoundError
from tests.rig.kubelet import status, volumes
from tests.rig.kubelet.container import Container
from tests.rig.kubelet.knobs import Knobs, parse_blocker
from tests.rig.pki import KeyPair

BEAT = 0.1
MOUNT_RETRY = 0.3
BLOCKER_PERIOD = 0.4


class Host(Protocol):
    """What a pod needs of its node."""

    admin: Api
    stands_in_for_all: bool

    def new_address(self, pod: dict[str, Any]) -> str:
        """Return an address for the pod."""

    def identity(self, pod: dict[str, Any]) -> Api:
        """Return the API as the pod's ServiceAccount sees it."""

    def certificate(self, namespace: str, secret: str | None) -> KeyPair:
        """Return the certificate of a Secret, or one of the rig's for every Service of the namespace."""

    def exists(self, api_version: str, kind: str, namespace: str | None, name: str) -> bool:
        """Tell whether an object exists; raise ConnectionError or ApiError when it cannot be told."""


class Pod:
    """A pod that is bound to the node."""

    def __init__(self, body: dict[str, Any], host: Host) -> None:
        self.body = body
        self._host = host
        self._wake = threading.Event()
        self._removed = False
        self._address = ""
        self._containers: list[Container] = []
        self._own: Api | None = None
        self._written: dict[str, Any] = {}
        self._blocked = False
        self._blocker_due = 0.0
        self._first_ready: float | None = None
        self._since = status.now()
        threading.Thread(target=self._live, name=self._name, daemon=True).start()

    @property
    def _name(self) -> str:
        return f"{self.body['metadata']['namespace']}/{self.body['metadata']['name']}"

    def update(self, body: dict[str, Any]) -> None:
        """Take the pod's newest form."""
        self.body = body
        self._wake.set()

    def remove(self) -> None:
        """End at once: the object is gone (a forced deletion)."""
        self._removed = True
        self._wake.set()

    def _live(self) -> None:
        try:
            if self._mount():
                self._start()
                self._serve()
        finally:
            self._end()

    @property
    def _is_mimed(self) -> bool:
        """Whether the pod is ready without doing anything: of images that nobody has here."""
        images = (container.get("image", "") for container in self.body["spec"]["containers"])
        return self._host.stands_in_for_all and not any("standin/" in image for image in images)

    def _leaving(self) -> bool:
        return self._removed or "deletionTimestamp" in self.body["metadata"]

    def _pause(self, seconds: float) -> None:
        self._wake.wait(seconds)
        self._wake.clear()

    def _mount(self) -> bool:
        """Wait for ConfigMaps, Secrets and claims; False when the pod was deleted meanwhile."""
        while not self._leaving():
            reason = self._try(lambda: volumes.missing(self._host.admin, self.body))
            if reason is None or self._is_mimed:
                return True
            self._write(status.waiting(self.body, "", reason))
            self._pause(MOUNT_RETRY)
        return False

    @staticmethod
    def _try(ask: Callable[[], str | None]) -> str | None:
        try:
            return ask()
        except (ConnectionError, ApiError) as error:
            return str(error)

    def _start(self) -> None:
        self._address = self._host.new_address(self.body)
        namespace = self.body["metadata"]["namespace"]
        while self._own is None and not self._leaving():
            try:
                own = self._host.identity(self.body)
                self._containers = [
                    Container(spec, self._address, is_mimed=self._is_mimed)
                    for spec in self.body["spec"]["containers"]
                ]
                for container in self._containers:
                    container.configure(self.body, own, lambda name: self._host.certificate(namespace, name))
                self._own = own
            except (ConnectionError, ApiError) as error:
                self._write(status.waiting(self.body, self._address, str(error)))
                self._pause(MOUNT_RETRY)
        self._since = status.now()

    def _serve(self) -> None:
        while not self._leaving():
            self._beat()
            if all(container.ended is not None for container in self._containers):
                # A pod that has completed waits for somebody to delete it.
                self._pause(60)
            else:
                self._pause(BEAT)

    def _beat(self) -> None:
        try:
            knobs = Knobs.of(self.body)
            refusal = self._refusal(knobs)
        except ValueError as error:
            knobs, refusal = Knobs(), str(error)
        for container in self._containers:
            container.advance(refusal, knobs.crash)
        age = min((time.monotonic() - row.started for row in self._containers if row.started), default=0.0)
        if self.body["spec"].get("restartPolicy", "Always") != "Always" and age > knobs.run_for:
            for container in self._containers:
                container.end(knobs.exit_code)
        if self._first_ready is None and all(container.ready for container in self._containers):
            self._first_ready = time.monotonic()
        self._write(status.running(self.body, self._address, self._containers, self._since))

    def _refusal(self, knobs: Knobs) -> str | None:
        """Return why the pod must not serve now."""
        now = time.monotonic()
        started = max((container.started or now for container in self._containers), default=now)
        if knobs.never_ready:
            return "never ready"
        if now - started < knobs.ready_after:
            return f"ready {knobs.ready_after:g} s after its start"
        lost = knobs.lose_ready_after
        if lost is not None and self._first_ready is not None and now - self._first_ready >= lost:
            return f"readiness lost after {lost:g} s"
        return (
            f"blocked by {knobs.blocked_by}"
            if knobs.blocked_by and self._is_blocked(knobs.blocked_by)
            else None
        )

    def _is_blocked(self, blocker: str) -> bool:
        if time.monotonic() >= self._blocker_due:
            try:
                self._blocked = self._host.exists(*parse_blocker(blocker))
            except (ConnectionError, ApiError):
                # A network does not open because nobody can be asked about it: what was seen last holds.
                self._blocked = self._blocked or self._first_ready is None
            self._blocker_due = time.monotonic() + BLOCKER_PERIOD
        return self._blocked

    def _end(self) -> None:
        """Drain, close the ports and let the object go."""
        if not self._removed and any(container.open for container in self._containers):
            self._drain()
        for container in self._containers:
            if container.ended is None:
                container.end(0)
        if self._own is not None:
            self._own.close()
        if not self._removed:
            if self._containers:
                self._write(status.running(self.body, self._address, self._containers, self._since))
            self._delete()

    def _drain(self) -> None:
        try:
            seconds = Knobs.of(self.body).slow_stop
        except ValueError:  # said in the pod's status already
            seconds = Knobs.slow_stop
        grace = self.body["metadata"].get("deletionGracePeriodSeconds", 30)
        deadline = time.monotonic() + min(seconds, grace)
        for container in self._containers:
            container.serving.draining = True
        while time.monotonic() < deadline and not self._removed:
            self._pause(min(BEAT, max(0.0, deadline - time.monotonic())))
            self._beat()

    def _delete(self) -> None:
        uid = self.body["metadata"]["uid"]
        while not self._removed:
            try:
                self._host.admin.delete(self._path, gracePeriodSeconds=0, preconditions={"uid": uid})
            except ApiError as error:
                if error.status == 409:  # another pod has the name: this one is gone
                    return
            except ConnectionError:
                self._pause(MOUNT_RETRY)
            else:
                return

    @property
    def _path(self) -> str:
        meta = self.body["metadata"]
        return f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"

    def _write(self, wanted: dict[str, Any]) -> None:
        """Write the status when it is another than the one written last."""
        if wanted == self._written:
            return
        body = {"metadata": {"uid": self.body["metadata"]["uid"]}, "status": wanted}
        try:
            self._host.admin.patch(f"{self._path}/status", body, STRATEGIC)
        except NotFoundError:
            return  # deleted: the watch tells of it
        except (ConnectionError, ApiError):
            return  # not noted as written, so the next beat writes it again
        self._written = wanted
