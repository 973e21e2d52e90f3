"""Pointing back: a pointer whose new backend fails goes to the old one again, while that still serves."""

from __future__ import annotations

from dataclasses import dataclass

from agent.core.backend import backend
from agent.core.classify import facets, pointers_of
from agent.core.deadline import gives_up
from agent.core.diff import two_way
from agent.core.forms import widened
from agent.core.gates import asked_through
from agent.core.ledger import Entry
from agent.core.model import Body, Category, Form, LiveObject, ObjectId
from agent.core.situation import Situation
from agent.core.stamps import stamped
from agent.core.steps import Gate, GateState, Step, Verb


@dataclass(frozen=True)
class PointBack:
    """Judges the pointers that moved in this handoff, to ``generation``."""

    situation: Situation
    generation: int

    def step(self, key: ObjectId, live: LiveObject) -> Step | None:
        """The step that moves the pointer to the old backend, or None."""
        entry = self.situation.ledger.entries.get(key)
        if entry is None or not entry.cutover_at or len(entry.bases) < 2:  # noqa: PLR2004 - old and new
            return None
        policy = self.situation.policy
        now_at = pointers_of(live.body, policy)
        for old in reversed(self.situation.applied.get(key, ())[:-1]):
            former = pointers_of(old, policy)
            if former == now_at or not former:
                continue
            seen = [backend(self.situation, pointer.target) for pointer in former]
            trouble = self._trouble(live, entry)
            if trouble and all(
                s.ready and s.state is not GateState.UNKNOWN and not s.is_ending for s in seen
            ):
                return self._to(live, old, trouble, f"{former[0].target}: {seen[0].reason}")
        return None

    def _trouble(self, live: LiveObject, entry: Entry) -> str:
        """Why the pointer goes back, or empty: its backend is lost (unknown is not lost), or time is up."""
        for pointer in pointers_of(live.body, self.situation.policy):
            seen = backend(self.situation, pointer.target)
            if seen.state is GateState.HELD and seen.ready == 0 and not seen.is_at_rest:
                return f"{pointer.target} stopped serving: {seen.reason}"
        age = self.situation.now - entry.cutover_at
        for question in asked_through(self.situation, live):
            answer = self.situation.answers.get(question)
            if answer and answer.state is GateState.HELD and age >= self.situation.rules.settle / 2:
                return answer.reason
        return gives_up(self.situation)

    def _to(self, live: LiveObject, old: Body, trouble: str, old_seen: str) -> Step:
        situation = self.situation
        desired = situation.desired.manifests[live.id]
        policy = situation.policy
        parts = facets(two_way(old, desired.body, policy), desired.body, old, (old,), policy)
        body = widened(desired.body, old, parts, policy, moved=False)
        return Step(
            id=live.id,
            verb=Verb.POINT_BACK,
            category=Category.REPOINT,
            form=Form.WIDENED,
            says=trouble,
            gates=(Gate("serves", "the old backend still serves", GateState.OPEN, old_seen),),
            body=stamped(body, situation.desired.set_name, self.generation, situation.desired.revision),
            bases=situation.ledger.entries[live.id].bases,
            uid=live.uid,
            resource_version=live.resource_version,
            is_pointer=True,
        )
