"""One turn of the agent in a scene: what it plans there, what it writes next, and how that can go wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from agent.core.carrying import closed, intended, next_steps
from agent.core.handoff import take_up
from agent.core.intents import Outcome, intend, record, recovered
from agent.core.ledger import Entry, IntentKind, Ledger
from agent.core.model import Live
from agent.core.redact import SECRETS
from agent.core.rehearsal.agent import Agent, Setup
from agent.core.rehearsal.scene import Scene
from agent.core.simulation.world import World
from agent.core.steps import Plan, Step

_LOST_ANSWER = "the answer was lost"


class Fault(NamedTuple):
    """A scene after something went wrong at a write, and what."""

    says: str
    scene: Scene


@dataclass(frozen=True)
class Turn:
    """What the agent does in ``scene``: ``plan`` is its plan there, ``steps`` what it writes of it.

    ``pairs`` are the steps with the entries that they shall leave, in the order in which they are written.
    """

    setup: Setup
    scene: Scene
    live: Live
    ledger: Ledger
    plan: Plan
    pairs: tuple[tuple[Step, Entry | None], ...]

    @property
    def steps(self) -> tuple[Step, ...]:
        """What is written, in order."""
        return tuple(step for step, _ in self.pairs)

    @property
    def is_done(self) -> bool:
        """Whether the wanted release is in service and nothing is left to do."""
        return self.plan.is_done

    def after(self) -> tuple[Scene, tuple[Outcome, ...]]:
        """The scene after the steps, each carried out once; without steps the tick is closed."""
        if not self.pairs:
            wanted = self.setup.releases[self.scene.wanted]
            ledger = closed(self.plan, self.ledger, wanted, self.live, {}, self.scene.world.now)
            return replace(self.scene, ledger=ledger), ()
        worlds, outcomes = self._written()
        ledger = record(self._intent(), outcomes)
        refused = self.scene.refused | {outcome.step.key for outcome in outcomes if outcome.error}
        return replace(self.scene, world=worlds[-1], ledger=ledger, refused=refused), tuple(outcomes)

    def faults(self) -> Iterator[Fault]:
        """Each write failing before and after it took effect, and the agent dying at each of them."""
        worlds, outcomes = self._written()
        left = self.scene
        intent = self._intent()
        yield Fault(f"the agent dies before: {self.steps[0].key}", replace(left, ledger=intent))
        for number, (step, entry) in enumerate(self.pairs):
            died = replace(left, world=worlds[number + 1], ledger=intent)
            yield Fault(f"the agent dies after: {step.key}", died)
            failed = Outcome(step, entry, error=_LOST_ANSWER)
            told = [*outcomes[:number], failed, *outcomes[number + 1 :]]
            lost = replace(left, world=worlds[-1], ledger=record(intent, told))
            yield Fault(f"the answer is lost: {step.key}", lost)
            world, others = self._written(without=number)
            told = [*others[:number], failed, *others[number:]]
            yield Fault(f"it fails: {step.key}", replace(left, world=world[-1], ledger=record(intent, told)))

    def refusals(self) -> Iterator[tuple[Step, str]]:
        """The steps that failed in this tick, with what the API server says to them now."""
        agent = Agent(self.setup, self.scene.world, self.setup.releases[self.scene.wanted])
        for step in self.plan.steps:
            if step.key in self.scene.refused:
                _, outcome = agent.write(step, None)
                # What is said of a Secret may repeat what is in it.
                yield step, "refused" if step.id.group_kind in SECRETS else outcome.error

    def _intent(self) -> Ledger:
        kind = IntentKind.ADDITIVE if self.steps[0].is_additive else IntentKind.STEP
        return intend(self.ledger, kind, self.pairs)

    def _written(self, without: int = -1) -> tuple[list[World], list[Outcome]]:
        """The world before and after each write, and what became of each; one of them left out."""
        worlds, outcomes = [self.scene.world], []
        for number, (step, entry) in enumerate(self.pairs):
            if number != without:
                agent = Agent(self.setup, worlds[-1], self.setup.releases[self.scene.wanted])
                world, outcome = agent.write(step, entry)
                worlds.append(world)
                outcomes.append(outcome)
        return worlds, outcomes

    def orders(self) -> int:
        """The scenes that the same requests have in between when they are taken one by one in every order.

        Requests of one rank of the order table may arrive in any order; the ranks follow one another.
        """
        rank = self.setup.policy.rank
        groups = groupby(self.steps, key=lambda step: rank(step.id.group_kind))
        return sum(2 ** len(list(group)) - 1 for _, group in groups)


def turn(setup: Setup, scene: Scene) -> Turn:
    """Look, take up what Git wants, plan, and choose what is written next."""
    wanted = setup.releases[scene.wanted]
    agent = Agent(setup, scene.world, wanted)
    live = agent.look(scene.ledger)
    ledger = recovered(scene.ledger, live, setup.rules.manager)
    standing = {g.revision for g in ledger.generations if g.is_standing} & setup.releases.keys()
    contents = {revision: setup.releases[revision].manifests for revision in standing}
    ledger = take_up(ledger, scene.wanted, wanted.manifests, contents, scene.world.now)
    plan = agent.plan(live, ledger)
    return Turn(setup, scene, live, ledger, plan, tuple(_pairs(setup, scene, ledger, plan)))


def _pairs(setup: Setup, scene: Scene, ledger: Ledger, plan: Plan) -> Iterator[tuple[Step, Entry | None]]:
    steps: Sequence[Step] = next_steps(plan, scene.refused)
    if len(steps) > 1:
        steps = sorted(steps, key=lambda step: setup.policy.rank(step.id.group_kind))
    for step in steps:
        yield step, intended(step, ledger, plan.generation, scene.world.now)
