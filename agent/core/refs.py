"""What of a repo is meant: a branch, a tag or a commit, told apart."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class RefKind(Enum):
    """What a ref's name is said to be; ANY is a name without its kind, refused where two fit."""

    ANY = "ref"
    BRANCH = "branch"
    TAG = "tag"
    COMMIT = "commit"


class Ref(NamedTuple):
    """A name and what it names."""

    kind: RefKind
    name: str

    def __str__(self) -> str:
        """``branch main``."""
        return f"{self.kind.value} {self.name}"
