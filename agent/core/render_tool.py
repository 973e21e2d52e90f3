"""What a set says of the tool that renders its manifests, and how the tool is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

RENDERED: Final = "rendered:"
"""What the names of rendered files begin with, in findings and in the ledger."""


class Tool(Enum):
    """The tools that render."""

    KUSTOMIZE = "kustomize"
    HELM = "helm"


@dataclass(frozen=True)
class Rendering:
    """What is rendered: ``path`` in the repo; for helm the release's name, namespace and files of values."""

    tool: Tool
    path: str
    release: str
    namespace: str
    values: tuple[str, ...] = ()

    @property
    def arguments(self) -> Sequence[str]:
        """What follows the command; paths start at the top of the tree."""
        if self.tool is Tool.KUSTOMIZE:
            return [f"./{self.path}"]
        values = [word for file in self.values for word in ("--values", f"./{file}")]
        return [self.release, f"./{self.path}", "--namespace", self.namespace, "--include-crds", *values]
