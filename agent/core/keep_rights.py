"""The promise's invariants about rights: of running pods, and of everybody else whom bindings name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from agent.core.few import few
from agent.core.invariant import Invariant, Judgement
from agent.core.model import ObjectId
from agent.core.rbac import Key, Right, Subject, lost, service_account
from agent.core.states import NAMESPACE, POD, Account, Move, State, uid_of
from agent.core.uses import account_of, has_token, runs, template_of

_MANY: Final = 5


class Runner(NamedTuple):
    """A running pod: what it is held to, and what it had once and is without for now."""

    uid: str
    had: frozenset[Right]
    is_old: bool
    missing: frozenset[Right] = frozenset()


class PodsKeepTheirRights(Invariant):
    """A running pod keeps every right that it had, unless its own release gives the right up.

    Pods of a template that ran in the first state are held to what their ServiceAccount had then, and where
    the new release keeps that template, to less what it gives up. Pods that came later are held to what
    the new release gives them, or, where nobody announced it, to what they get back later (the time between
    was a gap). A pod whose end is decided, by its own deletion or its namespace's, is held to nothing.
    """

    name = "rights of a running pod"

    def start(self, state: State) -> None:
        """The templates that run now are the old ones."""
        self._runners: dict[ObjectId, Runner] = {}
        self._at_start: dict[Account, frozenset[Right]] = {}
        self._old: dict[str, bool] = {}
        for pod in state.pods():
            body = state.get(pod) or {}
            account = (pod.namespace, account_of(body))
            # A pod that is going does not make its template an old one: a revert brings that up anew.
            self._old[template_of(body)] = not state.is_going(pod) or self._old.get(template_of(body), False)
            self._at_start[account] = state.rights_of(*account)
        for pod in state.pods():
            list(self._look(pod, state))

    def judge(self, move: Move, state: State) -> Iterator[Judgement]:
        """The pod that was written, pods whose rights may have changed, pods of a namespace that goes."""
        event = move.event
        pods = set(state.pods_with(move.keys)) if move.keys else set()
        if event.id.group_kind == POD:
            pods.add(event.id)
        elif event.id.group_kind == NAMESPACE:
            pods.update(state.pods_in(event.id.name))
        for pod in sorted(pods):
            yield from self._look(pod, state)

    def _look(self, pod: ObjectId, state: State) -> Iterator[Judgement]:
        body = state.get(pod)
        known = self._runners.get(pod)
        if known is not None and (body is None or uid_of(body) != known.uid):
            del self._runners[pod]
            yield Judgement(str(pod), "")
            known = None
        if body is None or not has_token(body):
            return
        if not runs(body) or state.is_going(pod):
            yield Judgement(str(pod), "")
            return
        account = (pod.namespace, account_of(body))
        now = state.rights_of(*account)
        if known is None:
            is_old = self._old.get(template_of(body), False)
            known = Runner(uid_of(body), self._at_start.get(account, now) if is_old else now, is_old)
            self._runners[pod] = known
        if known.had is not now:
            yield self._compare(pod, known, now, state)

    def _compare(self, pod: ObjectId, known: Runner, now: frozenset[Right], state: State) -> Judgement:
        body = state.get(pod) or {}
        subject = service_account(pod.namespace, account_of(body))
        terms = self.court.terms
        missing = lost(known.had, now)
        if known.is_old:
            if state.workload_of(pod) in terms.unchanged:
                missing = frozenset(right for right in missing if not terms.gives_up(subject, right))
            return Judgement(str(pod), _loss(subject, missing))
        regained = known.missing - missing
        self._runners[pod] = known._replace(had=known.had | now, missing=missing)
        if terms.is_announced:
            return Judgement(
                str(pod), _loss(subject, frozenset(r for r in missing if terms.gives(subject, r)))
            )
        return Judgement(str(pod), _gap(subject, regained), lasts=False)


class CallersKeepTheirRights(Invariant):
    """Users, groups and ServiceAccounts without pods keep what both releases give them.

    Nothing shows whether they are at work (people, controllers outside, tokens taken elsewhere), so a
    right that goes and comes back was a gap: a role or binding deleted and made anew.
    """

    name = "rights of a caller"

    def start(self, state: State) -> None:
        """Whoever is bound now is held to what the bindings give now."""
        keys = state.rights.keys()
        self._had: dict[Key, frozenset[Right]] = {key: state.rights.rights_of(_bare(key)) for key in keys}
        self._missing: dict[Key, frozenset[Right]] = {}

    def renew(self, state: State) -> None:
        """Whoever lacks a right now is held to it no more."""
        for key, had in self._had.items():
            self._had[key] = had - lost(had, state.rights.rights_of(_bare(key)))
        self._missing = {}

    def judge(self, move: Move, state: State) -> Iterator[Judgement]:
        """Those whose rights may have changed, unless their pods are asked."""
        for key in sorted(move.keys & self._had.keys()):
            if state.pods_with(frozenset({key})) and key[0] == "User":
                continue
            subject = _bare(key)
            missing = lost(self._had[key], state.rights.rights_of(subject))
            regained = self._missing.get(key, frozenset()) - missing
            self._missing[key] = missing
            told = " ".join(key)
            if self.court.terms.is_announced:
                needed = frozenset(r for r in missing if self.court.terms.gives(subject, r))
                yield Judgement(told, _loss(subject, needed))
            else:
                yield Judgement(told, _gap(subject, regained), lasts=False)


def _bare(key: Key) -> Subject:
    kind, name = key
    return Subject(name) if kind == "User" else Subject("", frozenset({name}))


def _loss(subject: Subject, missing: frozenset[Right]) -> str:
    return f"{_who(subject)} has lost {_told(missing)}" if missing else ""


def _gap(subject: Subject, regained: frozenset[Right]) -> str:
    return f"{_who(subject)} was without {_told(regained)} for a while" if regained else ""


def _who(subject: Subject) -> str:
    return subject.user or ", ".join(sorted(subject.groups))


def _told(rights: frozenset[Right]) -> str:
    return few(sorted(map(str, rights)), _MANY)
