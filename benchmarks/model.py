"""What one transition of the model costs in a world of 270 objects.

Run by ``make bench-model``. Times are microseconds of CPU, the median of ``ROUNDS``. "Explored"
is a walk over the orders of independent changes, breadth first, with worlds kept by their digest: what an
explorer does. Prints figures; judges nothing.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Console
from rich.table import Table

from agent.core.model import Body
from agent.core.simulation import requests
from agent.core.simulation.bootstrap import new_world
from agent.core.simulation.draft import Draft
from agent.core.simulation.engine import advance, next_due, step
from agent.core.simulation.identity import Identities
from agent.core.simulation.world import NEVER, World
from agent.shell.embedded import shipped_model

ROUNDS = 50
APPS = 20
STATES = 500
MANAGER = "trapeze/bench"
SPACE = "bench"


def named(api_version: str, kind: str, name: str, **rest: Any) -> Body:
    """A body in the bench's namespace."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": SPACE},
        **rest,
    }


def app(name: str, version: str = "1") -> Iterator[Body]:
    """One application: ConfigMap, Secret, ServiceAccount, Role, binding, Service, Deployment of two pods."""
    rbac = "rbac.authorization.k8s.io"
    yield named("v1", "ConfigMap", name, data={"version": version})
    yield named("v1", "Secret", name, stringData={"key": name})
    yield named("v1", "ServiceAccount", name)
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}
    yield named(f"{rbac}/v1", "Role", name, rules=[rule])
    subject = {"kind": "ServiceAccount", "name": name, "namespace": SPACE}
    ref = {"apiGroup": rbac, "kind": "Role", "name": name}
    yield named(f"{rbac}/v1", "RoleBinding", name, subjects=[subject], roleRef=ref)
    port = {"port": 80, "targetPort": 8080}
    yield named("v1", "Service", name, spec={"selector": {"app": name}, "ports": [port]})
    container = {"name": "main", "image": f"standin/http:{version}", "ports": [{"containerPort": 8080}]}
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"serviceAccountName": name, "containers": [container]},
    }
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": name}}, "template": template}
    yield named("apps/v1", "Deployment", name, spec=spec)


def applied(world: World, *bodies: Body) -> World:
    """The world after these requests, before anybody has acted on them."""
    draft = Draft(world)
    for body in bodies:
        requests.apply(draft, body, MANAGER)
    return draft.finish()


def at_rest() -> World:
    """Twenty applications, all ready."""
    world = new_world(*shipped_model())
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}
    world = advance(applied(world, namespace), 0)
    for number in range(APPS):
        world = applied(world, *app(f"app-{number}"))
    return advance(world, 60)


def cost(call: Callable[[], object]) -> float:
    """Microseconds of CPU for one call, the median of all rounds."""
    seen = []
    for _ in range(ROUNDS):
        before = time.process_time()
        call()
        seen.append((time.process_time() - before) * 1e6)
    return statistics.median(seen)


def rolled_out(world: World) -> tuple[World, int]:
    """One Deployment's rollout to its end, in steps; the last world and their number."""
    world = applied(world, *app("app-0", "2"))
    count = 0
    while next_due(world) < NEVER:
        world, count = step(world), count + 1
    return world, count


def explored(world: World) -> tuple[int, int, float]:
    """Worlds told apart, transitions made and seconds of CPU: four applications move on in any order."""
    moves = [tuple(app(f"app-{number}", "2")) for number in range(4)]
    memory = Identities()
    before = time.process_time()
    known = {(frozenset[int](), memory.digest(world))}
    front: list[tuple[frozenset[int], World]] = [(frozenset(), world)]
    made = 0
    while front and made < STATES:
        done, here = front.pop(0)
        nexts = [
            (done | {number}, advance(applied(here, *moves[number]), 0)) for number in {*range(4)} - done
        ]
        if next_due(here) < NEVER:
            nexts.append((done, step(here)))
        for now_done, there in nexts:
            made += 1
            mark = (now_done, memory.digest(there))
            if mark not in known:
                known.add(mark)
                front.append((now_done, there))
    return len(known), made, time.process_time() - before


def main() -> None:
    """Measure and print."""
    world = at_rest()
    config = next(app("app-1", "2"))
    moving = applied(world, *app("app-0", "2"))
    memory = Identities()
    memory.digest(world)
    changed = advance(applied(world, config), 0)
    _, steps = rolled_out(world)
    rows = {
        "apply of one ConfigMap": cost(lambda: applied(world, config)),
        "apply that changes nothing": cost(lambda: applied(world, next(app("app-1")))),
        "settling after it": cost(lambda: advance(applied(world, config), 0)),
        "settling after a changed Deployment": cost(lambda: advance(moving, 0)),
        "its next step": cost(lambda: step(advance(moving, 0))),
        f"its whole rollout ({steps} steps)": cost(lambda: rolled_out(world)),
        "digest, first of a family": cost(lambda: Identities().digest(world)),
        "digest of a neighbour": cost(lambda: memory.digest(changed)),
    }
    table = Table(title=f"{len(world.objects())} objects")
    table.add_column("what")
    table.add_column("CPU, µs", justify="right")
    for what, micros in rows.items():
        table.add_row(what, f"{micros:,.0f}")
    console = Console()
    console.print(table)
    states, made, seconds = explored(world)
    console.print(f"explored: {states} worlds, {made} transitions, {made / seconds:,.0f} a second of CPU")


if __name__ == "__main__":
    main()
