"""Namespaces: what each begins with, and how it ends.

https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from agent.core.model import Body, GroupKind, ObjectId
from agent.core.simulation.controllers.common import Controller, conditions, is_deleting
from agent.core.simulation.draft import Draft
from agent.core.simulation.requests import begin_delete
from agent.core.simulation.serving import condition
from agent.core.simulation.world import NEVER, Event

NAMESPACE: Final = GroupKind("", "Namespace")
BASICS: Final[dict[tuple[str, str], Body]] = {
    ("ServiceAccount", "default"): {},
    ("ConfigMap", "kube-root-ca.crt"): {"data": {"ca.crt": ""}},
}
"""What every namespace has, with what else stands in it."""


def calls(draft: Draft, event: Event) -> Iterable[ObjectId]:
    """A namespace's own writes and what goes in it; while one ends, each write in it and each APIService."""
    if event.id.group_kind == NAMESPACE:
        return [event.id]
    ending = [key for key, body in draft.of("", "Namespace").items() if is_deleting(body)]
    if event.id.kind == "APIService":
        return ending
    own = ObjectId("", "Namespace", "", event.id.namespace)
    is_basic = event.type == "DELETED" and (event.id.kind, event.id.name) in BASICS
    return [own] if own in ending or (is_basic and event.id.namespace) else ()


def sync(draft: Draft, key: ObjectId) -> float:
    """Give a namespace its default ServiceAccount and CA, or empty it where it ends."""
    namespace = draft.get(key)
    if namespace is not None and is_deleting(namespace):
        _end(draft, key, namespace)
    elif namespace is not None:
        _begin(draft, key.name)
    return NEVER


def _begin(draft: Draft, name: str) -> None:
    for (kind, object_name), rest in BASICS.items():
        key = ObjectId("", kind, name, object_name)
        if draft.get(key) is None:
            body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": object_name, "namespace": name}}
            draft.put(key, body | rest)


def _end(draft: Draft, key: ObjectId, namespace: Body) -> None:
    """Everything in it is deleted; it goes when nothing is left and every group could be asked what it holds.

    pkg/controller/namespace/deletion: a group whose discovery fails leaves the namespace Terminating.
    """
    left = [(inner, body) for inner, body in draft.all() if inner.namespace == key.name]
    for inner, body in left:
        if not is_deleting(body):
            begin_delete(draft, inner)
    left = [item for item in draft.all() if item[0].namespace == key.name]
    apis = draft.of("apiregistration.k8s.io", "APIService").items()
    silent = sorted(api_key.name for api_key, api in apis if condition(api, "Available") != "True")
    if not left and not silent:
        draft.drop(key)
        return
    words = (
        f"Discovery failed for some groups: {', '.join(silent)}"
        if silent
        else "All resources successfully discovered"
    )
    kinds = sorted({f"{inner.kind}" for inner, _ in left})
    rows = {
        "NamespaceDeletionDiscoveryFailure": (
            bool(silent),
            "DiscoveryFailed" if silent else "ResourcesDiscovered",
            words,
        ),
        "NamespaceContentRemaining": (
            bool(left),
            "SomeResourcesRemain" if left else "ContentRemoved",
            f"Some resources are remaining: {', '.join(kinds)}"
            if left
            else "All content successfully removed",
        ),
    }
    status = {"phase": "Terminating", "conditions": conditions(draft, namespace, rows)}
    draft.put(key, namespace | {"status": status})


CONTROLLER: Final = Controller("namespace", calls, sync)
