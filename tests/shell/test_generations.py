"""Three generations that live at once: the newest desired wins, and what still stands is taken up again."""

from __future__ import annotations

from agent.core.ledger import GenerationState
from agent.core.model import ObjectId
from tests.shell.judged import Judged
from tests.shell.releases import binding, ingress, namespace, server, web

NEVER = "standin.dev/never-ready: 'true'"
FRONT = namespace("front")
BLUE = (FRONT, web("blue"), ingress("front/blue"))
RED = (FRONT, web("red", knobs=NEVER), ingress("front/red"))
GREEN = (FRONT, web("green"), ingress("front/green"))


def states(judged: Judged) -> dict[int, str]:
    return {g.number: g.state.value for g in judged.job.ledger().generations}


def workloads(judged: Judged) -> set[str]:
    found = judged.job.world.world.objects()
    return {key.name for key in found if key.kind == "Deployment" and key.namespace == "front"}


def uid(judged: Judged, name: str) -> str:
    return str(
        judged.job.world.world.objects()[ObjectId("apps", "Deployment", "front", name)]["metadata"]["uid"]
    )


def test_a_newer_revision_takes_over_a_handoff_that_cannot_end() -> None:
    judged = Judged(BLUE, RED)
    judged.job.hold(5)
    judged.job.release(*GREEN)
    judged.aim(GREEN)
    judged.job.tick()
    assert workloads(judged) == {"blue", "red", "green"}
    assert states(judged) == {1: "retiring", 2: "retiring", 3: "rolling-out"}
    served = judged.job.ledger().last_in_service
    assert served is not None
    assert served.number == 1
    written = judged.run()
    assert workloads(judged) == {"green"}
    assert states(judged) == {1: "absent", 2: "absent", 3: "in-service"}
    assert {"delete Deployment front/blue", "delete Deployment front/red"} <= set(written)


def test_a_revert_to_the_first_of_three_takes_it_up_again_and_makes_nothing_anew() -> None:
    judged = Judged(BLUE, RED)
    judged.job.hold(3)
    judged.job.release(FRONT, web("green", knobs=NEVER), ingress("front/green"))
    judged.job.hold(3)
    first = uid(judged, "blue")
    judged.job.release(*BLUE)
    judged.aim(BLUE)
    written = judged.run()
    assert uid(judged, "blue") == first
    assert not [key for key in written if key.startswith(("create", "update"))]
    assert workloads(judged) == {"blue"}
    newest = judged.job.ledger().newest
    assert newest is not None
    assert (newest.number, newest.state, newest.returns) == (1, GenerationState.IN_SERVICE, 1)


def test_a_revert_to_the_second_of_three_goes_on_where_it_stood() -> None:
    green, slow = GREEN, (FRONT, web("slow", knobs=NEVER), ingress("front/slow"))
    judged = Judged(BLUE, green)
    judged.job.tick()
    second = uid(judged, "green")
    judged.job.release(*slow)
    judged.job.hold(3)
    assert workloads(judged) == {"blue", "green", "slow"}
    judged.job.release(*green)
    judged.run()
    assert uid(judged, "green") == second
    assert workloads(judged) == {"green"}
    newest = judged.job.ledger().newest
    assert newest is not None
    assert (newest.number, newest.returns) == (2, 1)


def test_a_shared_list_is_the_union_of_all_three_until_the_last_of_the_old_is_gone() -> None:
    def release(where: str, knobs: str = "standin.dev/ready-after: '2'") -> tuple[str, ...]:
        return namespace(where), server(where, knobs=knobs), binding(where)

    judged = Judged(release("one"), release("two", NEVER))
    judged.job.hold(5)
    judged.job.release(*release("three"))
    judged.aim(release("three"))
    judged.job.tick()
    live = judged.job.get("ClusterRoleBinding.rbac.authorization.k8s.io", "api-storage")
    assert live is not None
    assert {subject["namespace"] for subject in live["subjects"]} == {"one", "two", "three"}
    judged.run()
    live = judged.job.get("ClusterRoleBinding.rbac.authorization.k8s.io", "api-storage")
    assert live is not None
    assert [subject["namespace"] for subject in live["subjects"]] == ["three"]
    assert judged.job.get("Namespace", "two") is None
