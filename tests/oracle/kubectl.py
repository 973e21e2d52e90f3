"""kubectl's reader as a process that stays: the Go program of this folder, asked file by file."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from tests.rig.golang import GoProgram

PROGRAM = GoProgram("oracle", "kubectl's reader", Path(__file__).parent)


class Answer(NamedTuple):
    """The documents before the first that is broken, and what was said of that; empty where none is."""

    documents: list[Any]
    error: str


class Kubectl:
    """Answers of one process. Raises what the pipe raises when it dies."""

    def __init__(self, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self._stdin = stdin
        self._stdout = stdout

    def read(self, data: bytes) -> Answer:
        """What kubectl makes of a file."""
        self._stdin.write(b"%d\n%b" % (len(data), data))
        self._stdin.flush()
        reply = json.loads(self._stdout.readline())
        return Answer(reply["documents"], reply.get("error", ""))


@contextmanager
def running() -> Iterator[Kubectl]:
    """The process, built first where the cache has none. Raises RigError when it cannot be."""
    with subprocess.Popen([PROGRAM.build()], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Kubectl(process.stdin, process.stdout)
        process.stdin.close()
