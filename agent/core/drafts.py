"""One object at a time: what differs, in facets, and which requests that takes.

A draft knows nothing of the other objects; the gates that wait for them are set in agent/core/plan.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from operator import attrgetter

from agent.core.behind import reached
from agent.core.classify import Facet, FacetKind, classify, facets, pointers_of
from agent.core.content import held_back
from agent.core.defining import as_made, first_form, in_halves
from agent.core.diff import by_server, three_way
from agent.core.dryruns import is_refused_in_place, with_answer
from agent.core.forms import final, widened
from agent.core.ledger import Source
from agent.core.model import (
    ABSENT,
    COMMIT_ANNOTATION,
    GENERATION_LABEL,
    SET_LABEL,
    Action,
    Body,
    Category,
    FieldChange,
    FieldPath,
    Form,
    LiveObject,
    Manifest,
    path_text,
)
from agent.core.passing import passed
from agent.core.predecessors import leftovers, with_leftovers
from agent.core.redact import secrets_of
from agent.core.relabel import with_common
from agent.core.remnants import remnants, with_parts_of, with_remnants
from agent.core.replacement.drafting import replaced, why_leaving
from agent.core.replacement.orphans import as_before, is_orphan
from agent.core.scaling import as_scaled
from agent.core.sending import to_send
from agent.core.sharing import before_changing, before_making, followed, is_member
from agent.core.situation import Foreign, Situation, is_listed
from agent.core.stamps import digest_of, stamped
from agent.core.steps import Answer, Change, DryRun, Gate, GateState, Step, Verb
from agent.core.storage import heeded, migration


@dataclass(frozen=True)
class Draft:
    """What is to be done to one object.

    ``steps`` are in their order and carry the gates that the object alone decides; ``question`` is the dry
    run that is still wanted, with its ``request``. ``facets`` belong to the steps that move or take away.
    """

    change: Change
    steps: tuple[Step, ...] = ()
    facets: tuple[Facet, ...] = ()
    question: DryRun | None = None
    request: Body = field(default_factory=dict)


@dataclass(frozen=True)
class Drafter:
    """Drafts objects of one situation at one generation."""

    situation: Situation
    generation: int

    def create(self, manifest: Manifest) -> Draft:
        """The object is not there."""
        if manifest.id in self.situation.refused:
            return self._left_out(manifest)
        if reason := passed(self.situation, manifest):
            return Draft(Change(manifest.id, Action.NONE, Category.ADDITIVE, reason))
        manifest = as_before(self.situation, manifest)
        step = Step(
            id=manifest.id,
            verb=Verb.CREATE,
            category=Category.ADDITIVE,
            form=Form.FINAL,
            says="new",
            body=self._stamped(manifest.body),
            bases=(self._source(manifest),),
            is_pointer=self._is_pointer(manifest.body),
            gates=before_making(self.situation, manifest),
        )
        change = Change(manifest.id, Action.CREATE, Category.ADDITIVE, "new")
        first = first_form(self.situation, manifest)
        if first is not None:
            return Draft(change, *in_halves(self.situation, manifest, step, self._stamped(first)))
        if not self.situation.policy.of(manifest.id.group_kind).shared or step.body is None:
            return Draft(change, (step,))
        # What grants or admits is tried before the first write: it may take rights that we do not have.
        question = DryRun(manifest.id, digest_of(step.body))
        answer = self.situation.answers.get(question)
        tried = Draft(change, (with_answer(step, answer),))
        return tried if answer else replace(tried, question=question, request=step.body)

    def update(self, manifest: Manifest, live: LiveObject) -> Draft:
        """The object is there: equality first, then the server's word on what differs."""
        if manifest.id in self.situation.refused:
            return self._left_out(manifest)
        if manifest.id in self.situation.scaled:
            manifest = replace(manifest, body=as_scaled(manifest, live, self.situation.policy))
        applied = as_made(self.situation, manifest)
        policy = self.situation.policy
        rules = self.situation.rules
        before = followed(self.situation, live)
        offline = three_way(manifest, live, applied, policy, rules.manager, predecessors=before)
        if not offline and self._is_member(live):
            return Draft(Change(manifest.id, Action.NONE, Category.ADDITIVE, "equal"))
        request = self._probe(manifest, live, offline)
        question = DryRun(manifest.id, digest_of(request))
        answer = self.situation.answers.get(question)
        draft = self._from_answer(manifest, live, offline, answer)
        return draft if answer else replace(draft, question=question, request=request)

    def _left_out(self, manifest: Manifest) -> Draft:
        reason = self.situation.refused[manifest.id].message
        return Draft(Change(manifest.id, Action.NONE, Category.ADDITIVE, reason))

    def delete(self, live: LiveObject) -> Draft:
        """Nobody in the set wants the object any more."""
        policy = self.situation.policy
        metadata = {"name": live.id.name} | ({"namespace": live.id.namespace} if live.id.namespace else {})
        if policy.never_pruned(live.id):
            body = {"apiVersion": live.body["apiVersion"], "kind": live.id.kind, "metadata": metadata}
            verb, says = Verb.ABANDON, "never deleted by its name; our labels and fields are taken off"
        else:
            body, verb = None, Verb.DELETE
            left = why_leaving(live, is_orphan=is_orphan(self.situation, live))
            says = left or policy.unblocks(live.body) or "in no revision that stays"
        step = Step(
            id=live.id,
            verb=verb,
            category=Category.PRUNE,
            form=Form.BASE,
            says=says,
            body=body,
            uid=live.uid,
            resource_version=live.resource_version,
            is_pointer=self._is_pointer(live.body),
        )
        return Draft(Change(live.id, Action.UPDATE if body else Action.DELETE, Category.PRUNE, says), (step,))

    def _from_answer(
        self,
        manifest: Manifest,
        live: LiveObject,
        offline: tuple[FieldChange, ...],
        answer: Answer | None,
    ) -> Draft:
        applied = as_made(self.situation, manifest)
        answer = heeded(live, manifest, answer)
        fields = offline
        if answer and answer.body is not None:
            told = by_server(answer.body, live, manifest, applied, self.situation.policy)
            fields = with_leftovers(followed(self.situation, live), live.body, told, offline)
            fields = with_remnants(fields, offline, self._remnants(live, offline))
        if not fields and self._is_member(live):
            return Draft(Change(manifest.id, Action.NONE, Category.ADDITIVE, "equal by the server's word"))
        if not fields:
            label = ("metadata", "labels", SET_LABEL)
            fields = (FieldChange(label, live.set_name or ABSENT, self.situation.desired.set_name),)
        parts = facets(fields, manifest.body, live.body, applied, self.situation.policy)
        parts = held_back(self.situation, manifest, reached(self.situation, manifest, live, parts))
        hidden = secrets_of(live.body, manifest.body, *applied)
        change = Change(manifest.id, Action.UPDATE, *classify(parts), fields, hidden)
        if is_refused_in_place(parts, answer):
            made = replaced(self.situation, self.generation, manifest, live, parts=parts, answer=answer)
            return Draft(change, made, parts)
        steps = self._steps(manifest, live, parts)
        if not steps:
            return Draft(replace(change, action=Action.NONE, reason="only entries of others, kept"))
        gates = self._own_gates(manifest, live, parts)
        steps += migration(self.situation, live, manifest)
        return Draft(change, tuple(with_answer(replace(s, gates=gates), answer) for s in steps), parts)

    def _steps(self, manifest: Manifest, live: LiveObject, parts: tuple[Facet, ...]) -> list[Step]:
        moves = [p for p in parts if p.kind is FacetKind.POINTS]
        takes = [p for p in parts if self._takes(p)]
        adds = [p for p in parts if p.added or p.kind not in _NOT_ADDING or _is_rewritten(p)]
        steps = []
        if adds:
            verb = Verb.WIDEN if moves or takes else Verb.UPDATE
            category = max(
                (p.category for p in adds if p.removed), key=attrgetter("severity"), default=Category.ADDITIVE
            )
            form = Form.WIDENED if moves or takes else Form.FINAL
            steps.append(replace(self._step(manifest, live, verb, adds, form), category=category))
        if moves:
            form = Form.WIDENED if takes else Form.FINAL
            steps.append(self._step(manifest, live, Verb.CUTOVER, moves, form))
        if takes:
            steps.append(self._step(manifest, live, Verb.NARROW, takes, Form.FINAL))
        changes = [change for part in parts for change in part.fields]
        left = leftovers(followed(self.situation, live), live.body, changes)
        gone = tuple(dict.fromkeys((*left, *self._remnants(live, changes))))
        at_once = {change.path for p in adds if p.kind not in _NOT_ADDING for change in p.fields}
        first = {Verb.WIDEN: tuple(path for path in gone if path in at_once)}
        steps = [replace(s, withdraws=gone if s.form is Form.FINAL else first.get(s.verb, ())) for s in steps]
        bodied = [replace(step, body=self._body(step, manifest, live, parts)) for step in steps]
        return with_common(self.situation, parts, bodied)

    def _takes(self, part: Facet) -> bool:
        drops = bool(part.foreign) and self.situation.rules.foreign is not Foreign.KEEP
        return bool(part.removed) or drops or part.kind in (FacetKind.PART, FacetKind.CAPACITY)

    def _step(self, manifest: Manifest, live: LiveObject, verb: Verb, parts: list[Facet], form: Form) -> Step:
        entry = self.situation.ledger.entries.get(manifest.id)
        source = self._source(manifest)
        former = entry.bases if entry else ()
        keeps_former = form is Form.WIDENED or verb is Verb.CUTOVER
        return Step(
            id=manifest.id,
            verb=verb,
            category=max((part.category for part in parts), key=attrgetter("severity")),
            form=form,
            says="; ".join(dict.fromkeys(_said(part, verb) for part in parts)),
            bases=tuple(dict.fromkeys((*former, source))) if keeps_former else (source,),
            uid=live.uid,
            resource_version=live.resource_version,
            is_pointer=verb is Verb.CUTOVER,
        )

    def _body(self, step: Step, manifest: Manifest, live: LiveObject, parts: tuple[Facet, ...]) -> Body:
        policy = self.situation.policy
        keep = self.situation.rules.foreign is Foreign.KEEP
        if step.form is Form.FINAL:
            return self._stamped(final(manifest.body, parts, policy, keep_foreign=keep), live)
        moved = step.verb is Verb.CUTOVER
        body = widened(manifest.body, live.body, parts, policy, moved=moved, keep_foreign=True)
        return self._stamped(body, live)

    def _own_gates(self, manifest: Manifest, live: LiveObject, parts: tuple[Facet, ...]) -> tuple[Gate, ...]:
        gates = before_changing(self.situation, manifest, live)
        if live.is_deleting:
            gates.append(Gate("there", "the object is not going", GateState.HELD, "it is being deleted"))
        downtime = next((p.reason for p in parts if p.kind is FacetKind.DOWNTIME), "")
        if downtime and not is_listed(live.id, self.situation.rules.allow_downtime):
            reason = f"{downtime}; allow it by allow_downtime: [{live.id}]"
            gates.append(Gate("approved", "the downtime is allowed", GateState.HELD, reason))
        return tuple(gates)

    def _probe(self, manifest: Manifest, live: LiveObject, offline: tuple[FieldChange, ...]) -> Body:
        situation = self.situation
        applied = situation.applied.get(manifest.id, ())
        parts = facets(offline, manifest.body, live.body, applied, situation.policy)
        keep = situation.rules.foreign is Foreign.KEEP
        whole = final(manifest.body, parts, situation.policy, keep_foreign=keep)
        tried = with_parts_of(live.body, whole, self._remnants(live, offline), situation.policy)
        body = self._stamped(tried, live)
        if not self._is_member(live):
            return body
        metadata = body["metadata"]
        labels = metadata["labels"] | {
            k: v for k, v in live.labels.items() if k in (GENERATION_LABEL, SET_LABEL)
        }
        commit = {k: v for k, v in live.annotations.items() if k == COMMIT_ANNOTATION}
        stamps = {"labels": labels, "annotations": metadata["annotations"] | commit}
        return {**body, "metadata": metadata | stamps}

    def _remnants(self, live: LiveObject, changes: Iterable[FieldChange]) -> tuple[FieldPath, ...]:
        return remnants(live.body, changes, self.situation.policy, self.situation.rules.manager)

    def _is_member(self, live: LiveObject) -> bool:
        return is_member(self.situation, live)

    def _stamped(self, body: Body, live: LiveObject | None = None) -> Body:
        desired = self.situation.desired
        sent = to_send(body, live, self.situation)
        return stamped(sent, desired.set_name, self.generation, desired.revision)

    def _source(self, manifest: Manifest) -> Source:
        return Source(self.situation.desired.revision, manifest.origin.file, manifest.origin.document)

    def _is_pointer(self, body: Body) -> bool:
        return any(p.target.is_service for p in pointers_of(body, self.situation.policy))


def _said(part: Facet, verb: Verb) -> str:
    """What of the facet this step does: a widen keeps what a narrow then takes away."""
    where = path_text(part.path)
    if verb is Verb.WIDEN and part.added and part.removed:
        return f"{where} gains {part.gains}; keeps {part.loses}"
    if verb is Verb.NARROW and part.removed:
        return f"{where} loses {part.loses}"
    return part.reason


def _is_rewritten(part: Facet) -> bool:
    """The same rights in another way: text that Git wants, with nobody losing or gaining by it."""
    return part.kind is FacetKind.UNION and not (part.added or part.removed or part.foreign)


_NOT_ADDING = (FacetKind.UNION, FacetKind.POINTS, FacetKind.PART, FacetKind.CAPACITY)
