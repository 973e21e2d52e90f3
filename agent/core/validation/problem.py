"""One thing that is wrong with a desired object, with its place inside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from agent.core.model import Body, FieldPath, Finding, Manifest, Severity, path_text

RawPath: TypeAlias = tuple[str | int, ...]
"""Keys and indexes from the top of the object."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at ``path``, by which ``rule`` (a word that programs filter by), and the way out.

    ``is_certain`` is False where another version of the API server may see it otherwise. ``where`` is the
    place in words, where it is not that of ``path`` alone.
    """

    rule: str
    path: RawPath
    message: str
    remedy: str = ""
    severity: Severity = Severity.OBJECT
    is_certain: bool = True
    where: str = ""

    def finding(self, manifest: Manifest, severity: Severity | None = None) -> Finding:
        """The same as a finding about an object."""
        place = self.where or place_text(self.path, manifest.body)
        message = f"{manifest.id}: {place} {self.message}" if place else f"{manifest.id}: {self.message}"
        return Finding(severity or self.severity, message, manifest.origin, self.remedy)


def place_text(path: RawPath, body: Body) -> str:
    """``spec.containers[web].image``: items of lists by their name where they have one."""
    parts: FieldPath = ()
    node: Any = body
    for part in path:
        try:
            node = node[part]
        except (KeyError, IndexError, TypeError):
            node = None
        name = node.get("name") if isinstance(part, int) and isinstance(node, dict) else None
        parts = (*parts, (("name", name),) if isinstance(name, str) and name else part)
    return path_text(parts)


def raw_path(path: FieldPath, body: Body) -> RawPath:
    """A field path with its keyed items as indexes; it ends where the body has no such item."""
    found: list[str | int] = []
    node: Any = body
    for part in path:
        if isinstance(part, tuple):
            wanted = {key: value for key, value in part if key}
            items = node if isinstance(node, list) else []
            same = [n for n, item in enumerate(items) if isinstance(item, dict) and _has(item, wanted)]
            if not same:
                break
            part = same[-1]  # noqa: PLW2901 - the key becomes the index of what it names
        found.append(part)
        try:
            node = node[part]
        except (KeyError, IndexError, TypeError):
            node = None
    return tuple(found)


def _has(item: Body, wanted: Body) -> bool:
    return all(item.get(key, value) == value for key, value in wanted.items())
