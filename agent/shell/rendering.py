"""kustomize and helm as commands: a commit's tree rendered into manifests, without a network or much time.

The tool runs in a copy of the tree that is thrown away, without a shell, with an environment of its own, and
in a network namespace without a network where the system lets us make one.
Every failure is a ``SourceError`` that says what was being done and the way out.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import tarfile
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from agent.core.helm_hooks import as_own
from agent.core.render_tool import RENDERED, Rendering, Tool
from agent.core.yamlread import Reading, read_documents
from agent.errors import SourceError
from agent.shell.repo import Repo

LARGEST: Final = 64 * 2**20
"""Bytes that a tool may write."""
_KEPT: Final = 8
"""Commits whose rendering is kept: those of the generations that stand."""
_LOOK: Final = 0.05
"""Seconds between two looks at a tool that runs."""
_WORDS: Final = 400
"""Characters of what a tool says that are told: its end."""
_NO_NETWORK: Final = (["unshare", "--net"], ["unshare", "--user", "--map-root-user", "--net"])
_COMMANDS: Final[Mapping[Tool, Sequence[Sequence[str]]]] = {
    Tool.KUSTOMIZE: (("kustomize", "build"), ("kubectl", "kustomize")),
    Tool.HELM: (("helm", "template"),),
}


@dataclass
class Renderer:
    """Renders one set's path at any commit.

    ``timeout`` is in seconds, ``largest`` in bytes; ``search`` is where tools are looked for, else PATH.
    """

    repo: Repo
    rendering: Rendering
    timeout: float = 60.0
    largest: int = LARGEST
    search: str | None = None

    def __post_init__(self) -> None:
        self._kept: OrderedDict[str, Mapping[str, Reading]] = OrderedDict()

    def readings(self, commit: str) -> Mapping[str, Reading]:
        """What the tool renders at ``commit``, read, under the name ``rendered:path``.

        Raises:
            SourceError: the tool is not here, fails, takes too long or writes too much.
        """
        if commit not in self._kept:
            file = f"{RENDERED}{self.rendering.path}"
            reading = read_documents(self._rendered(commit), file)
            self._kept[commit] = {file: as_own(reading) if self.rendering.tool is Tool.HELM else reading}
        self._kept.move_to_end(commit)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return self._kept[commit]

    def _rendered(self, commit: str) -> bytes:
        command = self._command()
        with TemporaryDirectory(prefix="trapeze-render-") as name:
            tree = Path(name, "tree")
            self._unpack(self.repo.archive(commit), tree, commit)
            home = Path(name, "home")
            home.mkdir()
            doing = f"rendering {self.rendering.path} at {commit[:10]} with {self.rendering.tool.value}"
            return self._run(command, tree, home, doing)

    def _command(self) -> list[str]:
        """The tool's command. Raises SourceError where it is not here."""
        tool = self.rendering.tool
        for words in _COMMANDS[tool]:
            program = shutil.which(words[0], path=self.search)
            if program is not None:
                return [program, *words[1:], *self.rendering.arguments]
        names = " or ".join(words[0] for words in _COMMANDS[tool])
        raise SourceError(
            f"rendering {self.rendering.path} with {tool.value}: there is no {names} here; install it, or"
            " commit what it renders and leave render out of the set"
        )

    def _unpack(self, archive: bytes, tree: Path, commit: str) -> None:
        try:
            with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
                packed.extractall(tree, filter="data")
        except (tarfile.TarError, OSError) as error:
            raise SourceError(f"copying the tree of {commit[:10]} to render it: {error}") from error

    def _run(self, command: Sequence[str], tree: Path, home: Path, doing: str) -> bytes:
        out, told = home / "out", home / "told"
        with out.open("wb") as stdout, told.open("wb") as stderr:
            process = subprocess.Popen(  # noqa: S603 - a command from a table, its arguments checked settings
                [*_without_network(), *command],
                cwd=tree,
                env=_environment(home, self.search),
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
            try:
                self._wait(process, (out, told), doing)
            finally:
                _end(process)
        if process.returncode != 0:
            words = told.read_bytes().decode("utf-8", "replace").strip()[-_WORDS:].replace(str(tree), "")
            raise SourceError(
                f"{doing}: {words or f'it ended with {process.returncode}'}; try the same by hand"
            )
        return out.read_bytes()

    def _wait(self, process: subprocess.Popen[bytes], files: Sequence[Path], doing: str) -> None:
        end = time.monotonic() + self.timeout
        while process.poll() is None:
            if time.monotonic() > end:
                raise SourceError(f"{doing}: not done after {self.timeout:g} s; see what it waits for")
            time.sleep(_LOOK)
            self._measure(files, doing)
        self._measure(files, doing)

    def _measure(self, files: Sequence[Path], doing: str) -> None:
        if any(file.stat().st_size > self.largest for file in files):
            raise SourceError(f"{doing}: more than {self.largest} bytes; render less in one set")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Nothing that the tool started outlives it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
    process.wait()


def _environment(home: Path, search: str | None) -> dict[str, str]:
    """Nothing of ours: no credentials, no configuration, no plugins."""
    folders = {
        key: str(home) for key in ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")
    }
    return {"PATH": search or os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", **folders}


@cache
def _without_network() -> tuple[str, ...]:
    """What starts a program without a network here; nothing where the system does not let us."""
    for words in _NO_NETWORK:
        program = shutil.which(words[0])
        if program is None:
            return ()
        trial = [program, *words[1:], "true"]
        tried = subprocess.run(trial, capture_output=True, check=False)  # noqa: S603 - from a table
        if tried.returncode == 0:
            return (program, *words[1:])
    return ()
