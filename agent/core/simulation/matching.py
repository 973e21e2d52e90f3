"""A webhook's matchConditions: CEL over the request, all of which must be true for the webhook to be asked.

https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests-matchconditions.
Conditions that ask for the caller (``request.userInfo``) or the authorizer cannot be judged here: the webhook
counts as asked, which refuses more, never less.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import cel

from agent.core.model import Body
from agent.core.simulation.tables import Served


@lru_cache(maxsize=1024)
def _program(text: str) -> cel.Program:
    return cel.compile(text)


def is_meant(hook: Body, served: Served, operation: str, body: Body, before: Body | None) -> bool:
    """Whether every condition of a webhook is true of this request, or cannot be judged."""
    return all(
        _is_true(row["expression"], served, operation, body, before)
        for row in hook.get("matchConditions") or ()
    )


def _is_true(text: str, served: Served, operation: str, body: Body, before: Body | None) -> bool:
    metadata = body["metadata"]
    request = {
        "operation": operation,
        "name": metadata.get("name", ""),
        "namespace": metadata.get("namespace", ""),
        "kind": {"group": served.kind.group, "version": served.versions[0], "kind": served.kind.kind},
        "resource": {"group": served.kind.group, "version": served.versions[0], "resource": served.plural},
        "subResource": "",
        "dryRun": False,
    }
    is_delete = operation == "DELETE"
    values: dict[str, Any] = {
        "object": None if is_delete else body,
        "oldObject": before,
        "request": request,
    }
    try:
        said = _program(text).execute(values)
    except (ValueError, TypeError, RuntimeError, KeyError):
        # An error in a condition is for failurePolicy; a webhook that is asked is the safe side of both.
        return True
    return said is not False
