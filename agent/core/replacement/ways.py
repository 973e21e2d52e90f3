"""Which way a refused change takes, by the table of replacements."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from agent.core.facet import Facet, FacetKind
from agent.core.model import FieldPath, LiveObject, Manifest
from agent.core.paths import covers
from agent.core.policy import Policy
from agent.core.table_replacements import ReplacementRow, Way

_NO_ROW: Final = ReplacementRow(
    kind=("*",),
    way=Way.HOLD,
    says="not without a gap under this name: give the object a new name in Git",
    costs="",
)


def way_of(policy: Policy, live: LiveObject, manifest: Manifest, parts: Iterable[Facet]) -> ReplacementRow:
    """The row that says how the object is replaced: of several the one that asks for most.

    What the server refuses and no table speaks of is held, as is a field that no row names.
    """
    refused = [c.path for part in parts if part.kind is FacetKind.IMMUTABLE for c in part.fields]
    rows = [_row(policy, live, manifest, path) for path in refused]
    return max(rows, key=lambda row: list(Way).index(row.way), default=_NO_ROW)


def _row(policy: Policy, live: LiveObject, manifest: Manifest, path: FieldPath) -> ReplacementRow:
    """The last row for the field whose condition holds, else the last that has none.

    A condition that cannot be evaluated holds: such rows ask for more.
    """
    named = [p.row for p in policy.of(live.id.group_kind).replacements if covers(p.pattern, path)]
    both = {"live": live.body, "desired": manifest.body}
    meant = [row for row in named if row.when and policy.holds(row.when, otherwise=True, **both)]
    return (meant or [row for row in named if not row.when] or [_NO_ROW])[-1]
