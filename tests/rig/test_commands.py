"""python -m tests.rig: what people type."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.rig.controlplane import ROOT

RIG = [sys.executable, "-m", "tests.rig"]


@pytest.mark.cluster
@pytest.mark.skipif(sys.platform != "linux", reason="needs network namespaces")
def test_run_gives_a_command_its_own_control_plane_and_passes_on_its_exit_code() -> None:
    command = [*RIG, "run", "--", "sh", "-c", "cat $KUBECONFIG; echo; echo $KUBECONFIG; exit 7"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 7, done.stderr
    assert "https://10.0.0.1:6443" in done.stdout
    assert not Path(done.stdout.splitlines()[-1]).exists()


def test_shell_without_a_control_plane_says_how_to_start_one(tmp_path: Path) -> None:
    environment = {"XDG_CACHE_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [*RIG, "shell"], cwd=ROOT, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 1
    assert done.stderr == "rig: no control plane is running: start one with `make cluster`\n"
