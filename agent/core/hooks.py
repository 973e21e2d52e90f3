"""Hooks as gates: steps that wait for a Job, and Jobs that wait for steps.

Only a Job that is complete opens the gate: one that runs, failed, ran out of time or is absent holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from agent.core.evidence import unready_of
from agent.core.gates import Gates, gate
from agent.core.health import Status, health
from agent.core.hookjobs import CUTOVERS, EVERYTHING, JOB, REMOVALS, Hook, earlier, hook_of
from agent.core.lastwords import failed_pods, last_words, unmasked
from agent.core.ledger import GenerationState
from agent.core.model import ObjectId
from agent.core.situation import Situation
from agent.core.steps import Gate, GateState, Log, Question, Step, Verb

_REMOVALS: Final = (Verb.NARROW, Verb.DELETE, Verb.ABANDON, Verb.REPLACE)
_ENDED: Final = (Status.CURRENT, Status.FAILED)


@dataclass(frozen=True)
class Hooks:
    """Judges the hooks of one plan."""

    gates: Gates

    @property
    def _situation(self) -> Situation:
        return self.gates.situation

    @cached_property
    def _all(self) -> dict[ObjectId, Hook]:
        manifests = self._situation.desired.manifests
        found = {key: hook_of(manifests[key].body) for key in sorted(manifests) if key.group_kind == JOB}
        return {key: hook for key, hook in found.items() if hook is not None}

    def of(self, step: Step) -> tuple[Gate, ...]:
        """What the step waits for because of hooks; pointing back waits for none."""
        if step.verb is Verb.POINT_BACK:
            return ()
        if step.id in self._all:
            return (*self._turn(step.id), *self._after(step.id))
        ran = [self._ran(key) for key, hook in self._all.items() if self._comes_before(hook, step)]
        return (*ran, *(self._failed if step.verb in _REMOVALS else ()))

    @cached_property
    def _failed(self) -> tuple[Gate, ...]:
        """The hooks after a step that failed: what is taken away waits for all that is new, and says so."""
        ran = (self._ran(key) for key, hook in self._all.items() if hook.when == "after")
        return tuple(gate for gate in ran if gate.name == "hook-failed")

    def questions(self) -> Iterator[Question]:
        """The last words of hooks that failed, where what is secret in them is known and can be masked."""
        for key in self._all:
            job = self._situation.live.get(key)
            if job is not None and health(job, self._situation.health).status is Status.FAILED:
                pods = failed_pods(self._situation, job)[:1]
                yield from (Log(pod.id) for pod in pods if not unmasked(self._situation, pod))

    def _comes_before(self, hook: Hook, step: Step) -> bool:
        if hook.when != "before":
            return False
        if str(step.id) in hook.targets:
            return True
        if REMOVALS in hook.targets and step.verb in _REMOVALS:
            return True
        if CUTOVERS in hook.targets and step.verb is Verb.CUTOVER:
            return True
        return EVERYTHING in hook.targets and step.id not in self._needed

    @cached_property
    def _needed(self) -> frozenset[ObjectId]:
        """What the hooks themselves cannot run without: their namespaces, accounts, rights, configuration."""
        graph = self._situation.next_graph
        namespaces = {ObjectId("", "Namespace", "", key.namespace) for key in self._all}
        return frozenset(namespaces.union(*(graph.closure(key) for key in self._all)))

    def _ran(self, key: ObjectId) -> Gate:
        """Open once the Job is complete."""
        situation, wants = self._situation, f"{key} is complete"
        unknown = situation.live.why_unknown((JOB,))
        if unknown:
            return Gate("hook", wants, GateState.UNKNOWN, unknown)
        job = situation.live.get(key)
        if job is None:
            if is_over(situation):
                return Gate("hook", wants, GateState.OPEN, f"{key} ran before the generation was in service")
            return Gate("hook", wants, GateState.HELD, f"{key} has not run yet")
        verdict = health(job, situation.health)
        said = f"{key}: {verdict.message}"
        if verdict.status is Status.FAILED:
            way_out = "mend it in Git, or delete the Job to run it again"
            said += last_words(situation, job)
            return Gate("hook-failed", wants, GateState.HELD, f"{said}; {way_out}")
        return Gate("hook", wants, GateState.OPEN if verdict.is_ready else GateState.HELD, said)

    def _turn(self, key: ObjectId) -> tuple[Gate, ...]:
        """Two runs of one hook never overlap, whatever generation they are of."""
        wants = "no earlier run of it goes on"
        jobs = earlier(key, self._situation.live.of_kind(*JOB))
        seen = ((job, health(job, self._situation.health)) for job in jobs)
        running = [f"{job.id}: {v.message}" for job, v in seen if v.status not in _ENDED]
        return (gate("turn", wants, running, wants),) if jobs else ()

    def _after(self, key: ObjectId) -> tuple[Gate, ...]:
        """What the Job waits for before it is made."""
        hook = self._all[key]
        if hook.when != "after":
            return ()
        wants = f"{', '.join(hook.targets)} done"
        return (gate("after", wants, self._undone(hook), wants),)

    def _undone(self, hook: Hook) -> Iterator[str]:
        own = self._all.keys()
        pending = {key: step for key, step in self.gates.pending.items() if key not in own}
        moving = dict(self.gates.moving)
        if EVERYTHING in hook.targets:
            yield from (f"{step} is pending" for step in (*pending.values(), *moving.values()))
            yield from unready_of(self._situation, self._situation.desired.manifests.keys() - own)
        elif CUTOVERS in hook.targets:
            yield from (f"{step} is pending" for step in moving.values())
        for target in hook.targets:
            keys = [key for key in self._situation.desired.manifests if str(key) == target]
            for key in keys:
                yield from (f"{steps[key]} is pending" for steps in (pending, moving) if key in steps)
                yield from unready_of(self._situation, [key])


def is_over(situation: Situation) -> bool:
    """Whether the newest generation is in service: what ran on the way there is not run again."""
    newest = situation.ledger.newest
    return newest is not None and newest.state is GenerationState.IN_SERVICE
