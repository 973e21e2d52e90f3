"""One tick of one set: observe -> plan -> apply the steps whose gates are open -> record -> report.

Level-triggered: what a tick knows comes from Git, the cluster and the ledger. What a ``Syncer`` remembers
between ticks (discovery, granted rights, what was seen to be equal) only spares requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from agent.core.acts import pinned
from agent.core.carrying import closed, next_steps
from agent.core.deadline import reverted
from agent.core.handoff import Outcome, held, recovered, take_up, with_holds
from agent.core.health import HealthRules
from agent.core.hookjobs import placed, with_hooks_checked
from agent.core.kinds import KindInfo, Kinds
from agent.core.ledger import Entry, GenerationState, Ledger
from agent.core.model import Desired, Finding, Live, Manifest, ObjectId
from agent.core.orders import Order, plan_in_order
from agent.core.policy import Policy
from agent.core.rebuilding import commits_of, members, rebuilt
from agent.core.situation import Rules, Situation
from agent.core.steps import Answers, Plan, Step
from agent.errors import SourceError
from agent.shell.asking import Asker
from agent.shell.cluster import Cluster, Discovery
from agent.shell.described import Describer
from agent.shell.execute import Book, Executor
from agent.shell.helm_records import HelmRecords
from agent.shell.observe import Observer
from agent.shell.quiet import Memory, fingerprint, is_quiet
from agent.shell.rebuilding import labelled
from agent.shell.report import Report, State
from agent.shell.source import Applied
from agent.shell.store import LedgerStore
from agent.shell.windows import spans_of

_ROUNDS_OF_QUESTIONS = 4


class SetSource(Protocol):
    """What a tick asks of Git for one set (agent/shell/source.py). Raises SourceError."""

    def resolve(self, pin: str = "") -> str:
        """The commit that the set's ref names now, or ``pin``; a ref told for this once goes first."""
        ...

    def desired(self, commit: str, kinds: Kinds) -> Desired:
        """What the set wants at ``commit``."""
        ...

    def has(self, commit: str) -> bool:
        """Whether the commit can still be read."""
        ...

    def applied(self, entries: Iterable[Entry]) -> Applied:
        """What was applied of these members, as ``desired`` reads it, and what of it is gone."""
        ...

    def keep(self, commits: Iterable[str]) -> None:
        """See that these commits, and no others, stay readable for this set."""
        ...


@dataclass(frozen=True)
class Tools:
    """What every set of an agent shares. ``clock`` gives seconds of the Unix epoch."""

    cluster: Cluster
    store: LedgerStore
    policy: Policy
    health: HealthRules
    kinds: Kinds
    clock: Callable[[], float]


class Syncer:
    """Syncs one set. ``told`` hears of every outcome as it comes."""

    def __init__(
        self,
        tools: Tools,
        source: SetSource,
        rules: Rules,
        *,
        set_name: str,
        take_over: frozenset[str] = frozenset(),
        told: Callable[[Outcome], None] = lambda _: None,
    ) -> None:
        self._tools = tools
        self._source = source
        self._rules = rules
        self._set_name = set_name
        self._take_over = take_over
        self._told = told
        self._memory = Memory()
        self._describer = Describer(tools.policy)

    def plan(self, order: Order = Order.GATED) -> Plan:
        """The plan now; nothing is written."""
        ledger, _ = self._tools.store.load(self._set_name)
        return self._planned(self._look(self._wanted(ledger), ledger), order)

    def considered(self) -> tuple[Situation, Plan]:
        """What the plan is made from, and the plan; nothing is written."""
        ledger, _ = self._tools.store.load(self._set_name)
        look = self._look(self._wanted(ledger), ledger)
        return self._situation(look), self._planned(look, Order.GATED)

    def tick(self, order: Order = Order.GATED) -> Report:
        """One tick. Raises SourceError, LedgerError, ClusterError where nothing could be planned at all."""
        ledger, token = self._tools.store.load(self._set_name)
        commit = self._wanted(ledger)
        if is_quiet(self._tools.cluster, self._memory, commit, ledger):
            return Report(State.IN_SERVICE, ledger)
        book = Book(self._tools.store, ledger, token)
        try:
            look = self._look(commit, ledger)
        except SourceError as error:
            if ledger.newest:
                book.write(held(ledger, {f"revision {commit}": str(error)}, self._tools.clock()))
            raise
        plan = self._planned(look, order)
        first = plan
        if look.desired.is_refused:
            said = "; ".join(str(finding) for finding in plan.findings)
            book.write(held(ledger, {f"revision {commit}": f"refused: {said}"}, self._tools.clock()))
            return Report(State.REFUSED, book.ledger, plan, plan)
        outcomes: list[Outcome] = []
        while steps := next_steps(plan, {outcome.step.key for outcome in outcomes}):
            self._source.keep(_commits(look.ledger, commit))
            book.write(look.ledger)
            done = self._carry_out(look, plan, steps, book)
            outcomes += done
            for outcome in done:
                self._told(outcome)
            look = self._look(commit, book.ledger)
            plan = self._planned(look, order)
        failed = {outcome.step.key: outcome.error for outcome in outcomes if outcome.error}
        state = self._close(look, plan, book, failed)
        return Report(state, book.ledger, first, plan, tuple(outcomes))

    def _wanted(self, ledger: Ledger) -> str:
        """The commit that the set's ref names, or the one that a person has pinned it to."""
        pin = pinned(ledger.acts)
        return self._source.resolve(pin.revision if pin else "")

    def _close(self, look: _Look, plan: Plan, book: Book, failed: Mapping[str, str]) -> State:
        now = self._tools.clock()
        prints = {key: fingerprint(obj.body) for key, obj in look.live.objects.items()}
        ledger = closed(plan, look.ledger, look.desired, look.live, prints, now)
        if plan.is_done:
            self._memory.commit, self._memory.prints = look.desired.revision, prints
            state = State.IN_SERVICE
        else:
            ledger = reverted(with_holds(ledger, plan, failed, now), plan, self._rules, now)
            state = State.HELD
        book.write(ledger)
        self._source.keep(_commits(ledger, look.desired.revision))
        return state

    def _carry_out(self, look: _Look, plan: Plan, steps: list[Step], book: Book) -> list[Outcome]:
        executor = Executor(look.observer, book, self._rules.manager, self._take_over, self._tools.clock)
        if steps[0].is_additive:
            return executor.add(plan, steps)
        return [executor.take(plan, steps[0])]

    def _look(self, commit: str, ledger: Ledger) -> _Look:
        """Git, discovery and the cluster, read now; the ledger with this commit taken up."""
        discovery = self._memory.discovery = self._tools.cluster.discover()
        kinds = self._tools.kinds.extended(
            {r.kind: KindInfo(r.plural, r.is_namespaced) for r in discovery.resources.values()}
        )
        desired = with_hooks_checked(self._source.desired(commit, kinds))
        observer = Observer(self._tools.cluster, self._tools.policy, discovery)
        if ledger == Ledger(self._set_name):
            ledger = self._rebuilt(discovery, kinds)
        live = observer.look(desired, ledger)
        ledger = recovered(ledger, live, self._rules.manager)
        if not desired.is_refused:
            contents = self._contents(ledger, commit, kinds)
            ledger = take_up(ledger, commit, desired.manifests, contents, self._tools.clock())
            desired = placed(desired, ledger.newest) if ledger.newest else desired
        desired, refused = self._describer.look(self._tools.cluster, desired)
        return _Look(desired, live, ledger, observer, kinds, refused)

    def _rebuilt(self, discovery: Discovery, kinds: Kinds) -> Ledger:
        """Of a set without a ledger, what its labels tell: nothing, where it was never synced."""
        found, unread = labelled(self._tools.cluster, discovery, self._set_name)
        own = members(found, self._set_name, self._rules.manager)
        wanted = {}
        for commit in commits_of(own):
            # A commit that Git has no more leaves the bases of its objects unknown.
            with suppress(SourceError):
                self._source.resolve(commit)
                wanted[commit] = self._source.desired(commit, kinds).manifests
        return rebuilt(self._set_name, own, wanted, unread, self._tools.clock())

    def _contents(
        self, ledger: Ledger, commit: str, kinds: Kinds
    ) -> Mapping[str, Mapping[ObjectId, Manifest]]:
        """What the standing generations want, so that a revert or an empty commit is recognised."""
        newest = ledger.newest
        if newest and newest.revision == commit:
            return {commit: self._source.desired(commit, kinds).manifests}
        contents = {}
        for revision in {g.revision for g in ledger.generations if g.state is not GenerationState.ABSENT}:
            # A revision that cannot be read now (another path, a rewritten history) counts as different.
            with suppress(SourceError):
                if self._source.has(revision):
                    contents[revision] = self._source.desired(revision, kinds).manifests
        return contents

    def _planned(self, look: _Look, order: Order) -> Plan:
        """The plan with every question answered; a question that stays open leaves its gate closed."""
        asker = Asker(
            self._tools.cluster,
            look.observer,
            self._rules.manager,
            self._take_over,
            self._memory.rights,
        )
        answers: Answers = {}
        situation = self._situation(look)
        plan = plan_in_order(situation, order)
        for _ in range(_ROUNDS_OF_QUESTIONS):
            if not plan.questions:
                return plan
            answers = {**answers, **asker.answer(plan)}
            plan = plan_in_order(replace(situation, answers=answers), order)
        return plan

    def _situation(self, look: _Look) -> Situation:
        wanted = [obj for key, obj in look.live.objects.items() if key in look.desired.manifests]
        records = HelmRecords(self._tools.cluster, look.observer.discovery, look.kinds)
        bases = self._source.applied(look.ledger.entries.values())
        applied = records.before(bases, wanted, self._take_over)
        now = self._tools.clock()
        return Situation(
            desired=look.desired,
            live=look.live,
            applied=applied.bodies,
            ledger=look.ledger,
            policy=self._describer.policy,
            refused=look.refused,
            health=self._tools.health,
            rules=self._rules,
            now=now,
            lost=applied.missing,
            spans=spans_of(self._rules.windows, now),
        )


@dataclass(frozen=True)
class _Look:
    """What one look gave; ``ledger`` with a crashed tick's intent told apart and the commit taken up."""

    desired: Desired
    live: Live
    ledger: Ledger
    observer: Observer
    kinds: Kinds
    refused: Mapping[ObjectId, Finding]


def _commits(ledger: Ledger, commit: str) -> frozenset[str]:
    named = {source.commit for entry in ledger.entries.values() for source in entry.bases}
    return frozenset({commit, *named, *(g.revision for g in ledger.generations[-10:])})
