"""The way back: for each step, what a revert in Git would do once that step was the last one written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from agent.core.model import Body, Desired, GroupKind, ObjectId
from agent.core.policy import Policy
from agent.core.promise import Checker
from agent.core.rehearsal.agent import Setup
from agent.core.rehearsal.moves import Kind, Options, moves
from agent.core.rehearsal.scene import Scene
from agent.core.rehearsal.turn import turn
from agent.core.simulation.world import World
from agent.core.states import Event
from agent.core.waiting import waits_for_a_person

_CRD: Final = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")
_NAMESPACE: Final = GroupKind("", "Namespace")
_MOVES: Final = 150
"""After so many moves a revert counts as one that does not end."""


class Rollback(NamedTuple):
    """Whether a revert after ``step`` comes back to the base with the promise kept; ``says`` how, or why not.

    One that goes on to where a person is asked (``asks``) comes back, as far as that person lets it.

    ``lost`` names what a revert does not bring back: data of objects that are gone, versions that the base
    cannot read.
    """

    step: str
    is_possible: bool
    says: str
    lost: tuple[str, ...] = ()
    asks: str = ""


class Reverts:
    """Reverts from scenes of one upgrade, each gone through without delay to its end."""

    def __init__(self, setup: Setup, options: Options, base: Desired, start: World) -> None:
        self._setup = setup
        self._options = options
        self._base = base
        self._start = start

    def of(self, step: str, scene: Scene, checker: Checker) -> Rollback:
        """What becomes of a revert in this scene; ``checker`` has seen how it came to it."""
        lost = tuple(_lost(self._base, self._start, scene.world, self._setup.policy))
        at = replace(scene, wanted=self._base.revision, is_disturbed=True)
        checker = checker.under(self._options.terms(at.world, at.wanted))
        written: list[str] = []
        for _ in range(_MOVES):
            seen = turn(self._setup, at)
            if seen.is_done:
                return self._told(step, checker, written, lost)
            ways = moves(seen, self._options)
            way = next((move for move in ways if move.kind is not Kind.AGENT or seen.steps), None)
            if way is None:
                held = next((s for s in seen.plan.held_steps), None)
                why = f"{held.key}: {held.closed_gates[0].reason}" if held else "it comes to no end"
                if waits_for_a_person(seen.plan):
                    return self._told(step, checker, written, lost, why)
                return Rollback(step, is_possible=False, says=f"a revert stops: {why}", lost=lost)
            written += [one.key for one in seen.steps] if way.kind is Kind.AGENT else []
            _judge(checker, at.world, way.scene.world)
            at = way.scene
        return Rollback(step, is_possible=False, says="a revert comes to no end in the model", lost=lost)

    def _told(
        self, step: str, checker: Checker, written: list[str], lost: tuple[str, ...], asks: str = ""
    ) -> Rollback:
        broken = checker.verdict().broken
        if broken:
            first = broken[0]
            says = f"a revert breaks {first.subject}: {first.story}"
            return Rollback(step, is_possible=False, says=says, lost=lost)
        says = "a revert has nothing to write"
        if written:
            says = f"a revert writes {len(written)} times: {_summary(written)}"
        return Rollback(step, is_possible=not lost, says=says, lost=lost, asks=asks)


def _summary(written: list[str]) -> str:
    """``2 create, 1 cutover, 3 delete``."""
    counts: dict[str, int] = {}
    for key in written:
        verb = key.split(" ", 1)[0]
        counts[verb] = counts.get(verb, 0) + 1
    return ", ".join(f"{count} {verb}" for verb, count in sorted(counts.items()))


def _judge(checker: Checker, before: World, after: World) -> None:
    for event in after.events_after(before.version):
        body = None if event.type == "DELETED" else event.body
        checker.step(Event(event.version, "", event.id, body))


def _lost(base: Desired, start: World, now: World, policy: Policy) -> list[str]:
    told = []
    for key in sorted(base.manifests):
        was, body = start.get(key), now.get(key)
        if was is not None and body is None and _holds_data(key, policy):
            told.append(f"{key} is gone, and what it held")
        if body is not None and key.group_kind == _CRD:
            told += _unreadable(key, body, base.manifests[key].body)
    return told


def _holds_data(key: ObjectId, policy: Policy) -> bool:
    """What policy protects from being pruned holds what no manifest brings back; a namespace only others."""
    return key.group_kind != _NAMESPACE and policy.needs_approval(key)


def _unreadable(key: ObjectId, body: Body, old: Mapping[str, Body]) -> list[str]:
    """Versions in which objects may be stored and that the base does not know.

    https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/
    """
    known = {version["name"] for version in (old.get("spec") or {}).get("versions") or ()}
    stored = set((body.get("status") or {}).get("storedVersions") or ())
    return [f"{key} has objects stored in {version}" for version in sorted(stored - known)]
