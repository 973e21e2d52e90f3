"""What a person writes in trapeze.yaml, as values: durations, refs, paths within a repo.

Each function raises ``ValueError`` whose text says what is allowed.
"""

from __future__ import annotations

import re
from typing import Any, Final

from agent.core.refs import Ref, RefKind

DURATION: Final = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h|d))+$"
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def seconds(value: Any) -> float:
    """Seconds of ``10s``, ``1h30m``, ``0.5s``, or of a bare number."""
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return float(value)
    if not isinstance(value, str) or not re.fullmatch(DURATION, value):
        raise ValueError(
            "a duration is written like 10s, 5m or 1h30m (units ms, s, m, h, d), or as a number of seconds"
        )
    parts = re.findall(r"([0-9.]+)([a-z]+)", value)
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def ref_of(value: Any) -> Ref:
    """A ref of ``main`` or ``{tag: v1}``."""
    allowed = "a ref is a name, or one of {branch: NAME}, {tag: NAME}, {commit: ID}"
    kind, name = RefKind.ANY, value
    if isinstance(value, Ref):
        kind, name = value
    elif isinstance(value, dict) and len(value) == 1:
        word, name = next(iter(value.items()))
        if word not in {"branch", "tag", "commit"}:
            raise ValueError(allowed)
        kind = RefKind(word)
    elif not isinstance(value, str):
        raise ValueError(allowed)
    if not isinstance(name, str) or not name:
        raise ValueError(f"{allowed}; put a name that looks like a number in quotes")
    if not _is_ref_name(name):
        raise ValueError(
            "a ref's name is as `git check-ref-format` allows: no space, .., ~^:?*[\\ or leading -"
        )
    if kind is RefKind.COMMIT and not re.fullmatch(r"[0-9a-f]{7,64}", name):
        raise ValueError("a commit is 7 to 64 hexadecimal digits in lower case")
    return Ref(kind, name)


def _is_ref_name(name: str) -> bool:
    """Source: https://git-scm.com/docs/git-check-ref-format."""
    bad = re.search(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[-/.]|/\.|[/.]$|\.lock(/|$)", name)
    return bad is None and name != "@"


def repo_path(path: str) -> str:
    """A path within a repo, without ``./`` and final ``/``; ``.`` is the whole repo."""
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if path.startswith("/") or ".." in parts or "\\" in path:
        raise ValueError("a path starts at the repo's top: no leading /, no .., no backslash")
    return "/".join(parts) or "."
