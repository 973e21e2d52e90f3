"""python -m tests.rig: build, run a command beside a control plane, leave one running, enter its network.

build                 build the control plane's binary and the readers that tests compare with, and
                      install what the system lacks: what runs beside a control plane reaches no network
build -- all          the same, and Helm, kubectl and Flux's applying for the slow tests
run -- COMMAND ...    start a control plane, run COMMAND in its network with KUBECONFIG set, end it
cluster               leave a control plane running until Ctrl-C, and say how to reach it
shell [-- COMMAND]    a shell (or COMMAND) in the network of the control plane that `cluster` left running
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

from tests.oracle.kubectl import PROGRAM as ORACLE
from tests.rig import build
from tests.rig.build import RigError, program
from tests.rig.controlplane import ControlPlane
from tests.rig.netns import enter_new_network
from tests.rig.tools import APPLIERS, HELM_3, HELM_4, KUSTOMIZE

RUNNING = "running"


def main(arguments: list[str]) -> int:
    """Run one of the commands and return its exit code."""
    parser = argparse.ArgumentParser("python -m tests.rig", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("command", choices=("build", "run", "cluster", "shell"))
    parser.add_argument("--no-aggregator-routing", action="store_true", help="dial ClusterIPs, not endpoints")
    parser.add_argument("words", nargs="*", metavar="-- COMMAND", help="what to run")
    asked = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _leave)
    # A shell that starts this in the background has Ctrl-C ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if asked.command == "build":
            build.ensure_programs()
            _say(str(build.build()))
            for tool in (ORACLE, KUSTOMIZE, *((HELM_3, HELM_4, APPLIERS) if asked.words else ())):
                _say(str(tool.build()))
            return 0
        if asked.command == "shell":
            return _shell(asked.words)
        _become_root()
        build.built_binary()
        enter_new_network()
        with ControlPlane.start(aggregator_routing=not asked.no_aggregator_routing) as plane:
            return _run(plane, asked.words) if asked.command == "run" else _stay(plane)
    except RigError as error:
        sys.stderr.write(f"rig: {error}\n")
        return 1


def _leave(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + signal.SIGTERM)


def _become_root() -> None:
    """Start this process anew as root of a user namespace, where it is not root already."""
    build.require_linux()
    if os.geteuid() != 0:
        unshare = program("unshare")
        command = [unshare, "--user", "--map-root-user", sys.executable, "-m", "tests.rig", *sys.argv[1:]]
        os.execv(unshare, command)  # noqa: S606 - no shell is wanted


def _run(plane: ControlPlane, words: list[str]) -> int:
    if not words:
        raise RigError("run what? python -m tests.rig run -- COMMAND")
    environment = os.environ | {"KUBECONFIG": str(plane.kubeconfig)}
    return subprocess.run(words, env=environment, check=False).returncode


def _stay(plane: ControlPlane) -> int:
    note = build.cache_home() / RUNNING / str(os.getpid())
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(json.dumps({"kubeconfig": str(plane.kubeconfig)}))
    _say(f"KUBECONFIG={plane.kubeconfig}")
    _say("It is reachable inside its own network only:")
    _say(f"  {sys.executable} -m tests.rig shell                  a shell there, with KUBECONFIG set")
    _say(f"  {sys.executable} -m tests.rig shell -- kubectl get pods -A")
    _say(f"Logs: {plane.folder}. Ctrl-C ends it.")
    try:
        while True:
            plane.check()
            time.sleep(1)
    except KeyboardInterrupt:
        return 0
    finally:
        note.unlink()


def _shell(words: list[str]) -> int:
    notes = sorted((build.cache_home() / RUNNING).glob("*"), key=lambda note: note.stat().st_mtime)
    alive = [note for note in notes if _is_rig(Path(f"/proc/{note.name}/cmdline"))]
    if not alive:
        raise RigError("no control plane is running: start one with `make cluster`")
    kubeconfig = json.loads(alive[-1].read_text())["kubeconfig"]
    user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
    enter = [program("nsenter"), "--target", alive[-1].name, "--net", *user]
    command = [*enter, *(words or [os.environ.get("SHELL", "/bin/sh")])]
    return subprocess.run(command, env=os.environ | {"KUBECONFIG": kubeconfig}, check=False).returncode


def _is_rig(command_line: Path) -> bool:
    """Whether a process is one of this program: its number may have been given to another since."""
    return command_line.exists() and b"tests.rig" in command_line.read_bytes()


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
