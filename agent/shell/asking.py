"""Answers the plan's questions at the cluster; what could not be asked is UNKNOWN, never a yes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
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
from agent.core.model import Body, GroupKind, LiveObject, ObjectId
from agent.core.policy import id_of
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
    Trust,
)
from agent.errors import ClusterError, Conflict
from agent.shell.cluster import Cluster, Resource
from agent.shell.observe import WORKERS, Observer
from agent.shell.trials import Trials

_LINES: Final = 5
"""So much of a log is read: a gate tells why, the rest is for kubectl logs."""


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
                case Request() | Admits() | Trust() | Log():
                    return self._through(question)
                case NamespaceContents() | KindContents():
                    return self._contents(question)
        except ClusterError as error:
            return Answer(GateState.UNKNOWN, str(error))

    def _through(self, question: Request | Admits | Trust | Log) -> Answer:
        """What the backend of a pointer says."""
        match question:
            case Request():
                return self._request(question)
            case Admits():
                return Trials(self.cluster, self.observer.discovery, self.manager).answer(question)
            case Trust():
                return self._trust(question)
            case Log():
                return Answer(GateState.OPEN, self.cluster.log(question.pod, _LINES))

    def _dry_run(self, question: DryRun, plan: Plan) -> Answer:
        resource = self.observer.discovery.resources.get(question.id.group_kind)
        if resource is None:
            return Answer(GateState.UNKNOWN, f"{question.id.group_kind} is not served")
        try:
            result = self._tried(resource, plan.requests[question])
        except ClusterError as error:
            return refused_dry_run(error)
        return Answer(GateState.OPEN, body=result)

    def _tried(self, resource: Resource, body: Body) -> Body:
        try:
            return self.cluster.dry_run(resource, body, manager=self.manager)
        except Conflict as conflict:
            if not conflict.managers or not set(conflict.managers) <= self.take_over:
                raise
            return self.cluster.dry_run(resource, body, manager=self.manager, take_over=True)

    def _access(self, question: Access) -> Answer:
        if question in self.rights:
            return self.rights[question]
        kind = GroupKind(question.group, question.kind)
        resource = self.observer.discovery.resources.get(kind)
        if resource is None:
            return not_served_yet(kind)
        denied = self.cluster.can(question.verb, resource, question.namespace, question.name)
        if denied:
            return Answer(GateState.HELD, denied)
        self.rights[question] = Answer(GateState.OPEN)
        return self.rights[question]

    def _request(self, question: Request) -> Answer:
        resource = self.observer.discovery.resources[question.pointer.group_kind]
        pointer = self.cluster.get(resource, question.pointer)
        if pointer is None:
            return pointer_gone(question.pointer)
        path = self.observer.policy.request_of(pointer)
        return read_answer(path, self.cluster.read(path))

    def _trust(self, question: Trust) -> Answer:
        return trust_answer(self.cluster.verify_serving(*question))

    def _contents(self, question: NamespaceContents | KindContents) -> Answer:
        if isinstance(question, KindContents):
            return self._objects(question)
        failed = self.observer.discovery.failed
        if failed:
            return discovery_failed(failed)
        listable = [
            resource
            for resource in self.observer.discovery.resources.values()
            if resource.is_namespaced and "list" in resource.verbs
        ]
        with ThreadPoolExecutor(WORKERS) as pool:
            found = pool.map(lambda r: self._others(r, question.namespace), listable)
            return Answer(GateState.OPEN, ids=tuple(key for keys in found for key in keys))

    def _objects(self, question: KindContents) -> Answer:
        resource = self.observer.discovery.resources.get(question.kind)
        if resource is None:
            return Answer(GateState.UNKNOWN, f"{question.kind} is not served")
        items = self.cluster.list_metadata(resource).items
        return Answer(GateState.OPEN, ids=tuple(id_of(body) for body in items))

    def _others(self, resource: Resource, namespace: str) -> list[ObjectId]:
        """What stands in the namespace and keeps it."""
        items = self.cluster.list_metadata(resource, namespace).items
        found = (LiveObject(id_of(body), body) for body in items)
        served = self.observer.discovery.resources
        namespaced = {kind for kind, how in served.items() if how.is_namespaced}
        return [obj.id for obj in found if counts_as_content(obj, self.observer.policy, namespaced)]
