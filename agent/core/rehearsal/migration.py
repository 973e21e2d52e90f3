"""Storage migration in the model: a kind's objects are written anew, then its definition's status."""

from __future__ import annotations

from collections.abc import Iterable

from agent.core.model import Body
from agent.core.simulation import requests
from agent.core.simulation.draft import Draft
from agent.core.steps import Step
from agent.errors import Conflict


def migrated(draft: Draft, step: Step, objects: Iterable[Body], manager: str) -> Body:
    """The definition that ``step`` names, once ``objects`` are rewritten and old versions are forgotten.

    Raises ClusterError, as the requests would: Conflict where it is not the definition that was planned on.
    """
    crd = draft.get(step.id)
    if crd is None or crd["metadata"]["uid"] != step.uid:
        raise Conflict(f"{step.id} is not the one that was planned on")
    for body in objects:
        requests.replace(draft, body, manager)
    wanted = (step.body or {})["storedVersions"]
    metadata = {**crd["metadata"], "resourceVersion": step.resource_version}
    status = {**(crd.get("status") or {}), "storedVersions": wanted}
    return requests.replace_status(draft, {**crd, "metadata": metadata, "status": status})
