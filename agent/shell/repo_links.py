"""Symbolic links of a commit: followed once, and only to what the same commit holds.

Nothing outside of the commit is ever opened, so a link cannot show files of the agent's host
(argoproj/argo-cd#12593); a link behind a link is not followed, so none can lead in a circle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LONGEST: Final = 4096
"""Bytes of a link's text (PATH_MAX of Linux); a longer one is no path."""


@dataclass(frozen=True, slots=True)
class Followed:
    """What a link names: ``tree`` as ``git ls-tree -r -z -l`` prints it below ``target``, or ``problem``."""

    target: str = ""
    tree: bytes = b""
    problem: str = ""


def target_of(link: str, text: bytes) -> str | None:
    """The path from the commit's root that a link's text names, empty for the root; None where it leaves it.

    ``..`` counts at the start alone: behind a folder it would mean something else where that is a link.
    """
    words = text.decode("utf-8", "surrogateescape")
    folders = link.split("/")[:-1]
    names: list[str] = []
    if words.startswith("/") or "\0" in words or len(text) > LONGEST:
        return None
    for part in words.split("/"):
        if part == ".." and (names or not folders):
            return None
        if part == "..":
            folders.pop()
        elif part not in {"", "."}:
            names.append(part)
    return "/".join((*folders, *names))
