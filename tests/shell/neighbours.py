"""Several sets on one embedded cluster: each with releases of its own, ticked in turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from agent.core.intents import Outcome
from agent.core.kinds import Kinds
from agent.core.ledger import Ledger
from agent.core.model import Body, Desired, GroupKind, ObjectId
from agent.core.situation import Rules
from agent.core.steps import Plan
from agent.errors import ClusterError
from agent.shell.cluster import Cluster
from agent.shell.embedded import EmbeddedCluster
from agent.shell.report import Report, State
from agent.shell.set_source import AbsentSource, SetSource
from agent.shell.store import LedgerStore
from agent.shell.tick import Syncer, Tools
from tests.shell.job import HEALTH, KINDS, POLICY, MemoryGit


class NamedGit(MemoryGit):
    """A set's source that knows the set's name."""

    set_name: str = ""

    def desired(self, commit: str, kinds: Kinds) -> Desired:
        """The manifests at ``commit``."""
        return replace(super().desired(commit, kinds), set_name=self.set_name)


@dataclass
class Town:
    """Sets by name in the configuration's order; ``heard`` is called after each write."""

    world: EmbeddedCluster = field(default_factory=lambda: EmbeddedCluster(start=1_700_000_000))
    gits: dict[str, NamedGit] = field(default_factory=dict)
    rules: dict[str, Rules] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    wrap: Callable[[EmbeddedCluster], Cluster] = lambda cluster: cluster
    heard: Callable[[], object] = lambda: None

    def add(self, name: str, *texts: str, **rules: Any) -> Town:
        """A set of the configuration, after those that are there."""
        self.gits[name] = NamedGit()
        self.gits[name].set_name = name
        usual = Rules(f"trapeze/{name}", settle=2.0, allow=frozenset({"Namespace"}))
        self.rules[name] = replace(usual, **rules)
        self.release(name, *texts)
        return self

    def say(self, name: str, **rules: Any) -> None:
        """Change what the configuration says of a set."""
        self.rules[name] = replace(self.rules[name], **rules)

    def forget(self, name: str) -> None:
        """Take a set out of the configuration."""
        del self.gits[name], self.rules[name]

    def release(self, name: str, *texts: str) -> str:
        """Commit documents of a set, a file each."""
        return self.gits[name].commit({f"{number}.yaml": text for number, text in enumerate(texts, 1)})

    def source(self, name: str) -> SetSource:
        """What is asked of Git for the set."""
        return AbsentSource(name) if self.rules[name].is_absent else self.gits[name]

    def syncer(self, name: str) -> Syncer:
        """A new process for one set."""
        cluster = self.wrap(self.world)
        store = LedgerStore(cluster, "trapeze-system")
        sources = {one: self.source(one) for one in self.gits}
        tools = Tools(cluster, store, POLICY, HEALTH, KINDS, self.world.now, sources)
        rules = self.rules[name]
        if rules.is_absent:
            rules = replace(rules, allow=rules.allow | {"*"})
        return Syncer(tools, self.source(name), rules, set_name=name, told=self._note)

    def _note(self, outcome: Outcome) -> None:
        if not outcome.error:
            self.written.append(outcome.step.key)
            self.heard()

    def tick(self, name: str) -> Report:
        """One tick of one set in a process of its own, and a second that passes."""
        report = self.syncer(name).tick()
        self.world.advance(1)
        return report

    def run(self, *names: str, rounds: int = 40) -> list[str]:
        """Tick the sets in turn until all are at rest; what was written. Fails where they never are."""
        start = len(self.written)
        for _ in range(rounds):
            states, before = [], len(self.written)
            for name in names or tuple(self.gits):
                try:
                    states.append(self.tick(name).state)
                except ClusterError:
                    # The next tick looks again, as that of the schedule does.
                    states.append(State.HELD)
            if set(states) <= {State.IN_SERVICE, State.ABSENT} and len(self.written) == before:
                return self.written[start:]
        held = [
            f"{name}: {step.key}: {[gate.reason for gate in step.closed_gates]}"
            for name in names or self.gits
            for step in self.plan(name).steps
        ]
        raise AssertionError("never at rest: " + "; ".join(held))

    def plan(self, name: str) -> Plan:
        """The plan of a set now."""
        return self.syncer(name).plan()

    def ledger(self, name: str) -> Ledger:
        """A ledger as stored."""
        return LedgerStore(self.world, "trapeze-system").load(name)[0]

    def members(self, name: str) -> set[str]:
        """The names of what the set's ledger has."""
        return {key.name for key in self.ledger(name).entries}

    def get(self, kind: str, path: str) -> Body | None:
        """A live object by ``Kind`` or ``Kind.group`` and ``[namespace/]name``."""
        name, _, group = kind.partition(".")
        namespace, _, own = path.rpartition("/")
        resource = self.world.discover().resources[GroupKind(group, name)]
        return self.world.get(resource, ObjectId(group, name, namespace, own))

    def owner(self, kind: str, path: str) -> str:
        """The set whose label the object carries; fails where it does not stand."""
        body = self.get(kind, path)
        assert body is not None, f"{kind} {path} is gone"
        return str((body["metadata"].get("labels") or {}).get("trapeze.dev/set"))
