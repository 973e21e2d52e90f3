"""How many scenes a rehearsal visits and what they cost: the sample's releases, and Calico's two layouts.

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
from agent.core.model import Desired, GroupKind
from agent.core.orders import Order
from agent.core.rehearsal.run import Script, rehearse
from agent.core.simulation.world import World
from agent.core.situation import Rules
from agent.core.yamlread import read_documents
from agent.shell.embedded import EmbeddedCluster
from tests.core.bodies import RULES
from tests.core.casefiles import shipped
from tests.e2e.releases import CORE, documents, enterprise, oss

SAMPLE = Path(__file__).parents[1] / "sample-repo" / "releases"


def release(revision: str, files: Mapping[str, str]) -> Desired:
    """What the files want."""
    read = {name: read_documents(text.encode(), name) for name, text in files.items()}
    return manifests.load(read, kinds_of(), set_name="bench", revision=revision, namespace="default")


def folder(path: Path) -> dict[str, str]:
    """The files of a release."""
    return {file.name: file.read_text(encoding="utf-8") for file in sorted(path.glob("*.yaml"))}


def upgrades() -> Iterator[tuple[str, Mapping[str, str], Mapping[str, str], World]]:
    """Name, old and new files, and the cluster that they meet."""
    empty = EmbeddedCluster(1_000.0).world
    yield "sample 1 to 2", folder(SAMPLE / "1"), folder(SAMPLE / "2"), empty
    yield "sample 2 to 3", folder(SAMPLE / "2"), folder(SAMPLE / "3"), empty
    for layout in (oss(), enterprise()):
        yield layout.name, layout.old_files(), layout.new_files(), calico_world()


def calico_world() -> World:
    """What stands before a Calico release: its namespaces and the definitions that store its kinds."""
    cluster = EmbeddedCluster(1_000.0)
    for file in sorted(CORE.glob("*.yaml")):
        for body in documents(file.read_text(encoding="utf-8")):
            kind = GroupKind(str(body["apiVersion"]).rpartition("/")[0], str(body["kind"]))
            cluster.apply(cluster.discover().resources[kind], body, manager="kubectl")
            cluster.advance(1)
    return cluster.world


def main() -> None:
    """Rehearse each upgrade in our order and in that of apply-then-prune."""
    table = Table("upgrade", "order", "scenes", "apart", "writes", "seconds", "all", "verdict")
    for name, old, new, world in upgrades():
        for order in (Order.GATED, Order.NAIVE):
            rules = Rules("trapeze/bench", settle=10.0, allow=frozenset({"Namespace"}))
            base, head = release("base", old), release("head", new)
            play = Script(base, head, shipped(), RULES, rules, order=order, disturbs=order is Order.GATED)
            start = time.process_time()
            answer = rehearse(world, play)
            spent = time.process_time() - start
            reach = answer.reach
            figures = (reach.scenes, reach.apart, reach.writes, f"{spent:.1f}", answer.is_exhaustive)
            table.add_row(name, order.value, *map(str, figures), answer.verdict.value)
    Console().print(table)


if __name__ == "__main__":
    main()
