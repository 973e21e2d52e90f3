"""What an in-place change takes away: its facets, each with its own category.

A change is additive only where it takes nothing away from what is in service. Every field that differs goes
to the facets whose rows of the tables speak of it; what no row speaks of is set in place (ADDS).
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.core.facet import Facet, FacetKind, Sides
from agent.core.facets import FINDERS
from agent.core.few import few
from agent.core.model import Body, Category, FieldChange, Reason, path_text
from agent.core.policy import Policy, group_kind_of
from agent.core.targets import Pointer, Target, pointers_of

__all__ = ["Facet", "FacetKind", "Pointer", "Target", "classify", "facets", "pointers_of"]


def facets(
    fields: Sequence[FieldChange], desired: Body, live: Body, applied: Sequence[Body], policy: Policy
) -> tuple[Facet, ...]:
    """The parts of the change ``fields`` (from agent/core/diff.py), worst first; empty for no change."""
    if not fields:
        return ()
    sides = Sides(desired, live, tuple(applied), policy, policy.of(group_kind_of(desired)))
    left = list(fields)
    found: list[Facet] = []
    for finder in FINDERS:
        found.extend(finder(sides, left))
        taken = {change.path for facet in found for change in facet.fields}
        left = [change for change in fields if change.path not in taken]
    if left:
        found.append(Facet(FacetKind.ADDS, Category.ADDITIVE, tuple(left), _adds(left), left[0].path))
    return tuple(sorted(found, key=lambda facet: -facet.category.severity))


def classify(parts: Sequence[Facet]) -> tuple[Category, str]:
    """The worst category among the facets and its reason; additive when there is none."""
    worst = max(parts, key=lambda facet: facet.category.severity, default=None)
    return (worst.category, worst.reason) if worst else (Category.ADDITIVE, "")


def _adds(left: Sequence[FieldChange]) -> str:
    drift = " back" if all(change.reason is Reason.DRIFT for change in left) else ""
    return f"sets {few(left, say=lambda change: path_text(change.path))}{drift}"
