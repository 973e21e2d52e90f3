"""All that the tables say of one kind, each row with its whole path."""

from __future__ import annotations

from dataclasses import dataclass

from agent.core import tables
from agent.core.paths import Pattern
from agent.core.rules import Rule
from agent.core.table_replacements import ReplacementRow
from agent.core.table_row import Row
from agent.core.tables import Placed


@dataclass(frozen=True)
class KindPolicy:
    """All that the tables say of one kind."""

    rules: Rule
    pod_template: Pattern | None
    ignored_when: tuple[Placed[tables.IgnoredRow], ...]
    folds: tuple[Placed[tables.FoldRow], ...]
    pointers: tuple[Placed[tables.PointerRow], ...]
    shared: tuple[Placed[tables.SharedRow], ...]
    parts: tuple[Placed[tables.PartRow], ...]
    content: tuple[Placed[Row], ...]
    sole: tuple[Placed[tables.SoleRow], ...]
    shapes: tuple[Placed[tables.ShapeRow], ...]
    capacity: tuple[Placed[tables.CapacityRow], ...]
    immutable: tuple[Placed[tables.ImmutableRow], ...]
    downtime: tuple[Placed[tables.DowntimeRow], ...]
    replacements: tuple[Placed[ReplacementRow], ...]
    references: tuple[Placed[tables.ReferenceRow], ...]
