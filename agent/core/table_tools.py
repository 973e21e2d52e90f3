"""The table of other tools' orders (policies/tools.yaml)."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from agent.core.table_row import Kinds, KindText, Row


class Stage(BaseModel):
    """Kinds that go one after another; ``*`` is the place of all that no stage names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kinds: tuple[KindText, ...]
    waits: bool = False


class ToolRow(Row):
    """In which order another tool writes an upgrade; ``--order`` calls it by ``name``."""

    kind: Kinds = ("*",)
    name: str
    source: str
    stages: tuple[Stage, ...]
    removes: Literal["listed", "reversed"]
    within: Literal["named", "written"] = "named"
    """Objects of one kind go by namespace and name, or as they stand in the files."""

    @property
    def key(self) -> tuple[str, ...]:
        """One row for each tool."""
        return (self.name,)
