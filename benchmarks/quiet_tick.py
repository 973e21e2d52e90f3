"""What a tick with nothing to do costs, beside bare LISTs of the same objects, in one process.

Run by ``make bench`` inside the network of a real control plane (KUBECONFIG set). 1,000 objects of six kinds
are synced from a Git repo of their own; then the running agent's quiet tick is timed next to the metadata
LISTs and the whole LISTs of the same kinds. Prints seconds, ratios and requests; judges nothing.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from git import Actor, Repo
from rich.console import Console
from rich.table import Table

from agent.build import syncer_of, tools_of
from agent.core.model import SET_LABEL
from agent.settings import Settings, load_settings
from agent.shell.cluster import Cluster
from agent.shell.report import State

OBJECTS = 1_000
ROUNDS = 15
NAMESPACE = "bench"
AUTHOR = Actor("bench", "bench@example.org")
RBAC = "rbac.authorization.k8s.io"


def bodies() -> list[dict[str, Any]]:
    """A namespace and 999 objects of six kinds in it."""
    kinds: list[tuple[str, str, Callable[[int], dict[str, Any]]]] = [
        ("v1", "ConfigMap", lambda n: {"data": {"number": str(n)}}),
        ("v1", "Secret", lambda n: {"stringData": {"number": str(n)}}),
        ("v1", "ServiceAccount", lambda _: {}),
        ("v1", "Service", lambda n: {"spec": {"selector": {"app": f"a{n}"}, "ports": [{"port": 80}]}}),
        (f"{RBAC}/v1", "Role", lambda _: {"rules": [_rule()]}),
        (f"{RBAC}/v1", "RoleBinding", lambda n: {"roleRef": _role_ref(n), "subjects": []}),
    ]
    found: list[dict[str, Any]] = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}]
    for number in range(OBJECTS - 1):
        version, kind, rest = kinds[number % len(kinds)]
        metadata = {"name": f"o{number}", "namespace": NAMESPACE}
        found.append({"apiVersion": version, "kind": kind, "metadata": metadata, **rest(number)})
    return found


def _rule() -> dict[str, Any]:
    return {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}


def _role_ref(number: int) -> dict[str, Any]:
    return {"apiGroup": RBAC, "kind": "Role", "name": f"o{number - 1}"}


class Counting:
    """The port, counting calls by method."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        """The method of the cluster, counted."""
        self.calls[name] += 1
        return getattr(self._cluster, name)


def settings_in(folder: Path) -> Settings:
    """A repo with the objects in one file, and a configuration that names it."""
    repo = Repo.init(folder / "repo", initial_branch="main")
    documents = "\n---\n".join(json.dumps(body) for body in bodies())
    (folder / "repo" / "all.yaml").write_text(f"---\n{documents}\n")
    repo.index.add(["all.yaml"])
    repo.index.commit("all", author=AUTHOR, committer=AUTHOR, skip_hooks=True)
    one = {"name": "bench", "repo": "repo", "ref": "main", "path": "."}
    config = folder / "trapeze.yaml"
    config.write_text(json.dumps({"sets": [one], "cache_dir": str(folder / "cache")}))
    return load_settings(config)


def median(do: Callable[[], object]) -> float:
    """Seconds of ``do``, the median of several runs after one that is not counted."""
    do()
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        do()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def main() -> int:
    """Sync, measure, print."""
    with tempfile.TemporaryDirectory() as name:
        settings = settings_in(Path(name))
        tools = tools_of(settings)
        counting = Counting(tools.cluster)
        syncer = syncer_of(settings, settings.sets[0], replace(tools, cluster=cast("Cluster", counting)))
        started = time.perf_counter()
        while syncer.tick().state is not State.IN_SERVICE:
            time.sleep(0.2)
        first = time.perf_counter() - started
        table = measured(tools.cluster, counting, syncer.tick)
    console = Console(width=100)
    console.print(f"{OBJECTS:,} objects of six kinds and a namespace; first sync {first:.1f} s")
    console.print(table)
    return 0


def measured(cluster: Cluster, counting: Counting, tick: Callable[[], object]) -> Table:
    """The table of medians and ratios."""
    kinds = {"ConfigMap", "Secret", "ServiceAccount", "Service", "Role", "RoleBinding", "Namespace"}
    resources = [r for r in cluster.discover().resources.values() if r.kind.kind in kinds]
    selector = f"{SET_LABEL}=bench"
    tick()
    counting.calls.clear()
    tick()
    requests = ", ".join(f"{count} {name}" for name, count in sorted(counting.calls.items()))
    bare = median(lambda: [cluster.list_metadata(r, selector=selector) for r in resources])
    whole = median(lambda: [cluster.list(r, selector=selector) for r in resources])
    table = Table("what", "seconds (median)", "times the bare LISTs", "requests")
    for what, seconds, asked in (
        ("metadata LISTs alone", bare, f"{len(resources)} list_metadata"),
        ("whole LISTs alone", whole, f"{len(resources)} list"),
        ("the agent's quiet tick, Git asked too", median(tick), requests),
    ):
        table.add_row(what, f"{seconds:.4f}", f"{seconds / bare:.2f}", asked)
    return table


if __name__ == "__main__":
    sys.exit(main())
