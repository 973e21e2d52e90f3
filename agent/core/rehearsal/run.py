"""A rehearsal from beginning to end: stage, exploration, answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from agent.core.health import HealthRules
from agent.core.hints import hint_of, told
from agent.core.interruption import interrupting
from agent.core.model import Body, Desired, ObjectId
from agent.core.orders import Order
from agent.core.policy import Policy
from agent.core.promise import Checker
from agent.core.rehearsal.agent import Setup
from agent.core.rehearsal.answer import (
    BEFORE,
    Rehearsal,
    announced_by,
    left_behind,
    reach_of,
    rows_of,
    stories_of,
    verdict_of,
    waits_of,
)
from agent.core.rehearsal.explore import Explorer, Found
from agent.core.rehearsal.moves import Options
from agent.core.rehearsal.rollback import Reverts, Rollback
from agent.core.rehearsal.scene import Scene, changed_workloads
from agent.core.rehearsal.stage import Stage, installed
from agent.core.rehearsal.standing import Standing, stage_of
from agent.core.rehearsal.turn import turn
from agent.core.serving import Routes
from agent.core.simulation.world import World
from agent.core.situation import Rules
from agent.core.terms import Terms

BUDGET: Final = 2_000
"""Scenes that are visited unless somebody says how many."""


@dataclass(frozen=True)
class Script:
    """What is rehearsed: an upgrade of one set, in an order, how far, and with what going wrong.

    ``without`` names gates that are left out, to see whether the promise needs them. ``later`` is a newer
    revision that may come between any two ticks, as a revert to ``base`` may. ``standing``: begin with what a
    live cluster holds, in place of ``base`` alone.
    """

    base: Desired | None
    head: Desired
    policy: Policy
    health: HealthRules
    rules: Rules
    order: Order = Order.GATED
    budget: int = BUDGET
    depth: int = 10**6
    disturbs: bool = True
    without: frozenset[str] = frozenset()
    later: Desired | None = None
    standing: Standing | None = None
    reduces: bool = True
    remembers: bool = True
    """What one body alone tells is worked out once; False is for the test that it makes no difference."""


def rehearse(
    world: World,
    script: Script,
    choose: Callable[[int], int] | None = None,
    goes_on: Callable[[int], bool] = lambda _: True,
) -> Rehearsal:
    """Install the base in ``world`` (a cluster at rest), then go through the upgrade in every way.

    ``choose(n)`` gives a number below n: with it, random histories go on where the budget ends.
    ``goes_on`` hears how many scenes were visited, and ends the exploration by False.
    """
    setup = _setup(script)
    stage = _stage(world, script, setup)
    setup = replace(setup, comes=stage.comes)
    scene, checker, options = _start(script, setup, stage)
    found = Explorer(setup, scene, checker, options).run(choose, goes_on)
    first = turn(setup, _scene(script, stage)).plan
    waits, deadlocks = waits_of(found, options.workloads)
    terms = options.terms(stage.world, script.head.revision)
    announced = announced_by(first, terms) if script.order is Order.GATED else ()
    steps, paths = rows_of(found, terms.retires)
    left = left_behind(found, script.head)
    return Rehearsal(
        set_name=script.head.set_name,
        base=script.base.revision if script.base else "",
        head=script.head.revision,
        order=script.order.value,
        verdict=verdict_of(found, announced, (*deadlocks, *left)),
        reach=reach_of(found),
        steps=steps,
        paths=paths,
        stories=stories_of(found.breaks),
        losses=stories_of(found.losses),
        waits=waits,
        deadlocks=deadlocks,
        left_behind=left,
        rollbacks=_rollbacks(script, setup, options, found, scene),
        announced=announced,
        assumed=(*told(_bodies(script.head), script.rules.hints), *stage.assumed),
        missing=stage.missing,
    )


def _stage(world: World, script: Script, setup: Setup) -> Stage:
    if script.standing is not None:
        return stage_of(world, setup, script.standing, script.head)
    return installed(world, setup, script.base, script.head)


def _rollbacks(
    script: Script, setup: Setup, options: Options, found: Found, start: Scene
) -> tuple[Rollback, ...]:
    """What a revert would do after each step; nothing where there is no base, or another order."""
    if script.base is None or script.order is not Order.GATED or not script.disturbs:
        return ()
    reverts = Reverts(setup, options, script.base, start.world)
    return tuple(reverts.of(step or BEFORE, *after) for step, after in found.scenes_after.items())


def _setup(script: Script) -> Setup:
    named = (script.base, script.head, script.later)
    known = script.standing.releases if script.standing is not None else {}
    releases = {**known, **{one.revision: one for one in named if one is not None}}
    if not script.remembers:
        return Setup(releases, script.policy, script.health, script.rules, script.order, script.without)
    policy = replace(script.policy, known={})
    health = script.health.remembering()
    return Setup(releases, policy, health, script.rules, script.order, script.without)


def _scene(script: Script, stage: Stage) -> Scene:
    return Scene(stage.world, stage.ledger, script.head.revision)


def _start(script: Script, setup: Setup, stage: Stage) -> tuple[Scene, Checker, Options]:
    routes = _routes(setup)
    head = script.head.revision

    def terms(world: World, wanted: str) -> Terms:
        """Whoever wants another release may lose what only the ones before it had.

        What a change of Git makes anew on the way was no path before it: nobody is promised it yet.
        """
        is_base = script.standing is None and script.base is not None and script.base.revision == wanted
        others = [stage.before] if stage.before and not is_base else []
        others += [_bodies(script.head)] if head != wanted else []
        new = _bodies(setup.releases[wanted])
        old: dict[ObjectId, Body] = {}
        for one in (*others, *([new] if wanted != head else [])):
            old |= one
        found = Terms.between(old, new, routes)
        for one in others:
            found = interrupting(found, one, new, script.rules.allow_downtime, routes)
        if wanted == head:
            return found
        absent = {key: body for key, body in old.items() if world.get(key) is None}
        paths = (path for key, body in absent.items() for path in routes.of(key, body))
        return replace(found, interrupted=found.interrupted.union(paths))

    said = script.rules.hints
    options = Options(
        workloads=tuple(
            sorted({*changed_workloads(stage.before, script.head, script.policy), *stage.unready})
        ),
        since=stage.since,
        terms=terms,
        changes=tuple(one.revision for one in (script.base, script.later) if one and script.disturbs),
        hints={key: hint_of(key, body, said) for key, body in _bodies(script.head).items()},
        budget=script.budget,
        depth=script.depth,
        faults=script.disturbs,
        losses=script.disturbs,
        reduces=script.reduces,
    )
    world = stage.world
    first = {**world.objects(), **stage.first}
    checker = Checker(first.items(), routes, terms(world, head), version=world.version)
    return _scene(script, stage), checker, options


def _routes(setup: Setup) -> Routes:
    return Routes(setup.policy, setup.health)


def _bodies(release: Desired) -> dict[ObjectId, Body]:
    return {key: manifest.body for key, manifest in release.manifests.items()}
