"""The move of an aggregated API server to another namespace, in the obvious order and in the right one."""

from __future__ import annotations

import pytest

from agent.core.model import Body, ObjectId
from agent.core.simulation.draft import Draft
from agent.core.simulation.requests import delete
from agent.core.simulation.world import id_of
from agent.errors import Unreachable
from tests.core.simulation.aggregated import NEW, OLD, in_service, own, pointer, shared
from tests.core.simulation.lab import RBAC, Lab, named

DENY = named("example.dev/v3", "NetworkPolicy", "default-deny", "new-system", spec={"selector": "all()"})


def samples(lab: Lab, seconds: float) -> int:
    """How many of ten requests a second get no right answer meanwhile."""
    lost = 0
    for _ in range(round(seconds * 10)):
        lab.advance(0.1)
        lost += not lab.reply(pointer(NEW)).is_right
    return lost


def retire_old(lab: Lab) -> None:
    for body in reversed(own(OLD)):
        lab.delete(id_of(body))


def test_applying_all_and_deleting_the_old_at_once_loses_the_api() -> None:
    lab = in_service()
    lab.apply(*own(NEW, ready_after="4"), shared(NEW), pointer(NEW))
    retire_old(lab)
    lost = samples(lab, 20)
    assert 40 <= lost <= 60
    assert lab.reply(pointer(NEW)).is_right


def test_widen_wait_repoint_narrow_prune_loses_nothing() -> None:
    lab = in_service()
    lab.apply(*own(NEW, ready_after="4"), shared(OLD, NEW))
    lost = samples(lab, 10)
    lab.apply(pointer(NEW))
    lost += samples(lab, 3)
    assert lab.condition(pointer(NEW), "Available") == ("True", "Passed")
    lab.apply(shared(NEW))
    lost += samples(lab, 3)
    retire_old(lab)
    lost += samples(lab, 20)
    assert lost == 0
    assert not [key for key in lab.world.objects() if "old-system" in (key.namespace, key.name)]


# The condition is the old backend's answer for a moment (kube-aggregator's availability controller lags).
def test_a_pointer_that_moves_too_early_is_available_for_a_moment_and_answers_nothing() -> None:
    lab = in_service()
    lab.apply(*own(NEW, ready_after="4"), shared(OLD, NEW), pointer(NEW))
    lab.advance(0.1)
    assert lab.condition(pointer(NEW), "Available")[0] == "True"
    assert lab.reply(pointer(NEW)).status == 503
    lab.advance(1)
    assert lab.condition(pointer(NEW), "Available") == ("False", "MissingEndpoints")


def test_narrowing_before_the_pointer_moves_takes_the_old_servers_rights() -> None:
    lab = in_service()
    lab.apply(*own(NEW, ready_after="4"), shared(NEW))
    assert samples(lab, 2) == 20
    assert "old-apiserver may not list" in lab.reply(pointer(OLD)).reason
    assert lab.condition(pointer(OLD), "Available")[0] == "True"


def test_without_delegated_rights_the_server_refuses_everybody_and_loses_its_readiness() -> None:
    lab = in_service()
    lab.delete(ObjectId(RBAC, "ClusterRoleBinding", "", "old-apiserver-delegate"))
    assert "cannot authorize" in lab.reply(pointer(OLD)).reason
    lab.advance(3)
    assert lab.condition(pointer(OLD), "Available") == ("False", "MissingEndpoints")


def blocked() -> tuple[Lab, list[Body]]:
    """The old server serves; a policy that only it serves keeps the new one from becoming ready."""
    lab = in_service()
    lab.apply(named("v1", "Namespace", "new-system"), DENY)
    return lab, own(NEW, blocked_by="example.dev/v3/NetworkPolicy new-system/default-deny")


# The deadlock of tigera/operator #5087: what blocks the new server goes only through the API that it blocks.
def test_moving_the_pointer_first_locks_the_new_server_out_for_ever() -> None:
    lab, new = blocked()
    lab.apply(*new, shared(NEW), pointer(NEW))
    retire_old(lab)
    lab.advance(3600)
    assert lab.reply(pointer(NEW)).status == 503
    with pytest.raises(Unreachable):
        delete(Draft(lab.world), id_of(DENY))


def test_deleting_the_blocker_through_the_old_server_opens_the_way() -> None:
    lab, new = blocked()
    lab.apply(*new, shared(OLD, NEW))
    assert samples(lab, 10) == 0
    lab.delete(id_of(DENY))
    lost = samples(lab, 5)
    lab.apply(pointer(NEW))
    assert lost + samples(lab, 5) == 0
    stored = ObjectId("crd.example.dev", "NetworkPolicy", "new-system", "default-deny")
    assert lab.world.get(stored) is None


def test_objects_of_the_group_are_kept_where_the_server_stores_them() -> None:
    lab, _ = blocked()
    stored = lab.world.get(ObjectId("crd.example.dev", "NetworkPolicy", "new-system", "default-deny"))
    assert stored is not None
    assert (stored["apiVersion"], stored["spec"]) == ("crd.example.dev/v1", DENY["spec"])
