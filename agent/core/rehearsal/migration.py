"""Storage migration in the model: a kind's objects are written anew, then its definition's status."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from agent.core.model import Body, GroupKind
from agent.core.simulation import requests
from agent.core.simulation.draft import Draft
from agent.core.steps import Step
from agent.core.storage import forgetting, kind_defined, planned_on


def migrated(draft: Draft, step: Step, listed: Callable[[GroupKind], Iterable[Body]], manager: str) -> Body:
    """The definition that ``step`` names, once its objects are rewritten and old versions are forgotten.

    ``listed`` gives the objects of its kind. Raises ClusterError, as the requests would.
    """
    crd = planned_on(draft.get(step.id), step)
    for body in listed(kind_defined(crd)):
        requests.replace(draft, body, manager)
    return requests.replace_status(draft, forgetting(crd, step))
