"""Figures of the corpus: ``python -m tests.corpus`` prints a line for each project."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import groupby

from agent.core.model import Action, Category
from tests.corpus.releases import ARCHIVE, Pair, pairs, release, releases, upgrade


def main() -> None:
    """Projects, releases, objects, upgrades, and their changes by category."""
    if not ARCHIVE.is_file():
        sys.exit("the corpus is not beside the checkout")
    heads = ("project", "releases", "objects", "upgrades", "created", *(c.value for c in Category), "steps")
    sys.stdout.write(" | ".join(heads) + "\n")
    total: Counter[str] = Counter()
    for project, found in groupby(releases(), key=lambda one: one[0]):
        row = figures([version for _, version in found], [p for p in pairs() if p.project == project])
        total += row
        sys.stdout.write(" | ".join([project, *(str(row[head]) for head in heads[1:])]) + "\n")
        release.cache_clear()
        upgrade.cache_clear()
    sys.stdout.write(" | ".join(["all", *(str(total[head]) for head in heads[1:])]) + "\n")


def figures(versions: list[str], upgrades: list[Pair]) -> Counter[str]:
    """What one project adds to the table; what is created stands apart from the categories."""
    row = Counter({"releases": len(versions), "upgrades": len(upgrades)})
    for pair in upgrades:
        plan = upgrade(pair).plan()
        row["steps"] += len(plan.steps)
        for change in plan.changes:
            row["created" if change.action is Action.CREATE else change.category.value] += 1
    row["objects"] = sum(len(release(upgrades[0].project, version).manifests) for version in versions)
    return row


if __name__ == "__main__":
    main()
