"""Namespaces: what each begins with, and how it ends.

https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/
"""

from __future__ import annotations

from typing import Final

from agent.core.model import Body, ObjectId
from agent.core.simulation.controllers.common import Controller, conditions, is_deleting
from agent.core.simulation.requests import begin_delete
from agent.core.simulation.serving import condition
from agent.core.simulation.world import NEVER, Draft


def step(draft: Draft) -> float:
    """Give new namespaces their default ServiceAccount and CA, and empty those that end."""
    for key, namespace in list(draft.of("", "Namespace").items()):
        if is_deleting(namespace):
            _end(draft, key, namespace)
        else:
            _begin(draft, key.name)
    return NEVER


def _begin(draft: Draft, name: str) -> None:
    for kind, object_name, rest in (
        ("ServiceAccount", "default", {}),
        ("ConfigMap", "kube-root-ca.crt", {"data": {"ca.crt": ""}}),
    ):
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


CONTROLLER: Final = Controller("namespace", None, step)
