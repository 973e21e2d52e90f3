"""The control plane's binary and the system's programs: found, else made, else named in one clear message.

The binary is built from tests/rig/controlplane (golang.py says how).
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.rig.golang import GoProgram, RigError, cache_home, say

__all__ = [
    "DEBIAN_PACKAGES",
    "KUBERNETES",
    "SOURCE",
    "RigError",
    "binary_path",
    "build",
    "built_binary",
    "cache_home",
    "control_plane",
    "ensure_programs",
    "linker_flags",
    "program",
    "require_linux",
    "require_programs",
    "search_path",
]

KUBERNETES = "1.36.3"
SOURCE = Path(__file__).parent / "controlplane"
DEBIAN_PACKAGES = {
    "nft": "nftables",
    "ip": "iproute2",
    "unshare": "util-linux",
    "setpriv": "util-linux",
    "nsenter": "util-linux",
}


def require_linux() -> None:
    """Raise RigError on a system that has no network namespaces."""
    if sys.platform != "linux":
        raise RigError(
            "the control plane of the tests needs Linux (network namespaces, nftables); this is"
            f" {sys.platform}: the tests marked 'cluster' cannot run here, the rest can (pytest -m 'not"
            " cluster')"
        )


def linker_flags() -> str:
    """Return the flags that give the binary its version; without them it calls itself v0.0.0-master."""
    major, minor, _patch = KUBERNETES.split(".")
    package = "k8s.io/component-base/version"
    values = {"gitVersion": f"v{KUBERNETES}", "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    return " ".join(["-s", "-w", *(f"-X {package}.{key}={value}" for key, value in values.items())])


def control_plane() -> GoProgram:
    """Return the program of the control plane."""
    title = f"the control plane, Kubernetes {KUBERNETES} (about 8 minutes, once),"
    return GoProgram("controlplane", title, SOURCE, linker_flags())


def binary_path() -> Path:
    """Return where the binary for this source stands, built or not."""
    return control_plane().path()


def built_binary() -> Path:
    """Return the binary; raise RigError when it has not been built."""
    require_linux()
    path = binary_path()
    if not path.exists():
        raise RigError(
            "the control plane is not built yet: run `make controlplane` (about 8 minutes, once; kept in the"
            " cache folder of the user)"
        )
    return path


def build() -> Path:
    """Return the binary, built first where the cache has none; raise RigError when it cannot be."""
    require_linux()
    return control_plane().build()


def ensure_programs() -> None:
    """Install missing programs of the system, as root on Debian; else raise RigError naming them."""
    require_linux()
    missing = sorted({package for program, package in DEBIAN_PACKAGES.items() if _which(program) is None})
    if not missing:
        return
    if os.geteuid() == 0 and shutil.which("apt-get"):
        say(f"installing {' '.join(missing)}")
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for command in (["update"], ["install", "--yes", "--no-install-recommends", *missing]):
            subprocess.run(
                ["apt-get", "--quiet", *command], check=False, capture_output=True, env=environment
            )
    require_programs()


def require_programs() -> None:
    """Raise RigError naming every program that is missing and the packages that bring them."""
    missing = {program: package for program, package in DEBIAN_PACKAGES.items() if _which(program) is None}
    if missing:
        raise RigError(
            f"the control plane of the tests needs {', '.join(missing)}: install the packages"
            f" {' '.join(sorted(set(missing.values())))} (as root: make controlplane does it)"
        )


def search_path() -> str:
    """Return PATH with the folders where Debian keeps nft and ip, which not everybody has on it."""
    return os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


def _which(program: str) -> str | None:
    return shutil.which(program, path=search_path())


def program(name: str) -> str:
    """Return the path of a system program that require_programs has seen."""
    found = _which(name)
    if found is None:
        raise RigError(f"{name} is gone from this system: install {DEBIAN_PACKAGES[name]}")
    return found
