"""The agent's part on a world of the model: look, ask, plan, write; each a function of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Final

from agent.core.answering import (
    counts_as_content,
    discovery_failed,
    not_served_yet,
    pointer_gone,
    read_answer,
    refused_dry_run,
    trust_answer,
)
from agent.core.carrying import guarded
from agent.core.health import HealthRules
from agent.core.hookjobs import placed
from agent.core.intents import Outcome
from agent.core.ledger import Entry, Ledger
from agent.core.looking import api_versions, kinds_to_read, members_of, places_of, why_unserved
from agent.core.model import Body, Desired, GroupKind, Live, LiveObject, ObjectId
from agent.core.orders import Order, plan_in_order
from agent.core.policy import Policy
from agent.core.rehearsal.migration import migrated
from agent.core.rehearsal.others import with_bare
from agent.core.rehearsal.trials import webhooks_answer
from agent.core.simulation import requests
from agent.core.simulation.discovery import find, read_path, served_now
from agent.core.simulation.draft import Draft
from agent.core.simulation.tables import Served
from agent.core.simulation.world import World
from agent.core.situation import Rules, Situation
from agent.core.steps import (
    Access,
    Admits,
    Answer,
    Answers,
    DryRun,
    GateState,
    KindContents,
    Log,
    NamespaceContents,
    Plan,
    Question,
    Request,
    Step,
    Trust,
    Verb,
)
from agent.core.storage import not_rewritten
from agent.errors import ClusterError, Conflict

ROUNDS_OF_QUESTIONS: Final = 4


@dataclass(frozen=True)
class Setup:
    """What stays the same through a rehearsal. ``releases`` by revision."""

    releases: Mapping[str, Desired]
    policy: Policy
    health: HealthRules
    rules: Rules
    order: Order = Order.GATED
    without: frozenset[str] = frozenset()
    """Names of gates that are left out, to see what they are good for."""
    comes: Mapping[str, Mapping[ObjectId, Body]] = field(default_factory=dict)
    """What somebody else makes in a namespace, by its name, once that stands."""


@dataclass(frozen=True)
class Agent:
    """The agent in one world, wanting ``desired``; every method leaves the world as it is."""

    setup: Setup
    world: World
    desired: Desired

    @cached_property
    def _served(self) -> tuple[Mapping[GroupKind, Served], Mapping[str, str]]:
        return served_now(self.world)

    def look(self, ledger: Ledger) -> Live:
        """What an observation of the world reads (agent/shell/observe.py does it at a cluster)."""
        served, failed = self._served
        members = members_of(self.desired, ledger)
        plurals = {kind: row.plural for kind, row in served.items()}
        objects: dict[ObjectId, LiveObject] = {}
        unknown: dict[GroupKind, str] = {}
        absent: set[GroupKind] = set()
        for kind in kinds_to_read(self.setup.policy, plurals, members, self.desired):
            row = served.get(kind)
            if row is None:
                reason = why_unserved(kind, failed)
                if reason:
                    unknown[kind] = reason
                else:
                    absent.add(kind)
                continue
            try:
                found = self._listed(kind, row, places_of(kind, members))
            except ClusterError as error:
                unknown[kind] = str(error)
                continue
            objects.update(found)
        unserved = frozenset(absent & {key.group_kind for key in members})
        versions = {kind: row.versions for kind, row in served.items()}
        told = api_versions({key.group_kind for key in self.desired.manifests}, versions, failed)
        return Live(objects, unknown, unserved, told)

    def _listed(self, kind: GroupKind, row: Served, places: tuple[str, ...]) -> dict[ObjectId, LiveObject]:
        found = find(self.world, kind, "list")
        version = self._version(kind, row)
        out = {}
        for key, body in self.world.of(*found.storage).items():
            if "" in places or key.namespace in places:
                own = ObjectId(*kind, key.namespace, key.name)
                written = self.desired.manifests.get(own)
                asked = written.api_version.rpartition("/")[2] if written else ""
                shown = requests.shown(body, found, asked if asked in row.versions else version)
                out[own] = LiveObject(own, shown)
        return out

    def _version(self, kind: GroupKind, row: Served) -> str:
        """The version that Git names where it is served, else the preferred one."""
        named = {
            m.api_version.rpartition("/")[2]
            for m in self.desired.manifests.values()
            if m.id.group_kind == kind
        }
        return next((version for version in row.versions if version in named), row.versions[0])

    def plan(self, live: Live, ledger: Ledger) -> Plan:
        """The plan, with every question answered by the world."""
        situation = Situation(
            desired=placed(self.desired, ledger.newest) if ledger.newest else self.desired,
            live=live,
            applied=self._applied(ledger),
            ledger=ledger,
            policy=self.setup.policy,
            health=self.setup.health,
            # At what time of the day it will happen is not rehearsed.
            rules=replace(self.setup.rules, windows=()),
            now=self.world.now,
        )
        plan = plan_in_order(situation, self.setup.order)
        answers: Answers = {}
        for _ in range(ROUNDS_OF_QUESTIONS):
            if not plan.questions:
                break
            answers = {**answers, **{asked: self._answer(asked, plan) for asked in plan.questions}}
            plan = plan_in_order(replace(situation, answers=answers), self.setup.order)
        if not self.setup.without:
            return plan
        return replace(plan, steps=tuple(_without(step, self.setup.without) for step in plan.steps))

    def _applied(self, ledger: Ledger) -> dict[ObjectId, tuple[Body, ...]]:
        found: dict[ObjectId, tuple[Body, ...]] = {}
        for key, entry in ledger.entries.items():
            known = (self.setup.releases.get(base.commit) for base in entry.bases)
            wanted = (release.manifests.get(key) for release in known if release)
            found[key] = tuple(manifest.body for manifest in wanted if manifest)
        return found

    def _answer(self, question: Question, plan: Plan) -> Answer:
        try:
            match question:
                case DryRun():
                    return self._dry_run(question, plan)
                case Access():
                    return self._access(question)
                case Request() | Admits():
                    return self._through(question)
                case Log() | Trust():
                    # The programs of the model write no logs, and have no certificates that could be wrong.
                    return trust_answer("")
                case NamespaceContents() | KindContents():
                    return self._contents(question)
        except ClusterError as error:
            return Answer(GateState.UNKNOWN, str(error))

    def _dry_run(self, question: DryRun, plan: Plan) -> Answer:
        if question.id.group_kind not in self._served[0]:
            return Answer(GateState.UNKNOWN, f"{question.id.group_kind} is not served")
        try:
            _, body = self._apply(plan.requests[question], is_dry=True)
        except ClusterError as error:
            return refused_dry_run(error)
        return Answer(GateState.OPEN, body=body)

    def _access(self, question: Access) -> Answer:
        """Nothing stands in the agent's way here: whose rights it will have is not known to the rehearsal."""
        kind = GroupKind(question.group, question.kind)
        return Answer(GateState.OPEN) if kind in self._served[0] else not_served_yet(kind)

    def _through(self, question: Request | Admits) -> Answer:
        if isinstance(question, Admits):
            dry_run = partial(self._apply, is_dry=True)
            return webhooks_answer(self.world, self._served[0], question, dry_run)
        body = self.world.get(question.pointer)
        if body is None:
            return pointer_gone(question.pointer)
        path = self.setup.policy.request_of(body)
        return read_answer(path, read_path(self.world, path).status)

    def _contents(self, question: NamespaceContents | KindContents) -> Answer:
        if isinstance(question, KindContents):
            return self._objects(question)
        served, failed = self._served
        if failed:
            return discovery_failed(failed)
        namespaced = {kind for kind, row in served.items() if row.is_namespaced}
        ids = []
        for kind in namespaced:
            found = self._listed(kind, served[kind], (question.namespace,))
            policy = self.setup.policy
            ids += [key for key, obj in found.items() if counts_as_content(obj, policy, namespaced)]
        return Answer(GateState.OPEN, ids=tuple(ids))

    def _objects(self, question: KindContents) -> Answer:
        row = self._served[0].get(question.kind)
        if row is None:
            return Answer(GateState.UNKNOWN, f"{question.kind} is not served")
        return Answer(GateState.OPEN, ids=tuple(self._listed(question.kind, row, ("",))))

    def write(self, step: Step, entry: Entry | None) -> tuple[World, Outcome]:
        """Carry out one step: the world after it, and what became of it."""
        try:
            if step.body is None:
                draft = Draft(self.world)
                requests.delete(
                    draft,
                    step.id,
                    uid=step.uid,
                    resource_version=step.resource_version,
                    propagation=step.propagation,
                )
                return draft.finish(), Outcome(step, entry)
            if step.verb is Verb.MIGRATE:
                draft = Draft(self.world)
                body = migrated(draft, step, self._bodies_of, self.setup.rules.manager)
                return draft.finish(), Outcome(step, entry, LiveObject(step.id, body))
            world, body = self._apply(guarded(step.body, step, step.resource_version))
            if step.id.kind == "Namespace":
                world = with_bare(world, self.setup.comes.get(step.id.name, {}))
            return world, Outcome(step, entry, LiveObject(step.id, body))
        except ClusterError as error:
            return self.world, Outcome(step, entry, error=str(error))

    def _bodies_of(self, kind: GroupKind) -> tuple[Body, ...]:
        row = self._served[0].get(kind)
        if row is None:
            raise not_rewritten(kind)
        return tuple(obj.body for obj in self._listed(kind, row, ("",)).values())

    def _apply(self, body: Body, *, is_dry: bool = False) -> tuple[World, Body]:
        rules = self.setup.rules
        draft = Draft(self.world)
        try:
            result = requests.apply(draft, body, rules.manager, is_dry=is_dry)
        except Conflict as conflict:
            if not conflict.managers or not set(conflict.managers) <= rules.take_over:
                raise
            draft = Draft(self.world)
            result = requests.apply(draft, body, rules.manager, force=True, is_dry=is_dry)
        return (self.world if is_dry else draft.finish()), result


def _without(step: Step, names: frozenset[str]) -> Step:
    return replace(step, gates=tuple(gate for gate in step.gates if gate.name not in names))
