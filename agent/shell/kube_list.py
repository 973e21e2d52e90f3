"""A whole list out of its pages.

kubernetes.io/docs/reference/using-api/api-concepts, "Retrieving large results sets in chunks".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agent.core.model import Body
from agent.errors import Conflict
from agent.shell.cluster import Listing, Resource

PAGE: Final = 500

Page = Callable[[dict[str, str]], Body]
"""One request with these query parameters; raises ``Conflict`` when the continue token has expired."""


def whole_list(page: Page, resource: Resource) -> Listing:
    """All pages of one resourceVersion, each item with apiVersion and kind.

    An expired page (410) restarts the list; the last try asks for everything at once, since pages can
    expire faster than they are read, a single answer cannot.
    """
    for _ in range(2):
        try:
            return _pages(page, resource, PAGE)
        except Conflict:
            continue
    return _pages(page, resource, 0)


def _pages(page: Page, resource: Resource, size: int) -> Listing:
    limit = {"limit": str(size)} if size else {}
    group = resource.kind.group
    api_version = f"{group}/{resource.versions[0]}" if group else resource.versions[0]
    items: list[Body] = []
    query = dict(limit)
    while True:
        answer = page(query)
        # Items of a list carry no type of their own, partial ones that of the partial.
        typed = {"apiVersion": api_version, "kind": resource.kind.kind}
        items.extend({**item, **typed} for item in answer.get("items") or [])
        metadata = answer.get("metadata") or {}
        token = metadata.get("continue")
        if not token:
            return Listing(items, str(metadata.get("resourceVersion", "")))
        query = {**limit, "continue": str(token)}
