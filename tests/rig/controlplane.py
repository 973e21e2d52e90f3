"""etcd, kube-apiserver, kube-controller-manager, kube-proxy and the kubelet's stand-in, as child processes.

The process that starts a ControlPlane must be in a network namespace of its own (tests.rig.netns); the
addresses are fixed in it. All children die with the process.
"""

import contextlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from tests.rig import components, netns
from tests.rig.api import Api, ApiError
from tests.rig.build import RigError, built_binary, program, require_programs, search_path
from tests.rig.pki import Authority, new_signing_key

START_WITHIN = 60.0
FOLDERS = "trapeze-rig-"
ROOT = Path(__file__).parents[2]


@dataclass
class ControlPlane:
    """A running control plane.

    Attributes:
        folder: certificates, kubeconfig and logs; removed by `stop`.
        api: a client as admin (system:masters).
        kubeconfig: the file that gives any client the same.
        serving_ca: the authority to sign serving certificates of the test's own Secrets with.
    """

    folder: Path
    api: Api
    kubeconfig: Path
    serving_ca: Authority
    _children: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _logs: list[IO[bytes]] = field(default_factory=list)

    @classmethod
    def start(cls, *, aggregator_routing: bool = True) -> "ControlPlane":
        """Start all components in this network namespace and return when a pod could run.

        Args:
            aggregator_routing: kube-apiserver's --enable-aggregator-routing: requests for aggregated servers
                and webhooks go to ready endpoints; without it to the ClusterIP, and kube-proxy decides.

        Raises:
            RigError: a component did not come up; the message has the end of its log.
        """
        binary = built_binary()
        require_programs()
        _sweep()
        folder = Path(tempfile.mkdtemp(prefix=f"{FOLDERS}{os.getpid()}-"))
        authority = Authority.create("rig")
        token, user_token = secrets.token_hex(16), secrets.token_hex(16)
        tokens = {"admin": token, "system:kube-controller-manager": user_token}
        files = _write_files(folder, authority, tokens)
        api = Api(components.SERVER, token, authority.pair.certificate)
        plane = cls(folder, api, files["admin.kubeconfig"], authority)
        try:
            plane._start_components(binary, aggregator_routing=aggregator_routing)
        except BaseException:
            plane.stop()
            raise
        return plane

    def _start_components(self, binary: Path, *, aggregator_routing: bool) -> None:
        folder = self.folder
        self._run("etcd", [str(binary), "etcd", *components.etcd_flags(folder)])
        flags = components.apiserver_flags(folder, aggregator_routing=aggregator_routing)
        self._run("kube-apiserver", [str(binary), "kube-apiserver", *flags])
        self._wait("kube-apiserver", lambda: self.api.raw("GET", "/readyz").status == 200)
        self._run(
            "kube-controller-manager",
            [str(binary), "kube-controller-manager", *components.controller_manager_flags(folder)],
        )
        kubelet = [sys.executable, "-m", "tests.rig.kubelet", str(folder)]
        self._run("kubelet", kubelet, cwd=ROOT)
        self._wait("kubelet", self._node_is_ready)
        self._run("kube-proxy", [str(binary), "kube-proxy", *components.proxy_flags(folder)])
        account = "/api/v1/namespaces/default/serviceaccounts/default"
        self._wait("kube-controller-manager", lambda: self.api.find(account) is not None)
        self._wait("kube-proxy", self._kubernetes_service_carries_traffic)

    def _node_is_ready(self) -> bool:
        node = self.api.find(f"/api/v1/nodes/{components.NODE_NAME}")
        conditions = node["status"].get("conditions", []) if node else []
        return any(row["type"] == "Ready" and row["status"] == "True" for row in conditions)

    def _kubernetes_service_carries_traffic(self) -> bool:
        client = Api("https://10.96.0.1:443", self.api.token, self.api.ca)
        try:
            return client.raw("GET", "/readyz", timeout=1).status == 200
        finally:
            client.close()

    def _run(self, name: str, command: list[str], cwd: Path | None = None) -> None:
        log = (self.folder / f"{name}.log").open("wb")
        self._logs.append(log)
        # The kernel ends the child when the thread that started it ends, however that comes.
        whole = [program("setpriv"), "--pdeathsig", "KILL", *command]
        environment = os.environ | {"PATH": search_path()}
        child = subprocess.Popen(
            whole, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=cwd, env=environment
        )
        prefer(child.pid)
        self._children.append(child)

    def _wait(self, name: str, ready: "components.Check") -> None:
        deadline = time.monotonic() + START_WITHIN
        while True:
            try:
                if ready():
                    return
            except (ConnectionError, ApiError):
                pass  # not up yet is what this loop waits out; the deadline below tells of it
            self.check()
            if time.monotonic() > deadline:
                raise RigError(
                    f"{name} is not up after {START_WITHIN:.0f} s; its log ends:\n{self.log(name)}"
                )
            time.sleep(0.05)

    def restart(self, name: str) -> None:
        """Kill a component and start it again with the same flags; returns when its process runs."""
        at = [Path(log.name).stem for log in self._logs].index(name)
        command = self._children[at].args
        self._children[at].kill()
        self._children[at].wait()
        environment = os.environ | {"PATH": search_path()}
        log = self._logs[at]
        self._children[at] = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
        )
        prefer(self._children[at].pid)

    def check(self) -> None:
        """Raise RigError when a component has ended."""
        for child, log in zip(self._children, self._logs, strict=True):
            if child.poll() is not None:
                name = Path(log.name).stem
                raise RigError(f"{name} ended with {child.returncode}; its log ends:\n{self.log(name)}")

    def log(self, name: str, lines: int = 30) -> str:
        """Return the last lines of a component's log."""
        text = (self.folder / f"{name}.log").read_text(errors="replace")
        return "\n".join(text.splitlines()[-lines:])

    def stop(self) -> None:
        """End every component and remove the folder."""
        for child in reversed(self._children):
            child.kill()
            child.wait()
        for log in self._logs:
            log.close()
        self._children.clear()
        self._logs.clear()
        self.api.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _sweep() -> None:
    """Remove the folders of processes that were killed before they could: etcd's files are large."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDERS}*-*"):
        owner = folder.name.removeprefix(FOLDERS).partition("-")[0]
        if folder.stat().st_uid == os.geteuid() and not Path("/proc", owner).exists():
            shutil.rmtree(folder, ignore_errors=True)


def prefer(process: int) -> None:
    """Let a process run before the programs under test, where this user may: else it runs as the rest.

    A probe or a sample that waits for a core would count against the program under test.
    """
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, process, -5)


def _write_files(folder: Path, authority: Authority, tokens: dict[str, str]) -> dict[str, Path]:
    """Write keys, certificates, tokens and kubeconfigs; return the paths of the latter by name."""
    front_proxy = Authority.create("rig-front-proxy")
    authority.pair.write(folder, "ca")
    front_proxy.pair.write(folder, "front-proxy-ca")
    front_proxy.issue("front-proxy-client").write(folder, "front-proxy-client")
    hosts = (netns.API_SERVER, "10.96.0.1", "127.0.0.1", "localhost", "kubernetes.default.svc")
    authority.issue("kube-apiserver", hosts).write(folder, "apiserver")
    private, public = new_signing_key()
    (folder / "service-account.key").write_bytes(private)
    (folder / "service-account.pub").write_bytes(public)
    rows = [f'{token},{user},{user},"system:masters"\n' for user, token in tokens.items()]
    (folder / "tokens.csv").write_text("".join(rows))
    (folder / "kube-proxy.json").write_text(json.dumps(components.proxy_config(folder)))
    written: dict[str, Path] = {}
    for user, token in tokens.items():
        path = folder / f"{user.removeprefix('system:')}.kubeconfig"
        path.write_text(json.dumps(components.kubeconfig(authority.bundle, token), indent=1))
        written[path.name] = path
    return written
