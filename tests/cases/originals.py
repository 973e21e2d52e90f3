"""The original cases, read as upgrades: what Git had, what it wants, what the cluster has."""

from __future__ import annotations

from pathlib import Path

from agent.core.model import SET_LABEL, Body
from agent.core.plan import Maker
from agent.core.policy import id_of
from agent.core.yamlread import read_documents
from tests.core.upgrades import MANAGER, release, upgrade

CASES = Path(__file__).parents[3] / "shared" / "cases"


def case(name: str, head: str = "head.yaml", more: str = "", *, fresh: bool = False) -> Maker:
    """The plan's maker for one case; ``more`` names a file with objects of nobody's set.

    Where a case has no base, what it wants was applied before, or nothing was (``fresh``).
    """
    folder = next(CASES.glob(f"{name}-*"))
    wanted = (folder / head).read_text(encoding="utf-8")
    base = folder / "base.yaml"
    was = base.read_text(encoding="utf-8") if base.is_file() else "" if fresh else wanted
    members = release(was).manifests.keys() | release(wanted).manifests.keys()
    live = [_applied(body) if id_of(body) in members else body for body in _bodies(folder / "live.yaml")]
    strangers = _bodies(folder / more) if more else []
    return upgrade(was, wanted, *live, *strangers)


def _bodies(file: Path) -> list[Body]:
    if not file.is_file():
        return []
    return [document.body for document in read_documents(file.read_bytes(), file.name).documents]


def _applied(body: Body) -> Body:
    """As this set applied it (a preview's uids); managers that the case names stay."""
    metadata = body["metadata"]
    ours = {"manager": MANAGER, "operation": "Apply", "fieldsV1": {}}
    return {
        **body,
        "metadata": {
            **metadata,
            "labels": {**(metadata.get("labels") or {}), SET_LABEL: "shop"},
            "managedFields": [*(metadata.get("managedFields") or []), ours],
            "uid": f"base {id_of(body)}",
        },
    }
