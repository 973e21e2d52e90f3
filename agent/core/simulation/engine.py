"""Time: controllers act on what was written, then the clock goes on to the next thing that is due."""

from __future__ import annotations

from typing import Final

from agent.core.simulation.controllers import (
    apiservices,
    customkinds,
    daemonsets,
    deployments,
    endpointslices,
    garbage,
    jobs,
    kubelet,
    namespaces,
    replicasets,
    roles,
    statefulsets,
    upkeep,
)
from agent.core.simulation.controllers.common import Controller
from agent.core.simulation.world import NEVER, Draft, World

CONTROLLERS: Final[tuple[Controller, ...]] = (
    customkinds.CONTROLLER,
    roles.CONTROLLER,
    namespaces.CONTROLLER,
    deployments.CONTROLLER,
    replicasets.CONTROLLER,
    statefulsets.CONTROLLER,
    daemonsets.CONTROLLER,
    jobs.CONTROLLER,
    upkeep.CONTROLLER,
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
    while (due := min(draft.wakes.values(), default=NEVER)) <= until:
        draft.now = due
        settle(draft)
    draft.now = until
    return draft.finish()


def next_due(world: World) -> float:
    """When something happens by itself next; infinite in a world at rest, now where a write waits."""
    if any(_is_called(world, one) for one in CONTROLLERS):
        return world.now
    return min(world.wakes.values(), default=NEVER)


def settle(draft: Draft) -> None:
    """Let every controller act until none has anything to do at this instant."""
    for _ in range(ROUNDS):
        # Every controller has its turn in each round: the list is made before anybody asks.
        acted = [_act(draft, controller) for controller in CONTROLLERS]
        if not any(acted):
            return
    raise RuntimeError("the model's controllers undo each other's work for ever")


def _act(draft: Draft, controller: Controller) -> bool:
    is_due = draft.wakes.get(controller.name, NEVER) <= draft.now
    if not is_due and not _is_called(draft, controller):
        return False
    draft.seen[controller.name] = draft.version
    draft.wakes[controller.name] = controller.step(draft)
    return True


def _is_called(state: World | Draft, controller: Controller) -> bool:
    """Whether something that the controller watches was written since it acted last."""
    seen = state.seen.get(controller.name, 0)
    if controller.watches is None:
        return state.version > seen
    return any(
        version > seen
        and (kind in controller.watches or (controller.customs and kind not in state.tables.served))
        for kind, version in state.touched.items()
    )
