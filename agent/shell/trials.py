"""Asks the webhooks of a configuration through the API server: a dry run of an object of the set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agent.core.admits import Asked, admitted, as_trial, asked_about, decided, not_admitted
from agent.core.answering import pointer_gone
from agent.core.model import SET_LABEL, Body, GroupKind, LiveObject, ObjectId
from agent.core.policy import id_of
from agent.core.steps import Admits, Answer
from agent.errors import ClusterError
from agent.shell.cluster import Cluster, Discovery, Resource

_NAMESPACE = GroupKind("", "Namespace")


@dataclass(frozen=True)
class Trials:
    """Tries objects of one set, under its field manager."""

    cluster: Cluster
    discovery: Discovery
    manager: str

    def answer(self, question: Admits) -> Answer:
        """Whether the webhooks answer; the first that does not decides. Raises ClusterError."""
        resource = self.discovery.resources[question.pointer.group_kind]
        config = self.cluster.get(resource, question.pointer)
        if config is None:
            return pointer_gone(question.pointer)
        set_name = LiveObject(question.pointer, config).set_name
        return decided(self._asked(asked, set_name) for asked in asked_about(config))

    def _asked(self, asked: Asked, set_name: str) -> Answer | None:
        """What the first fitting object of the set comes to; None where there is none."""
        for resource, body in self._candidates(asked, set_name):
            trial = str(id_of(body))
            try:
                self.cluster.dry_run(resource, as_trial(body), manager=self.manager, take_over=True)
            except ClusterError as error:
                return not_admitted(asked.webhook, trial, error)
            return admitted(asked.webhook, trial)
        return None

    def _candidates(self, asked: Asked, set_name: str) -> Iterator[tuple[Resource, Body]]:
        for kind, resource in sorted(self.discovery.resources.items()):
            is_meant = asked.takes(kind.group, resource.plural, is_namespaced=resource.is_namespaced)
            if "patch" not in resource.verbs or not is_meant:
                continue
            for body in self.cluster.list(resource, selector=f"{SET_LABEL}={set_name}").items:
                obj = LiveObject(id_of(body), body)
                is_own = not obj.metadata.get("ownerReferences") and not obj.is_deleting
                if is_own and asked.objects.match(obj.labels) and self._is_in(asked, obj.id):
                    yield resource, body

    def _is_in(self, asked: Asked, key: ObjectId) -> bool:
        name = key.name if key.group_kind == _NAMESPACE else key.namespace
        if not name:
            return True
        namespace = self.cluster.get(self.discovery.resources[_NAMESPACE], ObjectId(*_NAMESPACE, "", name))
        labels = LiveObject(key, namespace).labels if namespace else {}
        return namespace is not None and asked.namespaces.match(labels)
