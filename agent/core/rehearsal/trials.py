"""What the webhooks of a model answer to a dry run, as agent/shell/trials.py asks them at a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from agent.core.admits import Asked, admitted, as_trial, asked_about, decided, not_admitted
from agent.core.answering import pointer_gone
from agent.core.model import Body, GroupKind, LiveObject, ObjectId
from agent.core.policy import id_of
from agent.core.simulation import requests
from agent.core.simulation.tables import Served
from agent.core.simulation.world import World
from agent.core.steps import Admits, Answer
from agent.errors import ClusterError


def webhooks_answer(
    world: World, served: Mapping[GroupKind, Served], question: Admits, dry_run: Callable[[Body], object]
) -> Answer:
    """Whether every webhook of the configuration answers that an object of its set tells of."""
    config = world.get(question.pointer)
    if config is None:
        return pointer_gone(question.pointer)
    set_name = LiveObject(question.pointer, config).set_name
    return decided(_asked(world, served, asked, set_name, dry_run) for asked in asked_about(config))


def _asked(
    world: World,
    served: Mapping[GroupKind, Served],
    asked: Asked,
    set_name: str,
    dry_run: Callable[[Body], object],
) -> Answer | None:
    for body in _candidates(world, served, asked, set_name):
        trial = str(id_of(body))
        try:
            dry_run(as_trial(body))
        except ClusterError as error:
            return not_admitted(asked.webhook, trial, error)
        return admitted(asked.webhook, trial)
    return None


def _candidates(
    world: World, served: Mapping[GroupKind, Served], asked: Asked, set_name: str
) -> Iterator[Body]:
    for kind, row in sorted(served.items()):
        if not asked.takes(kind.group, row.plural, is_namespaced=row.is_namespaced):
            continue
        for key, body in sorted(world.of(*row.storage).items()):
            obj = LiveObject(key, body)
            space = world.get(ObjectId("", "Namespace", "", key.namespace)) if key.namespace else {}
            labels = ((space or {}).get("metadata") or {}).get("labels") or {}
            is_in = not key.namespace or asked.namespaces.match(labels)
            is_own = obj.set_name == set_name and not obj.metadata.get("ownerReferences")
            if is_own and is_in and not obj.is_deleting and asked.objects.match(obj.labels):
                yield requests.shown(body, row, row.versions[0])
