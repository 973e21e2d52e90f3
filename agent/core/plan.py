"""``make_plan``: every step between now and the end of the handoff, in order, each with its gates.

A pure function of its situation: no client, clock or randomness. What only the outside can say is asked
by ``Plan.questions``; the caller answers them and calls again, until no new question comes.

1. Drafts: per object what differs and which requests that takes (agent/core/drafts.py).
2. Gates: what each step waits for (agent/core/gates.py, agent/core/pruning.py).
3. Order: added first; then removals that unblock; cutovers; what goes, users before what they use, with
   narrows where the last user has gone; namespaces at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from agent.core.absence import is_readable
from agent.core.content import written_under
from agent.core.creation import Creation
from agent.core.customs import moved_groups
from agent.core.deadline import gives_up, passed
from agent.core.drafts import Draft, Drafter
from agent.core.entry import Entry
from agent.core.few import few
from agent.core.gates import Gates
from agent.core.hooks import Hooks
from agent.core.intents import is_managed
from agent.core.levers import pulled
from agent.core.lockout import standing
from agent.core.model import Action, LiveObject, Manifest, ObjectId
from agent.core.permission import accesses, missing, told, unanswered
from agent.core.pointback import PointBack
from agent.core.pruning import NAMESPACE, Pruning
from agent.core.refused import checked
from agent.core.replacement.gating import beside, contents_wanted, granted_first, replacing
from agent.core.replacement.orphans import of_entry, orphans_left
from agent.core.sequence import in_order
from agent.core.sharing import awaited, claim, is_adopted, is_shared, left
from agent.core.situation import Situation
from agent.core.spared import foreign_owner, strays, untold
from agent.core.steps import Gate, GateState, NamespaceContents, Plan, Question, Step, Verb
from agent.core.storage import migrating, unstored
from agent.core.strangers import notes
from agent.core.timing import timed


def make_plan(situation: Situation) -> Plan:
    """The plan for ``situation``; its generation is the ledger's newest (1 where there is none).

    A set that a finding refuses has no steps.
    """
    if situation.desired.is_refused:
        return Maker(situation).refused()
    return Maker(checked(situation)).plan()


@dataclass(frozen=True)
class Maker:
    """Builds one plan; every property is computed once."""

    situation: Situation

    @property
    def generation(self) -> int:
        """Our number for the desired revision."""
        newest = self.situation.ledger.newest
        return newest.number if newest else 1

    @property
    def base_revision(self) -> str:
        """The revision that is in service, or was last."""
        last = self.situation.ledger.last_in_service
        return last.revision if last else ""

    def refused(self) -> Plan:
        """A plan without steps that carries the findings."""
        desired = self.situation.desired
        findings = desired.findings
        return Plan(
            desired.set_name, desired.revision, self.base_revision, self.generation, (), (), 0, findings
        )

    def plan(self) -> Plan:
        """The whole plan."""
        drafts = [*self.drafts.values(), *self.departures.values()]
        hooks = Hooks(self.gates)
        gated = [(step, (*hooks.of(step), *timed(self.situation, step))) for step in self._gated_steps()]
        ordered = in_order(self.situation, [replace(s, gates=(*s.gates, *more)) for s, more in gated])
        steps = pulled(self.situation, ordered)
        denied, questions = missing(self.situation, steps), self._questions(steps)
        closing = (*denied, *unanswered(self.situation, questions), *awaited(self.situation))
        changes = [draft.change for draft in drafts]
        desired = self.situation.desired
        return Plan(
            set_name=desired.set_name,
            revision=desired.revision,
            base_revision=self.base_revision,
            generation=self.generation,
            changes=tuple(change for change in changes if change.action is not Action.NONE),
            steps=tuple(replace(step, gates=(*step.gates, *closing)) for step in steps),
            unchanged=sum(change.action is Action.NONE for change in changes),
            findings=(*desired.findings, *self.creation.findings(), *told(denied)),
            questions=questions,
            requests={d.question: d.request for d in drafts if d.question},
            warnings=tuple(self._warnings()),
            handover=(*self.gates.handover, *self._unseen()),
            gone=self.gone,
            late=passed(self.situation),
            given_up=gives_up(self.situation),
            left=self.left,
            shared=self._shared(),
        )

    @cached_property
    def drafts(self) -> dict[ObjectId, Draft]:
        """What is to be done to every desired object."""
        drafter = Drafter(self.situation, self.generation)
        out = {}
        for key, manifest in sorted(self.situation.desired.manifests.items()):
            live = self.situation.live.get(key)
            draft = drafter.update(manifest, live) if live else drafter.create(manifest)
            back = PointBack(self.situation, self.generation).step(key, live) if live else None
            out[key] = replace(draft, steps=(back,)) if back else draft
        return out

    @cached_property
    def departures(self) -> dict[ObjectId, Draft]:
        """What is to be done to members that the desired revision, as a whole, does not name."""
        if not self.situation.desired.is_complete:
            return {}
        drafter = Drafter(self.situation, self.generation)
        found = (self.situation.live.get(key) for key in self._unwanted())
        leaving = [live for live in found if live is not None and not self._belongs_to_others(live)]
        leaving = [live for live in leaving if live.id not in self.left]
        leaving += [orphan for _, orphan in orphans_left(self.situation)]
        return {live.id: drafter.delete(live) for live in leaving}

    def _unwanted(self) -> list[ObjectId]:
        return sorted(self.situation.ledger.entries.keys() - self.situation.desired.manifests.keys())

    def _belongs_to_others(self, live: LiveObject) -> bool:
        """Made anew under the same name, taken over by another set, or owned by what is no member."""
        entry = self.situation.ledger.entries[live.id]
        if claim(self.situation, live) or (entry.uid and entry.uid != live.uid):
            return True
        if is_adopted(self.situation, live) or foreign_owner(self.situation, live):
            return True
        # A write that failed leaves an entry: without uid, or without label and manager, it made nothing.
        is_written = bool(entry.uid) and bool(live.set_name)
        return not is_written and not is_managed(live, self.situation.rules.manager)

    @cached_property
    def left(self) -> frozenset[ObjectId]:
        """Members that the set wants no more and that another set goes on with."""
        found = (self.situation.live.get(key) for key in self._unwanted())
        kept = (live for live in found if live is not None and left(self.situation, live))
        return frozenset(live.id for live in kept if not self._belongs_to_others(live))

    def _shared(self) -> frozenset[ObjectId]:
        equal = (key for key, draft in self.drafts.items() if draft.change.action is Action.NONE)
        return frozenset(key for key in equal if is_shared(self.situation, key))

    @property
    def gone(self) -> tuple[ObjectId, ...]:
        """Members that nobody wants and that are absent, or are not ours any more."""
        is_complete = self.situation.desired.is_complete
        return tuple(
            key
            for key in self._unwanted()
            if is_complete
            and key not in self.departures
            and key not in self.left
            and is_readable(self.situation, key.group_kind)
            and not of_entry(self.situation, key)
        )

    def _unseen(self) -> Iterator[Gate]:
        """A closed gate where members that nobody wants cannot be seen: they may stand, and are to go."""
        live = self.situation.live
        absent = [key for key in self._unwanted() if live.get(key) is None and key not in self.gone]
        unread = [key for key in absent if not is_readable(self.situation, key.group_kind)]
        if unread and self.situation.desired.is_complete:
            why = live.why_unknown({key.group_kind for key in unread}) or "not every API answers"
            reason = f"{few(unread)} may still stand: {why}"
            yield Gate("seen", "what is to go can be seen", GateState.UNKNOWN, reason)

    def _warnings(self) -> Iterator[str]:
        yield from (f"applied before, and no longer in Git: {lost}" for lost in self.situation.lost)
        yield from untold(self.situation)
        yield from strays(self.situation)
        is_complete = self.situation.desired.is_complete
        if not is_complete and (
            missed := [key for key in self._unwanted() if key in self.situation.live.objects]
        ):
            yield f"not in Git as far as it can be read, kept until the errors are mended: {few(missed)}"
        for key in self._unwanted() if is_complete else ():
            live = self.situation.live.get(key)
            if live is not None and key in self.left:
                yield f"{key} is left to set {', set '.join(left(self.situation, live))}"
            elif live is not None and key not in self.departures:
                own = self.situation.desired.set_name
                owner = foreign_owner(self.situation, live) or "somebody else"
                owner = f"set {live.set_name}" if live.set_name not in ("", own) else owner
                yield f"{key} is left alone: it now belongs to {owner}"
            elif live is not None and self.departures[key].steps[0].is_pointer:
                yield f"{key} is a serving path that this revision gives up"
        yield from (late for late in (passed(self.situation),) if late)
        yield from standing(self.situation)
        yield from written_under(self.situation, {key: draft.facets for key, draft in self.drafts.items()})
        yield from moved_groups(self.situation, self.departures)
        yield from notes(self.situation)

    @cached_property
    def gates(self) -> Gates:
        """The judge of this plan."""
        steps = [step for draft in self.drafts.values() for step in draft.steps]
        waiting = (Verb.REPLACE,)
        pending = {s.id: s.key for s in reversed(steps) if s.is_additive or s.verb in waiting}
        moving = {s.id: s.key for s in steps if s.verb in (Verb.CUTOVER, Verb.POINT_BACK)}
        return Gates(self.situation, pending, moving, frozenset(self.departures))

    @cached_property
    def creation(self) -> Creation:
        """The judge of what is made new."""
        return Creation(self.gates)

    def _gated_steps(self) -> Iterator[Step]:
        unfinished = {
            step.id
            for draft in (*self.drafts.values(), *self.departures.values())
            for step in draft.steps
            if not (step.verb is Verb.DELETE and step.id.group_kind == NAMESPACE)
        }
        pruning = Pruning(self.gates, frozenset(unfinished))
        entry = Entry(self.situation)
        for draft in self.drafts.values():
            for step in draft.steps:
                own = (*step.gates, *entry.of(step))
                yield replace(step, gates=(*own, *self._gates_of(step, draft)))
        for key, draft in self.departures.items():
            live = self.situation.live.objects[key]
            for step in draft.steps:
                gates = self.gates.taking if step.verb is Verb.ABANDON else pruning.of(live)
                yield replace(step, gates=(*step.gates, *entry.of(step), *gates))

    def _gates_of(self, step: Step, draft: Draft) -> tuple[Gate, ...]:
        manifest = self.situation.desired.manifests.get(step.id)
        if step.is_additive:
            return self._gates_of_addition(step, manifest) if manifest else ()
        if step.verb is Verb.REPLACE:
            return replacing(self.gates, step, draft.facets)
        if step.verb is Verb.MIGRATE:
            return migrating(self.gates, step)
        if step.verb is Verb.CUTOVER:
            return self.gates.cutover(step.id, draft.facets)
        if step.verb is not Verb.NARROW:
            return ()
        return (*self.gates.narrow(step.id, draft.facets), *unstored(self.gates, step))

    def _gates_of_addition(self, step: Step, manifest: Manifest) -> tuple[Gate, ...]:
        first = granted_first(self.gates, step)
        if step.verb is Verb.CREATE:
            made = self.creation.of(manifest, is_pointer=step.is_pointer)
            return (*made, *beside(self.gates, manifest), *first)
        return (*self.gates.selected(step.id), *first)

    def _questions(self, steps: tuple[Step, ...]) -> frozenset[Question]:
        wanted: set[Question] = {d.question for d in self.drafts.values() if d.question}
        wanted.update(self.gates.questions())
        wanted.update(Hooks(self.gates).questions())
        for key, draft in self.drafts.items():
            if any(step.verb is Verb.CUTOVER for step in draft.steps):
                wanted.update(self.gates.trust_questions(key, draft.facets))
        for step in steps:
            wanted.update(accesses(step))
            wanted.update(contents_wanted(self.situation, step))
            others = [gate for gate in step.closed_gates if gate.name != "empty"]
            if step.verb is Verb.DELETE and step.id.group_kind == NAMESPACE and not others:
                wanted.add(NamespaceContents(step.id.name))
        return frozenset(wanted - self.situation.answers.keys())
