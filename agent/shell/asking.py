"""Answers the plan's questions at the cluster; what could not be asked is UNKNOWN, never a yes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from agent.core.model import GroupKind, LiveObject, ObjectId
from agent.core.policy import id_of
from agent.core.steps import (
    Access,
    Answer,
    Answers,
    DryRun,
    GateState,
    NamespaceContents,
    Plan,
    Question,
    Request,
    Trust,
)
from agent.errors import ClusterError, Conflict, Forbidden, Invalid, Rejected
from agent.shell.cluster import Cluster, Resource
from agent.shell.observe import WORKERS, Observer

_FOUND: Final = 200


@dataclass(frozen=True)
class Asker:
    """Asks for one set. ``rights`` remembers allowed accesses of this generation between ticks."""

    cluster: Cluster
    observer: Observer
    manager: str
    take_over: frozenset[str] = frozenset()
    rights: dict[Access, Answer] = field(default_factory=dict)

    def answer(self, plan: Plan) -> Answers:
        """An answer to every question of ``plan``."""
        questions = tuple(plan.questions)
        with ThreadPoolExecutor(WORKERS) as pool:
            return dict(zip(questions, pool.map(lambda q: self._answer(q, plan), questions), strict=True))

    def _answer(self, question: Question, plan: Plan) -> Answer:
        try:
            match question:
                case DryRun():
                    return self._dry_run(question, plan)
                case Access():
                    return self._access(question)
                case Request():
                    return self._request(question)
                case Trust():
                    return self._trust(question)
                case NamespaceContents():
                    return self._contents(question)
        except ClusterError as error:
            return Answer(GateState.UNKNOWN, str(error))

    def _dry_run(self, question: DryRun, plan: Plan) -> Answer:
        resource = self.observer.discovery.resources.get(question.id.group_kind)
        if resource is None:
            return Answer(GateState.UNKNOWN, f"{question.id.group_kind} is not served")
        body = plan.requests[question]
        try:
            result = self.cluster.dry_run(resource, body, manager=self.manager)
        except Conflict as conflict:
            if not conflict.managers or not set(conflict.managers) <= self.take_over:
                return Answer(GateState.HELD, str(conflict), conflict=", ".join(conflict.managers))
            result = self.cluster.dry_run(resource, body, manager=self.manager, take_over=True)
        except Invalid as invalid:
            return Answer(GateState.HELD, str(invalid), immutable=invalid.is_immutable)
        except Forbidden as forbidden:
            return Answer(GateState.HELD, str(forbidden))
        except Rejected as rejected:
            state = GateState.UNKNOWN if rejected.is_unanswered else GateState.HELD
            return Answer(state, str(rejected))
        return Answer(GateState.OPEN, body=result)

    def _access(self, question: Access) -> Answer:
        if question in self.rights:
            return self.rights[question]
        kind = GroupKind(question.group, question.kind)
        resource = self.observer.discovery.resources.get(kind)
        if resource is None:
            # A kind that is not served yet is held by its own gate; its rights are asked when it is.
            return Answer(GateState.OPEN, f"{kind} is not served yet")
        denied = self.cluster.can(question.verb, resource, question.namespace, question.name)
        if denied:
            return Answer(GateState.HELD, denied)
        self.rights[question] = Answer(GateState.OPEN)
        return self.rights[question]

    def _request(self, question: Request) -> Answer:
        resource = self.observer.discovery.resources[question.pointer.group_kind]
        pointer = self.cluster.get(resource, question.pointer)
        if pointer is None:
            return Answer(GateState.HELD, f"{question.pointer} is gone")
        path = self.observer.policy.request_of(pointer)
        status = self.cluster.read(path)
        state = GateState.OPEN if status == _FOUND else GateState.HELD
        return Answer(state, f"GET {path} answers {status}")

    def _trust(self, question: Trust) -> Answer:
        trouble = self.cluster.verify_serving(*question)
        return Answer(GateState.HELD if trouble else GateState.OPEN, trouble)

    def _contents(self, question: NamespaceContents) -> Answer:
        failed = self.observer.discovery.failed
        if failed:
            return Answer(GateState.UNKNOWN, f"discovery of {', '.join(sorted(failed))} failed")
        listable = [
            resource
            for resource in self.observer.discovery.resources.values()
            if resource.is_namespaced and "list" in resource.verbs
        ]
        with ThreadPoolExecutor(WORKERS) as pool:
            found = pool.map(lambda r: self._others(r, question.namespace), listable)
            return Answer(GateState.OPEN, ids=tuple(key for keys in found for key in keys))

    def _others(self, resource: Resource, namespace: str) -> list[ObjectId]:
        """What stands in the namespace that is neither owned nor made in every namespace.

        What carries the set's label counts too: members that leave have gone before the namespace is asked
        about, so it is wanted by this revision, or was made anew by somebody else.
        """
        others = []
        for body in self.cluster.list_metadata(resource, namespace).items:
            obj = LiveObject(id_of(body), body)
            is_owned = bool(obj.metadata.get("ownerReferences"))
            if not (is_owned or self.observer.policy.is_incidental(obj.id)):
                others.append(obj.id)
        return others
