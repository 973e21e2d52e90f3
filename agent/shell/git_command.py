"""git as a command, kept from asking questions, running hooks or taking for ever.

Every failure is a ``SourceError`` that says what was being done, of which repo, and the way out.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final, NamedTuple

from git.cmd import Git
from git.exc import GitCommandNotFound

from agent.errors import SourceError

_QUIET: Final = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "fetch.recurseSubmodules=no",
    "gc.autoDetach=false",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=30",
)
_WAYS_OUT: Final = {
    r"dubious ownership": "the repo belongs to another user: see safe.directory in `git help config`",
    r"Authentication failed|could not read (Username|Password)|Permission denied|error: 40[13]": (
        "check the credentials: a credential helper, a token in the URL, an ssh key without passphrase"
    ),
    r"Host key verification failed": "add the host's key to known_hosts",
    r"resolve host|onnection (refused|timed out)|(unable|Failed) to connect|No route|Timeout: ": (
        "check the host's name and that it can be reached from here"
    ),
    r"SSL|certificate": "check the host's certificate, or name its CA in git's http.sslCAInfo",
    r"not appear to be a git|not a git repo|[Rr]epository .*not found|error: 404|read from remote": (
        "check the repo's path or URL, and that the credentials may read it"
    ),
}
_CREDENTIALS: Final = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_QUERY: Final = re.compile(r"\?[^\s']*")


class Outcome(NamedTuple):
    """What a command left: exit status, standard output, and the masked text of standard error."""

    status: int
    output: bytes
    error: str


class GitCommand:
    """Commands in one bare repo. ``url`` is where it mirrors from; ``timeout`` is in seconds a command."""

    def __init__(self, folder: Path, url: str, timeout: float) -> None:
        self.url = url
        self._folder = folder
        self._timeout = timeout

    def run(self, doing: str, *arguments: str) -> bytes:
        """The command's output. Raises SourceError, which begins with what was being done."""
        outcome = self.ask(*arguments)
        if outcome.status != 0:
            raise self.failed(doing, outcome.error)
        return outcome.output

    def ask(self, *arguments: str) -> Outcome:
        """Run a command whose failure is an answer. Raises SourceError where there is no git."""
        options = [option for setting in _QUIET for option in ("-c", setting)]
        try:
            status, output, error = self.process().execute(
                ["git", *options, *arguments],
                with_extended_output=True,
                with_exceptions=False,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
                kill_after_timeout=self._timeout,
            )
        except GitCommandNotFound:
            raise SourceError("running git: there is no such command here; install git") from None
        return Outcome(int(status), bytes(output), mask(_text(error)))

    def process(self) -> Git:
        """A handle of its own, for a process that stays (``cat-file --batch``)."""
        handle = Git(self._folder)
        handle.update_environment(**self._environment())
        return handle

    def failed(self, doing: str, error: str) -> SourceError:
        """The error for a command that failed, with git's own last words and the way out."""
        lines = [line for line in error.splitlines() if not line.startswith(("hint:", "warning:"))]
        words = " ".join(line.removeprefix("fatal: ").removeprefix("error: ") for line in lines[:3])
        way_out = next(
            (way for pattern, way in _WAYS_OUT.items() if re.search(pattern, error)), "see what git says"
        )
        return SourceError(f"{doing} of {mask(self.url)}: {words or 'git failed'}; {way_out}")

    def _environment(self) -> dict[str, str]:
        """Nothing may ask a person, and nothing of a surrounding git may leak in."""
        settings = {
            "GIT_DIR": str(self._folder),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "",
            "GIT_ALLOW_PROTOCOL": "file:https:ssh",
            "GIT_LFS_SKIP_SMUDGE": "1",
            "GIT_NO_LAZY_FETCH": "1",
        }
        if not os.environ.get("GIT_SSH_COMMAND") and not os.environ.get("GIT_SSH"):
            settings["GIT_SSH_COMMAND"] = "ssh -o BatchMode=yes -o ConnectTimeout=15"
        return settings


def mask(text: str) -> str:
    """``text`` with the credentials of URLs replaced, and without their queries."""
    return _CREDENTIALS.sub("***", _QUERY.sub("", text) if "://" in text else text)


def _text(output: bytes | str) -> str:
    return output if isinstance(output, str) else output.decode("utf-8", "replace")
