"""What other hands do to objects of the cluster: edit, delete, hold on to with a finalizer, let go."""

from __future__ import annotations

from collections.abc import Callable

from agent.core.model import Body, ObjectId
from agent.errors import NotFound
from tests.shell.job import Job

KEPT = "example.com/kept"


def edit(job: Job, key: ObjectId, change: Callable[[Body], object]) -> None:
    """Somebody else's change of an object."""
    resource = job.world.discover().resources[key.group_kind]
    live = job.world.get(resource, key)
    assert live is not None
    body = {**live, "metadata": dict(live["metadata"])}
    change(body["metadata"])
    job.world.replace(resource, body)


def delete(job: Job, key: ObjectId) -> None:
    """Somebody else deletes an object."""
    resource = job.world.discover().resources[key.group_kind]
    live = job.world.get(resource, key)
    if live is None:
        raise NotFound(str(key))
    metadata = live["metadata"]
    job.world.delete(resource, key, uid=metadata["uid"], resource_version=metadata["resourceVersion"])


def keep(job: Job, key: ObjectId) -> None:
    edit(job, key, lambda metadata: metadata.update(finalizers=[KEPT]))


def let_go(job: Job, key: ObjectId) -> None:
    edit(job, key, lambda metadata: metadata.pop("finalizers"))
