"""One tick of one set: observe -> plan -> apply the steps whose gates are open -> record -> report.

Level-triggered: what a tick knows comes from Git, the cluster and the ledger. What a ``Syncer`` remembers
between ticks (discovery, granted rights, what was seen to be equal) only spares requests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce

from agent.core.acts import pinned_to
from agent.core.carrying import closed, next_steps, on_this_clock
from agent.core.deadline import reverted
from agent.core.handoff import held, take_up, with_holds
from agent.core.health import HealthRules
from agent.core.hookjobs import placed, with_hooks_checked
from agent.core.intents import Outcome, absorbed, recovered
from agent.core.kinds import Kinds
from agent.core.ledger import Ledger
from agent.core.model import Desired, Live, Manifest, ObjectId
from agent.core.neighbours import Neighbours
from agent.core.orders import Order, plan_in_order
from agent.core.policy import Policy
from agent.core.rebuilding import commits_of, members, rebuilt
from agent.core.sharing import all_followed
from agent.core.situation import Rules, Situation
from agent.core.steps import Answers, Plan, Step
from agent.errors import SourceError
from agent.shell.absent import is_gone
from agent.shell.asking import Asker
from agent.shell.cluster import Cluster, Discovery
from agent.shell.described import Describer
from agent.shell.execute import Book, Executor
from agent.shell.helm_records import HelmRecords
from agent.shell.neighbours import Neighbourhood, has_a_say
from agent.shell.observe import Observer
from agent.shell.quiet import Memory, fingerprint, is_quiet
from agent.shell.rebuilding import labelled
from agent.shell.report import Report, State
from agent.shell.set_source import SetSource, commits_needed
from agent.shell.store import LedgerStore
from agent.shell.windows import spans_of

_ROUNDS_OF_QUESTIONS = 4


@dataclass(frozen=True)
class Tools:
    """What every set of an agent shares. ``clock`` gives seconds of the Unix epoch.

    ``sources`` are the sets of the configuration, in its order.
    """

    cluster: Cluster
    store: LedgerStore
    policy: Policy
    health: HealthRules
    kinds: Kinds
    clock: Callable[[], float]
    sources: Mapping[str, SetSource] = field(default_factory=dict)


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
        own_store = LedgerStore(tools.cluster, tools.store.namespace)
        self._neighbourhood = Neighbourhood(set_name, tools.sources, own_store)

    def plan(self, order: Order = Order.GATED) -> Plan:
        """The plan now; nothing is written."""
        ledger, _ = self._tools.store.load(self._set_name)
        return self._planned(self._look(self._wanted(ledger), ledger), order)

    def considered(self) -> tuple[Situation, Plan]:
        """What the plan is made from, and the plan; nothing is written."""
        ledger, _ = self._tools.store.load(self._set_name)
        look = self._look(self._wanted(ledger), ledger)
        return look.situation, self._planned(look, Order.GATED)

    def tick(self, order: Order = Order.GATED) -> Report:
        """One tick. Raises SourceError, LedgerError, ClusterError where nothing could be planned at all."""
        ledger, token = self._tools.store.load(self._set_name)
        if self._rules.is_absent and self._is_gone(ledger):
            return Report(State.ABSENT, Ledger(self._set_name))
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
            self._source.keep(commits_needed(look.ledger, commit))
            book.write(look.ledger)
            done = self._carry_out(look, plan, steps, book)
            outcomes += done
            for outcome in done:
                self._told(outcome)
            # A successor may have come: a newer commit, or another set that wants what would go next.
            commit = self._wanted(book.ledger)
            look = self._look(commit, book.ledger)
            plan = self._planned(look, order)
        failed = {outcome.step.key: outcome.error for outcome in outcomes if outcome.error}
        state = self._close(look, plan, book, failed)
        if self._rules.is_absent and state is State.IN_SERVICE and self._is_gone(book.ledger):
            return Report(State.ABSENT, Ledger(self._set_name), first, plan, tuple(outcomes))
        return Report(state, book.ledger, first, plan, tuple(outcomes))

    def _wanted(self, ledger: Ledger) -> str:
        """The commit that the set's ref names, or the one that a person has pinned it to."""
        return self._source.resolve(pinned_to(ledger.acts))

    def _is_gone(self, ledger: Ledger) -> bool:
        """Whether nothing is left of a set that shall go."""
        tools = self._tools
        return not self._former() and is_gone(
            tools.cluster, tools.store, self._memory, ledger, self._rules.manager
        )

    def _former(self) -> tuple[Ledger, ...]:
        """The ledgers under the names that the set had."""
        found = (self._tools.store.load(name) for name in sorted(self._rules.formerly))
        return tuple(ledger for ledger, token in found if token)

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
        for former in look.former:
            if former.intent is None:
                # All that it names stands in the set's own ledger, which has just been written.
                self._tools.store.delete(former.set_name)
        self._source.keep(commits_needed(ledger, look.desired.revision))
        return state

    def _carry_out(self, look: _Look, plan: Plan, steps: list[Step], book: Book) -> list[Outcome]:
        take_over = self._take_over | look.followed
        executor = Executor(look.observer, book, self._rules.manager, take_over, self._tools.clock)
        if steps[0].is_additive:
            return executor.add(plan, steps)
        return [executor.take(plan, steps[0])]

    def _look(self, commit: str, ledger: Ledger) -> _Look:
        """Git, discovery and the cluster, read now; the ledger with this commit taken up."""
        discovery = self._memory.discovery = self._tools.cluster.discover()
        kinds = self._tools.kinds.extended(discovery.kinds)
        desired = with_hooks_checked(self._source.desired(commit, kinds))
        observer = Observer(self._tools.cluster, self._tools.policy, discovery)
        if ledger == Ledger(self._set_name):
            ledger = self._rebuilt(discovery, kinds)
        former = self._former()
        live = observer.look(desired, reduce(absorbed, former, ledger))
        former = tuple(recovered(one, live, f"trapeze/{one.set_name}") for one in former)
        ledger = reduce(absorbed, former, recovered(ledger, live, self._rules.manager))
        ledger = on_this_clock(ledger, self._tools.clock())
        if not desired.is_refused:
            contents = self._contents(ledger, commit, kinds)
            ledger = take_up(ledger, commit, desired.manifests, contents, self._tools.clock())
            desired = placed(desired, ledger.newest) if ledger.newest else desired
        desired, refused = self._describer.look(self._tools.cluster, desired, live, self._rules.manager)
        neighbours = self._neighbours(desired, ledger, live, kinds)
        situation = self._situation(observer, kinds, desired, live, ledger, neighbours)
        return _Look(desired, live, ledger, observer, replace(situation, refused=refused), former)

    def _neighbours(self, desired: Desired, ledger: Ledger, live: Live, kinds: Kinds) -> Neighbours:
        """The other sets as they are now: who deletes has looked at them since its last write."""
        asks_git = bool(self._rules.depends_on) or has_a_say(desired, ledger, live)
        return self._neighbourhood.look(kinds, asks_git=asks_git, without=self._rules.formerly)

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
        for revision in {g.revision for g in ledger.generations if g.is_standing}:
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
            self._take_over | look.followed,
            self._memory.rights,
        )
        answers: Answers = {}
        plan = plan_in_order(look.situation, order)
        for _ in range(_ROUNDS_OF_QUESTIONS):
            if not plan.questions:
                return plan
            answers = {**answers, **asker.answer(plan)}
            plan = plan_in_order(replace(look.situation, answers=answers), order)
        return plan

    def _situation(  # noqa: PLR0917 - what one look gave
        self,
        observer: Observer,
        kinds: Kinds,
        desired: Desired,
        live: Live,
        ledger: Ledger,
        neighbours: Neighbours,
    ) -> Situation:
        wanted = [obj for key, obj in live.objects.items() if key in desired.manifests]
        records = HelmRecords(self._tools.cluster, observer.discovery, kinds)
        applied = records.before(self._source.applied(ledger.entries.values()), wanted, self._take_over)
        now = self._tools.clock()
        return Situation(
            desired=desired,
            live=live,
            applied=applied.bodies,
            ledger=ledger,
            policy=self._describer.policy,
            health=self._tools.health,
            rules=self._rules,
            now=now,
            lost=applied.missing,
            spans=spans_of(self._rules.windows, now),
            neighbours=neighbours,
        )


@dataclass(frozen=True)
class _Look:
    """What one look gave; ``ledger`` with a crashed tick's intent told apart and the commit taken up."""

    desired: Desired
    live: Live
    ledger: Ledger
    observer: Observer
    situation: Situation
    former: tuple[Ledger, ...]

    @property
    def followed(self) -> frozenset[str]:
        """Field managers whose fields are the set's own."""
        return all_followed(self.situation)
