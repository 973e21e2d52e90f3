"""What the outside's words mean as answers to a plan's questions: what could not be asked is never a yes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from agent.core.model import GroupKind, LiveObject, ObjectId
from agent.core.policy import Policy, group_kind_of
from agent.core.steps import Answer, GateState
from agent.errors import ClusterError, Conflict, Forbidden, Invalid, Rejected

_FOUND: Final = 200


def refused_dry_run(error: ClusterError) -> Answer:
    """What a dry run that ended in an error says of the change."""
    if isinstance(error, Conflict):
        return Answer(GateState.HELD, str(error), conflict=", ".join(error.managers))
    if isinstance(error, Invalid):
        return Answer(GateState.HELD, str(error), immutable=error.is_immutable)
    if isinstance(error, Forbidden):
        return Answer(GateState.HELD, str(error))
    if isinstance(error, Rejected) and not error.is_unanswered:
        return Answer(GateState.HELD, str(error))
    return Answer(GateState.UNKNOWN, str(error))


def not_served_yet(kind: GroupKind) -> Answer:
    """A kind that is not served yet is held by its own gate; its rights are asked when it is."""
    return Answer(GateState.OPEN, f"{kind} is not served yet")


def read_answer(path: str, status: int) -> Answer:
    """What a request through a pointer found."""
    state = GateState.OPEN if status == _FOUND else GateState.HELD
    return Answer(state, f"GET {path} answers {status}")


def pointer_gone(pointer: ObjectId) -> Answer:
    """There is no pointer to send a request through."""
    return Answer(GateState.HELD, f"{pointer} is gone")


def trust_answer(trouble: str) -> Answer:
    """Whether the certificates verify; ``trouble`` empty when they do."""
    return Answer(GateState.HELD if trouble else GateState.OPEN, trouble)


def discovery_failed(failed: Iterable[str]) -> Answer:
    """What stands in a namespace cannot be told while a group does not answer."""
    return Answer(GateState.UNKNOWN, f"discovery of {', '.join(sorted(failed))} failed")


def counts_as_content(obj: LiveObject, policy: Policy, namespaced: Collection[GroupKind]) -> bool:
    """Whether an object keeps its namespace: it stands by itself, and is not made in every namespace.

    What carries the set's label counts too: members that leave have gone before the namespace is asked
    about, so it is wanted by this revision, or was made anew by somebody else. An owner in the namespace is
    asked about itself; one that stands outside (``namespaced`` does not name its kind) stays, and what it
    owns is its own.
    """
    owners = obj.metadata.get("ownerReferences") or ()
    goes_along = bool(owners) and all(group_kind_of(ref) in namespaced for ref in owners)
    return not (goes_along or policy.is_incidental(obj.id))
