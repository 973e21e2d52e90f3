"""The main job on the embedded cluster: releases as texts, a syncer, virtual time.

``Job.release({...})`` commits files, ``Job.run()`` ticks until the set is in service, one second a tick, and
answers what was written. A wrapped cluster (``Job(wrap=...)``) can count, refuse or crash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agent.core import deciding
from agent.core.acts import Act
from agent.core.health import HealthRules
from agent.core.intents import Outcome
from agent.core.kinds import Kinds
from agent.core.ledger import Entry, Ledger
from agent.core.levers import binding_of
from agent.core.manifests import load
from agent.core.model import Body, Desired, GroupKind, ObjectId
from agent.core.orders import Order
from agent.core.situation import Rules
from agent.core.steps import Plan
from agent.core.yamlread import read_documents
from agent.errors import SourceError
from agent.shell.cluster import Cluster
from agent.shell.deciding import Decider
from agent.shell.embedded import EmbeddedCluster
from agent.shell.policies import load_policy, shipped_tables
from agent.shell.report import Report, State
from agent.shell.source import Applied
from agent.shell.store import LedgerStore
from agent.shell.tick import Syncer, Tools

SET = "shop"
MANAGER = f"trapeze/{SET}"
TABLES = shipped_tables()
POLICY = load_policy()
HEALTH = HealthRules.parse(TABLES)
KINDS = Kinds.from_table(dict(TABLES)["kinds.yaml"])

Files = Mapping[str, str]


@dataclass
class MemoryGit:
    """A set's source over commits that are dictionaries of files."""

    commits: dict[str, Files] = field(default_factory=dict)
    head: str = ""
    kept: frozenset[str] = frozenset()
    kinds: Kinds = KINDS
    unreadable: set[str] = field(default_factory=set)

    def commit(self, files: Files) -> str:
        """Commit ``files`` and answer the commit."""
        self.head = f"{len(self.commits) + 1:040x}"
        self.commits[self.head] = files
        return self.head

    def resolve(self, pin: str = "") -> str:
        """The newest commit, or the one that the set is pinned to."""
        return pin or self.head

    def desired(self, commit: str, kinds: Kinds) -> Desired:
        """The manifests at ``commit``."""
        self.kinds = kinds
        if commit in self.unreadable or commit not in self.commits:
            raise SourceError(f"the path does not exist at {commit}")
        readings = {name: read_documents(text.encode(), name) for name, text in self.commits[commit].items()}
        return load(readings, kinds, set_name=SET, revision=commit, namespace="default")

    def has(self, commit: str) -> bool:
        """Whether the commit was not forgotten."""
        return commit in self.commits

    def applied(self, entries: Iterable[Entry]) -> Applied:
        """What the entries' bases wanted."""
        bodies: dict[ObjectId, tuple[Body, ...]] = {}
        lost = []
        for entry in entries:
            found = []
            for base in entry.bases:
                if not self.has(base.commit) or base.commit in self.unreadable:
                    lost.append(f"{base.commit} is gone")
                    continue
                manifest = self.desired(base.commit, self.kinds).manifests.get(entry.id)
                found += [manifest.body] if manifest else []
            bodies[entry.id] = tuple(found)
        return Applied(bodies, tuple(lost))

    def keep(self, commits: Iterable[str]) -> None:
        """Remember what is to be kept."""
        self.kept = frozenset(commits)


class Job:
    """One set, one embedded cluster. ``rules`` change what the configuration would say."""

    def __init__(
        self,
        *,
        wrap: Callable[[EmbeddedCluster], Cluster] = lambda cluster: cluster,
        take_over: frozenset[str] = frozenset(),
        **rules: Any,
    ) -> None:
        self.world = EmbeddedCluster(start=1_700_000_000)
        self.cluster = wrap(self.world)
        self.git = MemoryGit()
        self.rules = replace(Rules(manager=MANAGER, settle=3.0), **rules)
        self.take_over = take_over
        self.written: list[str] = []
        self.restart()

    def restart(self) -> None:
        """A new process: everything that is remembered is gone."""
        self.store = LedgerStore(self.cluster, "trapeze-system")
        self.tools = Tools(self.cluster, self.store, POLICY, HEALTH, KINDS, self.world.now)
        self.syncer = Syncer(
            self.tools,
            self.git,
            self.rules,
            set_name=SET,
            take_over=self.take_over,
            told=self._note,
        )

    def _note(self, outcome: Outcome) -> None:
        if not outcome.error:
            self.written.append(outcome.step.key)

    def release(self, *texts: str) -> str:
        """Commit documents, a file each."""
        return self.git.commit({f"{number}.yaml": text for number, text in enumerate(texts, 1)})

    def plan(self) -> Plan:
        """The plan now."""
        return self.syncer.plan()

    def tick(self, order: Order = Order.GATED) -> Report:
        """One tick, and a second that passes."""
        report = self.syncer.tick(order)
        self.world.advance(1)
        return report

    def run(self, ticks: int = 60, order: Order = Order.GATED) -> list[str]:
        """Tick until in service; the keys of the steps written, in order. Fails when it never is."""
        before = len(self.written)
        for _ in range(ticks):
            report = self.tick(order)
            if report.state is State.IN_SERVICE:
                return self.written[before:]
        held = [f"{step.key}: {[gate.reason for gate in step.closed_gates]}" for step in self.plan().steps]
        raise AssertionError("never in service: " + "; ".join(held))

    def hold(self, ticks: int = 20) -> Report:
        """Tick that often and answer the last report; fails when the set gets into service."""
        reports = [self.tick() for _ in range(ticks)]
        assert all(report.state is State.HELD for report in reports)
        return reports[-1]

    def decide(self, choose: Callable[[Ledger], Act]) -> Act:
        """What a person decides, as the command writes it."""
        return Decider(self.tools, SET).decide(choose)

    def approve(self, key: str) -> Act:
        """Approve the step of this key as it is planned now."""
        situation, plan = self.syncer.considered()
        binding = binding_of(situation, deciding.step_named(plan, key))
        return self.decide(lambda _: deciding.approve(plan, key, binding, "reviewed"))

    def override(self, key: str, gate: str = "") -> Act:
        """Override one gate of the step of this key as it is planned now."""
        situation, plan = self.syncer.considered()
        binding = binding_of(situation, deciding.step_named(plan, key))
        return self.decide(lambda _: deciding.override(plan, key, gate, binding, "known better"))

    def ledger(self) -> Ledger:
        """The ledger as stored."""
        return self.store.load(SET)[0]

    def get(self, kind: str, path: str) -> Body | None:
        """A live object by ``Kind`` or ``Kind.group`` and ``[namespace/]name``."""
        name, _, group = kind.partition(".")
        namespace, _, own = path.rpartition("/")
        resource = self.world.discover().resources[GroupKind(group, name)]
        return self.world.get(resource, ObjectId(group, name, namespace, own))

    def apply(self, body: Body, manager: str = "kubectl") -> Body:
        """Apply ``body`` as somebody else."""
        group, _, _ = str(body["apiVersion"]).rpartition("/")
        resource = self.world.discover().resources[GroupKind(group, str(body["kind"]))]
        return self.world.apply(resource, body, manager=manager, take_over=True)


def reasons(plan: Plan, key: str) -> str:
    """Why the step waits; fails when the plan has no such step."""
    found = [step for step in plan.steps if step.key == key]
    assert found, f"no step {key} in {[step.key for step in plan.steps]}"
    return "; ".join(f"{gate.name}: {gate.reason}" for gate in found[0].closed_gates)
