"""ControllerRevisions: the templates that a StatefulSet or DaemonSet has had.

https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#revision-history
"""

from __future__ import annotations

from typing import Final

from agent.core.model import Body, ObjectId
from agent.core.simulation.controllers.common import (
    children,
    claim,
    digest,
    orphans,
    owner_reference,
)
from agent.core.simulation.draft import Draft
from agent.core.simulation.tables import dig

HASH: Final = "controller-revision-hash"


def ensure(draft: Draft, workload: Body, label: str) -> tuple[str, str]:
    """The revision of the present template, made where it is missing: its name, and the hash in it.

    ``label`` is the key under which the revision carries the hash. Pods carry the name (StatefulSet) or the
    hash (DaemonSet) in ``controller-revision-hash``. A template that comes back gets its old revision with
    a new highest number.
    """
    metadata, template = workload["metadata"], workload["spec"]["template"]
    mine = children(draft, metadata["uid"], "ControllerRevision")
    highest = max((int(body["revision"]) for _, body in mine), default=0)
    code = digest(template)
    name = f"{metadata['name']}-{code}"
    key = ObjectId("apps", "ControllerRevision", metadata["namespace"], name)
    left = [
        item for item in orphans(draft, "apps", "ControllerRevision", metadata["namespace"]) if item[0] == key
    ]
    claim(draft, workload, left, lambda _: True)
    before = draft.get(key)
    if before is None:
        body = {
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {
                "name": name,
                "namespace": metadata["namespace"],
                "labels": {**(dig(template, ("metadata", "labels")) or {}), label: code},
                "ownerReferences": [owner_reference(workload)],
            },
            "data": {"spec": {"template": {**template, "$patch": "replace"}}},
            "revision": highest + 1,
        }
        draft.put(key, body)
    elif before["revision"] < highest:
        draft.put(key, before | {"revision": highest + 1})
    return name, code


def of_pod(pod: Body) -> str:
    """What the label says of the template that a pod was made from."""
    return str(dig(pod, ("metadata", "labels", HASH)) or "")
