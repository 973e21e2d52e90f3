"""Time: controllers act on what was written, then the clock goes on to the next thing that is due."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agent.core.model import ObjectId
from agent.core.simulation.controllers import (
    apiservices,
    autoscalers,
    customkinds,
    daemonsets,
    deployments,
    endpointslices,
    garbage,
    jobs,
    kubelet,
    namespaces,
    quotas,
    replicasets,
    roles,
    scheduling,
    statefulsets,
    upkeep,
)
from agent.core.simulation.controllers.common import Controller
from agent.core.simulation.draft import Draft
from agent.core.simulation.world import NEVER, World

CONTROLLERS: Final[tuple[Controller, ...]] = (
    customkinds.CONTROLLER,
    roles.CONTROLLER,
    namespaces.CONTROLLER,
    autoscalers.CONTROLLER,
    deployments.CONTROLLER,
    replicasets.CONTROLLER,
    statefulsets.CONTROLLER,
    daemonsets.CONTROLLER,
    jobs.CONTROLLER,
    upkeep.CONTROLLER,
    quotas.CONTROLLER,
    scheduling.CONTROLLER,
    kubelet.CONTROLLER,
    endpointslices.CONTROLLER,
    apiservices.CONTROLLER,
    garbage.CONTROLLER,
)

ROUNDS: Final = 10_000
"""Controllers that still act on each other after so many rounds at one instant never come to rest."""


def advance(world: World, seconds: float) -> World:
    """The world ``seconds`` later (0: controllers act on what was written, no time passes)."""
    until = world.now + seconds
    draft = Draft(world)
    settle(draft)
    while (due := _next(draft.wakes)) <= until:
        draft.now = due
        settle(draft)
    draft.now = until
    return draft.finish()


def next_due(world: World) -> float:
    """When something happens by itself next; infinite in a world at rest, now where a write waits."""
    if any(world.seen.get(controller.name, 0) < world.version for controller in CONTROLLERS):
        return world.now
    return _next(world.wakes)


def step(world: World) -> World:
    """The world after the next thing that is due; a world at rest stays as it is."""
    due = next_due(world)
    return advance(world, due - world.now) if due < NEVER else world


def settle(draft: Draft) -> None:
    """Let every controller act until none has anything to do at this instant."""
    for _ in range(ROUNDS):
        # Every controller has its turn in each round: the list is made before anybody asks.
        acted = [_act(draft, controller) for controller in CONTROLLERS]
        if not any(acted):
            return
    raise RuntimeError("the model's controllers undo each other's work for ever")


def _next(wakes: Mapping[str, Mapping[ObjectId, float]]) -> float:
    return min((time for times in wakes.values() for time in times.values()), default=NEVER)


def _act(draft: Draft, controller: Controller) -> bool:
    """Let a controller look at every object that a write concerns or whose time has come."""
    name = controller.name
    wakes = draft.wakes.get(name, {})
    keys = {key for key, time in wakes.items() if time <= draft.now}
    for event in draft.events_after(draft.seen.get(name, 0)):
        keys.update(controller.calls(draft, event))
    draft.seen[name] = draft.version
    if not keys:
        return False
    times = {key: time for key, time in wakes.items() if key not in keys}
    for key in sorted(keys):
        due = controller.sync(draft, key)
        if due < NEVER:
            times[key] = due
    draft.wakes[name] = times
    return True
