"""From steps to requests: intents before, outcomes after, and never a step on an old look.

Additive steps of a tick go together under one intent, concurrently within a rank of the order table. A
step that moves or takes away goes alone, under an intent of its own. Every write of an object that was there
carries its uid and resourceVersion as preconditions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby

from agent.core.carrying import guarded, intended
from agent.core.fields import put
from agent.core.intents import Outcome, intend, record
from agent.core.ledger import Entry, How, IntentKind, Ledger
from agent.core.model import Body, LiveObject
from agent.core.rules import MISSING
from agent.core.steps import Plan, Step, Verb
from agent.errors import ClusterError, Conflict
from agent.shell.cluster import Resource
from agent.shell.migrate import migrate
from agent.shell.observe import WORKERS, Observer
from agent.shell.store import LedgerStore


@dataclass
class Book:
    """The ledger as it stands in the cluster; every change is written through the store at once."""

    store: LedgerStore
    ledger: Ledger
    token: str

    def write(self, ledger: Ledger) -> None:
        """Store ``ledger`` unless it is equal. Raises Conflict when another agent has written."""
        if ledger != self.ledger:
            self.token = self.store.save(ledger, self.token)
            self.ledger = ledger


@dataclass(frozen=True)
class Executor:
    """Carries out steps for one set. ``clock`` gives seconds of the Unix epoch.

    ``how`` says how what is written becomes a member.
    """

    observer: Observer
    book: Book
    manager: str
    take_over: frozenset[str]
    clock: Callable[[], float]
    how: How = How.MADE

    def add(self, plan: Plan, steps: Iterable[Step]) -> list[Outcome]:
        """All additive steps together; one that fails does not keep the others."""
        rank = self.observer.policy.rank
        pairs = [(step, self._entry(plan, step)) for step in steps]
        self.book.write(intend(self.book.ledger, IntentKind.ADDITIVE, pairs))
        outcomes: list[Outcome] = []
        with ThreadPoolExecutor(WORKERS) as pool:
            for _, group in groupby(pairs, key=lambda pair: rank(pair[0].id.group_kind)):
                outcomes += pool.map(self._carry_out, list(group))
        self.book.write(record(self.book.ledger, outcomes))
        return outcomes

    def take(self, plan: Plan, step: Step) -> Outcome:
        """One step that moves or takes away."""
        entry = self._entry(plan, step)
        self.book.write(intend(self.book.ledger, IntentKind.STEP, [(step, entry)]))
        outcome = self._carry_out((step, entry))
        self.book.write(record(self.book.ledger, [outcome]))
        return outcome

    def _entry(self, plan: Plan, step: Step) -> Entry | None:
        entry = intended(step, self.book.ledger, plan.generation, self.clock())
        return replace(entry, how=self.how) if entry is not None and self.how is not How.MADE else entry

    def _carry_out(self, pair: tuple[Step, Entry | None]) -> Outcome:
        step, entry = pair
        resource = self.observer.resource(step.id.group_kind)
        if resource is None:
            return Outcome(step, entry, error=f"{step.id.group_kind} is not served")
        try:
            if step.verb is Verb.MIGRATE:
                body = migrate(self.observer.cluster, self.observer.discovery, resource, step)
                return Outcome(step, entry, LiveObject(step.id, body))
            if step.body is None:
                self.observer.cluster.delete(
                    resource,
                    step.id,
                    uid=step.uid,
                    resource_version=step.resource_version,
                    propagation=step.propagation,
                )
                return Outcome(step, entry)
            body = self._apply(step, guarded(step.body, step, self._withdrawn(step, resource)))
            return Outcome(step, entry, LiveObject(step.id, body))
        except ClusterError as error:
            return Outcome(step, entry, error=str(error))

    def _withdrawn(self, step: Step, resource: Resource) -> str:
        """Take out what predecessors left, on the version that was planned on; the version then."""
        live = self.observer.cluster.get(resource, step.id) if step.withdraws else None
        if live is None:
            return step.resource_version
        rules = self.observer.policy.of(step.id.group_kind).rules
        for path in step.withdraws:
            live = put(live, path, MISSING, rules)
        metadata = {**live["metadata"], "uid": step.uid, "resourceVersion": step.resource_version}
        done = self.observer.cluster.replace(resource, {**live, "metadata": metadata})
        return LiveObject(step.id, done).resource_version

    def _apply(self, step: Step, body: Body) -> Body:
        resource = self.observer.discovery.resources[step.id.group_kind]
        cluster = self.observer.cluster
        try:
            return cluster.apply(resource, body, manager=self.manager)
        except Conflict as conflict:
            if not conflict.managers or not set(conflict.managers) <= self.take_over:
                raise
            return cluster.apply(resource, body, manager=self.manager, take_over=True)
