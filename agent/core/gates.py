"""The gates of every step: what must be seen before it, judged on one situation.

Each rule is one function that answers one Gate with numbers in its reason. An error, a kind that cannot be
read or an answer that is missing is never OPEN.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from agent.core.absence import EVIDENCE
from agent.core.backend import backend, wanted_behind
from agent.core.classify import Facet, FacetKind, Pointer, Target, pointers_of
from agent.core.evidence import ending, missing, unready
from agent.core.external import external_name, named_service
from agent.core.few import SHOWN, few
from agent.core.idle import idle_wants, old_pods_served, old_pods_using, users_of_role, users_of_subject
from agent.core.model import Body, GroupKind, LiveObject, ObjectId
from agent.core.policy import group_kind
from agent.core.references import pod_template
from agent.core.relabel import left_behind
from agent.core.situation import Foreign, Situation, is_listed
from agent.core.steps import Admits, Gate, GateState, Question, Request
from agent.core.trust import question_of, reachable, trusted

EVERYTHING: Final = "*"
"""Among what may be pruned: the whole set, by a source without an object."""

_ACCOUNT: Final = GroupKind("", "ServiceAccount")


def opened(name: str, wants: str, reason: str) -> Gate:
    """A gate that is open, with what was seen."""
    return Gate(name, wants, GateState.OPEN, reason)


def gate(name: str, wants: str, troubles: Iterable[str], seen: str) -> Gate:
    """Held by the first few of ``troubles``, open with ``seen`` where there is none."""
    listed = list(dict.fromkeys(troubles))
    if not listed:
        return opened(name, wants, seen)
    return Gate(name, wants, GateState.HELD, few(listed))


def asked_through(situation: Situation, pointer: LiveObject) -> Iterator[Question]:
    """What is asked of a pointer that has moved: real requests through it, by its row of the table."""
    if situation.policy.request_of(pointer.body):
        yield Request(pointer.id)
    if any(placed.row.admits for placed in situation.policy.of(pointer.id.group_kind).pointers):
        yield Admits(pointer.id)


@dataclass(frozen=True)
class Gates:
    """Judges gates of one situation.

    ``pending`` maps objects to the additive step that they still wait for, ``moving`` pointers to theirs;
    ``leaving`` are the objects that this plan deletes.
    """

    situation: Situation
    pending: Mapping[ObjectId, str]
    moving: Mapping[ObjectId, str]
    leaving: frozenset[ObjectId]

    # What the whole handoff waits for.

    @cached_property
    def handover(self) -> tuple[Gate, ...]:
        """What must hold before anything of the old generation goes."""
        return (self.complete(), self.in_place(), self.ready(), self.settled())

    @property
    def taking(self) -> tuple[Gate, ...]:
        """What every step waits for that takes something away."""
        return (*self.handover, *self.known())

    def known(self) -> tuple[Gate, ...]:
        """A closed gate where a kind cannot be read that tells what serves and what is used, or none."""
        unknown = self.situation.live.unknown
        makers = {group_kind(row.kind[0]) for row in self.situation.policy.tables.pod_templates}
        why = [f"{kind}: {unknown[kind]}" for kind in sorted({*EVIDENCE, *makers} & unknown.keys())]
        wants = "what serves and what is used can be read"
        return (Gate("known", wants, GateState.UNKNOWN, "; ".join(why[:SHOWN])),) if why else ()

    def complete(self) -> Gate:
        """The source is whole: what could not be read cannot be missed."""
        desired = self.situation.desired
        errors = [str(f) for f in desired.findings if not desired.is_complete]
        members = len(self.situation.ledger.entries)
        if members and not desired.manifests and EVERYTHING not in self.situation.rules.allow:
            errors.append(
                f"the source has 0 objects at {desired.revision}, {members} are in the ledger; "
                f"if all shall go: prune: {{allow: ['{EVERYTHING}']}}"
            )
        return gate("complete", "every document of the source is read", errors, "the source is whole")

    def in_place(self) -> Gate:
        """Everything that is added stands."""
        wants = "everything new is in place"
        return gate("standing", wants, (f"{v} is pending" for v in self.pending.values()), wants)

    def ready(self) -> Gate:
        """Every desired object is there, and Current by its readiness rule."""
        wants = "every object of the new generation is ready"
        unknown = self.situation.live.why_unknown({key.group_kind for key in missing(self.situation)})
        if unknown:
            return Gate("ready", wants, GateState.UNKNOWN, unknown)
        return gate("ready", wants, unready(self.situation), wants)

    def settled(self) -> Gate:
        """Every pointer that moved still serves, and has done so for the settle time."""
        settle = self.situation.rules.settle
        wants = f"every cutover is seen good for {settle:g} s"
        return gate("settled", wants, self._unsettled(), wants)

    def _unsettled(self) -> Iterator[str]:
        yield from (f"{step} is pending" for step in self.moving.values())
        for key, entry in sorted(self.situation.ledger.entries.items()):
            obj = self.situation.live.get(key)
            if entry.cutover_at == 0 or obj is None or key not in self.situation.desired.manifests:
                continue
            age = self.situation.now - entry.cutover_at
            if len(entry.bases) > 1 and age < self.situation.rules.settle:
                yield f"{key} moved less than {self.situation.rules.settle:g} s ago"
            for pointer in self.serving_pointers(obj.body):
                seen = backend(self.situation, pointer.target)
                if seen.state is not GateState.OPEN and not seen.is_at_rest:
                    yield f"{key} at {pointer.target}: {seen.reason}"
            for question in asked_through(self.situation, obj):
                answer = self.situation.answers.get(question)
                if answer is None or answer.state is not GateState.OPEN:
                    yield f"{key}: {answer.reason if answer else 'not asked yet'}"

    def questions(self) -> Iterator[Question]:
        """The requests through moved pointers that the settled gate wants answered."""
        for key, entry in self.situation.ledger.entries.items():
            obj = self.situation.live.get(key)
            if entry.cutover_at and obj is not None:
                yield from asked_through(self.situation, obj)

    def trust_questions(self, key: ObjectId, facets: Iterable[Facet]) -> Iterator[Question]:
        """The certificates that a pointer is about to rely on, once their servers serve."""
        for facet in facets:
            if facet.kind is FacetKind.POINTS and facet.new is not None and self.serves(facet.new).is_open:
                question = question_of(self.situation, key, facet)
                if question is not None:
                    yield question

    # What one step waits for.

    def cutover(self, key: ObjectId, facets: Iterable[Facet]) -> tuple[Gate, ...]:
        """What a pointer waits for before it moves."""
        moves = [facet for facet in facets if facet.kind is FacetKind.POINTS]
        # What points at nothing yet leaves nobody: a source with a hole in it does not matter.
        leaves = not moves or any(facet.old is not None or facet.new is None for facet in moves)
        gates = [*([self.complete()] if leaves else []), *self.known()]
        for facet in moves:
            if facet.new is not None:
                gates += [self.serves(facet.new, is_used=self.is_used(key, facet)), self.granted(facet.new)]
                port = reachable(self.situation, key, facet.path, facet.new)
                certificate = trusted(self.situation, key, facet)
                gates += [found for found in (port, certificate) if found]
                entry = self.situation.ledger.entries.get(key)
                if entry is not None and entry.points_back:
                    gates.append(self.stable(entry.points_back, facet.new))
        return tuple(gates)

    def is_used(self, key: ObjectId, facet: Facet | None = None) -> bool:
        """Whether something answers behind the pointer now, or the API server will ask it at once."""
        if any(placed.row.trust for placed in self.situation.policy.of(key.group_kind).pointers):
            return True
        old = facet.old if facet else None
        return old is not None and backend(self.situation, old).ready > 0

    def narrow(self, key: ObjectId, facets: tuple[Facet, ...]) -> tuple[Gate, ...]:
        """What a shared list or a part waits for before something is taken away."""
        foreign = self.foreign(facets)
        return (*self.taking, self.idle(key, facets), *((foreign,) if foreign else ()))

    def selected(self, key: ObjectId) -> tuple[Gate, ...]:
        """What an additive change waits for: Services that select its labels, the one that it names."""
        live, manifest = self.situation.live.get(key), self.situation.desired.manifests[key]
        name = external_name(manifest.body)
        named = named_service(name)
        if live is not None and named is not None and name != external_name(live.body):
            return (self.serves(named), self.granted(named))
        if live is None or is_listed(key, self.situation.rules.allow_downtime):
            return ()
        lost = dict(left_behind(self.situation, live, manifest.body))
        way_out = f"give it a new name in Git, or allow the gap by allow_downtime: [{key}]"
        wants = "no Service loses its pods by their new labels"
        troubles = (
            f"{why}; {f'{name} goes first' if name in self.leaving else way_out}"
            for name, why in lost.items()
        )
        return (gate("selected", wants, troubles, wants),) if lost else ()

    def serving_pointers(self, body: Body) -> tuple[Pointer, ...]:
        """The pointers of an object that lead to Services."""
        pointers = pointers_of(body, self.situation.policy)
        return tuple(p for p in pointers if p.target.is_service)

    def serves(self, target: Target, *, is_used: bool = True) -> Gate:
        """The target serves with the capacity it must carry, or Git wants none there and none is used."""
        seen = backend(self.situation, target)
        wants = f"{wanted_behind(self.situation, target)} of {target} ready"
        if seen.is_at_rest and not is_used:
            return opened("serves", wants, f"{target}: {seen.reason}")
        return Gate("serves", wants, seen.state, f"{target}: {seen.reason}")

    def granted(self, target: Target) -> Gate:
        """Everything that serves behind the target is in place: rights, configuration, the Service."""
        root = target.id
        behind = self.situation.next_graph.closure(root) | {root} if root else self._behind_pods(target)
        waiting = [f"{self.pending[key]} is pending" for key in sorted(behind & self.pending.keys())]
        live = self.situation.live
        stays = (key for key in sorted(behind - self.leaving) if not self._makes_pods(key))
        waiting += [why for key in stays if (why := ending(live, key))]
        wants = f"all that {target} needs is in place"
        return gate("granted", wants, waiting, wants)

    def _behind_pods(self, target: Target) -> frozenset[ObjectId]:
        graph = self.situation.next_graph
        workloads = self.situation.workloads.selected(target.namespace, dict(target.selector))
        behind = {key for workload in workloads for key in graph.closure(workload.id)}
        return frozenset(behind | {workload.id for workload in workloads})

    def stable(self, backs: int, target: Target) -> Gate:
        """After each point back the target must serve for twice as long, so that nothing flaps."""
        needed = self.situation.rules.settle * 2 ** (backs - 1)
        age = self.situation.now - backend(self.situation, target).since
        wants = f"{target} ready for {needed:g} s, since it was lost {backs} times"
        return gate(
            "stable",
            wants,
            [f"{target} is ready again, not for long enough yet"] if age < needed else [],
            wants,
        )

    def idle(self, key: ObjectId, facets: tuple[Facet, ...]) -> Gate:
        """Nothing in service uses what the facets take away."""
        wants = idle_wants(facets)
        users = (user for facet in facets for user in self._users_of_facet(key, facet))
        return self.unused(key, wants, users)

    def unused(self, key: ObjectId, wants: str, users: Iterable[str]) -> Gate:
        """Open without users, unknown where a kind that could tell of one was not read."""
        naming = self.situation.policy.naming
        unknown = self.situation.live.why_unknown(naming(_ACCOUNT) | naming(key.group_kind))
        if unknown:
            return Gate("idle", wants, GateState.UNKNOWN, unknown)
        return gate("idle", wants, self.traced(users), wants)

    def _users_of_facet(self, key: ObjectId, facet: Facet) -> Iterator[str]:
        subjects = [e for e in facet.removed if isinstance(e, dict) and {"kind", "name"} <= e.keys()]
        for subject in subjects:
            yield from users_of_subject(self.situation, subject, key.namespace)
        if facet.kind is FacetKind.UNION and not subjects:
            yield from users_of_role(self.situation, key)
            yield from old_pods_served(self.situation, key, facet.removed)
        if facet.kind is FacetKind.PART:
            yield from old_pods_using(self.situation, key)

    def traced(self, users: Iterable[str]) -> Iterator[str]:
        """Users without a trace hold until every other thing that leaves has gone."""
        for user in users:
            if not user.endswith("(leaves no trace)"):
                yield user
            elif self._leaving_workloads:
                yield f"{user}; waits for {self._leaving_workloads[0]} to go"

    @cached_property
    def _leaving_workloads(self) -> tuple[ObjectId, ...]:
        return tuple(key for key in sorted(self.leaving) if self._makes_pods(key))

    def _makes_pods(self, key: ObjectId) -> bool:
        obj = self.situation.live.get(key)
        return obj is not None and pod_template(obj.body, self.situation.policy) is not None

    def foreign(self, facets: Iterable[Facet]) -> Gate | None:
        """Entries that no Git version had belong to somebody else."""
        entries = [entry for facet in facets for entry in facet.foreign]
        if not entries or self.situation.rules.foreign is not Foreign.HOLD:
            return None
        reason = (
            f"{len(entries)} entries that Git never had, e.g. {entries[0]}; say foreign_entries: keep or drop"
        )
        return Gate("foreign", "only entries that Git had are taken away", GateState.HELD, reason)
