"""How many scenes a rehearsal visits and what they cost: the sample's releases, Calico's and Tekton's.

Run by ``make bench-rehearse``. Prints scenes, what they would be at least with each request on its own,
writes judged, processor seconds and the verdict by order; judges nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from rich.console import Console
from rich.table import Table

from agent.build import kinds_of
from agent.core import manifests
from agent.core.model import Desired
from agent.core.orders import Order
from agent.core.rehearsal.run import Script, rehearse
from agent.core.simulation.world import World
from agent.core.situation import Rules
from agent.core.yamlread import read_documents
from agent.shell.embedded import EmbeddedCluster
from tests.core.bodies import RULES
from tests.core.casefiles import shipped
from tests.core.rehearsal.calico import stored_kinds
from tests.corpus.releases import ARCHIVE
from tests.corpus.tekton import tekton
from tests.e2e.releases import enterprise, oss

BUDGET = 5_000
"""Scenes of one rehearsal: enough for every one of Calico's and Tekton's."""
SAMPLE = Path(__file__).parents[1] / "sample-repo" / "releases"


def release(revision: str, files: Mapping[str, str]) -> Desired:
    """What the files want."""
    read = {name: read_documents(text.encode(), name) for name, text in files.items()}
    return manifests.load(read, kinds_of(), set_name="bench", revision=revision, namespace="default")


def folder(path: Path) -> dict[str, str]:
    """The files of a release."""
    return {file.name: file.read_text(encoding="utf-8") for file in sorted(path.glob("*.yaml"))}


def upgrades() -> Iterator[tuple[str, Desired, Desired, World]]:
    """Name, old and new release, and the cluster that they meet; Tekton's where the corpus is here."""
    empty = EmbeddedCluster(1_000.0).world
    one, two, three = (release(f"sample-{n}", folder(SAMPLE / n)) for n in "123")
    yield "sample 1 to 2", one, two, empty
    yield "sample 2 to 3", two, three, empty
    for layout in (oss(), enterprise()):
        old, new = release("old", layout.old_files()), release("new", layout.new_files())
        yield layout.name, old, new, stored_kinds()
    if ARCHIVE.is_file():
        before, after = tekton()
        yield "Tekton 0.12 to 0.13", before, after, empty


def main() -> None:
    """Rehearse each upgrade in our order and in those of other tools."""
    table = Table("upgrade", "order", "scenes", "apart", "writes", "seconds", "all", "verdict")
    for name, base, head, world in upgrades():
        for order in Order:
            rules = Rules(f"trapeze/{head.set_name}", settle=10.0, allow=frozenset({"Namespace"}))
            disturbs = order is Order.GATED
            play = Script(base, head, shipped(), RULES, rules, order=order, budget=BUDGET, disturbs=disturbs)
            start = time.process_time()
            answer = rehearse(world, play)
            spent = time.process_time() - start
            reach = answer.reach
            figures = (reach.scenes, reach.apart, reach.writes, f"{spent:.1f}", answer.is_exhaustive)
            table.add_row(name, order.value, *map(str, figures), answer.verdict.value)
    Console().print(table)


if __name__ == "__main__":
    main()
