"""Takes a release that others installed into a set, and gives it back."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent.core.acts import Act, ActKind, with_act
from agent.core.adoption import Adoptee, adoptable, adoptees, adoption, given_back
from agent.core.intents import Outcome
from agent.core.ledger import GenerationState, How
from agent.core.model import ObjectId
from agent.core.situation import Situation
from agent.core.steps import Plan
from agent.errors import ConfigError
from agent.shell.deciding import who_decides
from agent.shell.execute import Book, Executor
from agent.shell.observe import Observer
from agent.shell.tick import Syncer, Tools


@dataclass(frozen=True)
class Adopter:
    """Adopts for one set; ``syncer`` looks at the revision that is to be adopted.

    Raises SourceError, LedgerError, ClusterError, and ConfigError where there is nothing to adopt or to undo.
    """

    tools: Tools
    syncer: Syncer
    set_name: str
    manager: str

    def compared(self) -> tuple[Situation, Plan, tuple[Adoptee, ...]]:
        """How the cluster compares with the revision; nothing is written."""
        stored, _ = self.tools.store.load(self.set_name)
        situation, plan = self.syncer.considered()
        if stored.newest is not None or situation.ledger.acts[len(stored.acts) :]:
            raise ConfigError(
                f"set {self.set_name} was synced or adopted already; `trapeze history` tells when"
            )
        return situation, plan, adoptees(situation, plan)

    def adopt(self) -> tuple[tuple[Adoptee, ...], list[Outcome]]:
        """Take over what matches."""
        situation, plan, found = self.compared()
        revision, now = situation.desired.revision, self.tools.clock()
        who, generation = who_decides(self.tools.cluster), plan.generation
        act = Act(ActKind.ADOPT, who, now, revision=revision, generation=generation)
        book = self._book()
        book.write(replace(situation.ledger, acts=with_act(situation.ledger.acts, act)))
        return found, self._executor(book, How.ADOPTED).add(plan, adoptable(plan, found))

    def undo(self) -> tuple[tuple[ObjectId, ...], list[Outcome]]:
        """Give back what was adopted and not written since; the members that stay, and what was done."""
        book = self._book()
        if adoption(book.ledger) is None:
            raise ConfigError(f"set {self.set_name} has adopted nothing that could be given back")
        situation, plan = self.syncer.considered()
        steps, kept = given_back(book.ledger, situation.live)
        outcomes = [self._executor(book, How.MADE).take(plan, step) for step in steps]
        now = self.tools.clock()
        acts = with_act(book.ledger.acts, Act(ActKind.UNADOPT, who_decides(self.tools.cluster), now))
        generations = book.ledger.generations
        if not book.ledger.entries:
            generations = tuple(replace(g, state=GenerationState.ABSENT, since=now) for g in generations)
        book.write(replace(book.ledger, acts=acts, generations=generations, holds={}))
        return kept, outcomes

    def _book(self) -> Book:
        return Book(self.tools.store, *self.tools.store.load(self.set_name))

    def _executor(self, book: Book, how: How) -> Executor:
        observer = Observer(self.tools.cluster, self.tools.policy, self.tools.cluster.discover())
        return Executor(observer, book, self.manager, frozenset(), self.tools.clock, how)
