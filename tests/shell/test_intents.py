"""What a stopped tick has written is a member, though its kind cannot be read then, or Git moves on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent.core.model import SET_LABEL, GroupKind, ObjectId
from agent.errors import Forbidden, Unreachable
from agent.shell.report import State
from tests.shell.faults import Call, Fail, Hooked, Killed
from tests.shell.hands import delete
from tests.shell.job import Job
from tests.shell.neighbours import Town
from tests.shell.releases import CONFIG, namespace, web

FRONT = namespace("front")
CLASS = """\
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: fast}
handler: fast
"""
CONFIG_MAP = GroupKind("", "ConfigMap"), "default/settings"
QUOTA = """\
apiVersion: v1
kind: ResourceQuota
metadata: {name: many, namespace: default}
spec: {hard: {pods: "50"}}
"""


class Stops:
    """Ends the process right after it has written an object of ``kind``, which is not read where blind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.is_armed = False
        self.is_blind = False

    def __call__(self, call: Call, do: Callable[[], Any]) -> Any:
        """Answer the request, or not."""
        is_meant = call.kind is not None and call.kind.kind == self.kind
        if is_meant and self.is_blind and call.method in ("list", "list_metadata"):
            raise Forbidden(f"no right to list {self.kind}")
        answer = do()
        if is_meant and self.is_armed and call.method == "apply":
            self.is_armed = False
            raise Killed
        return answer


def stopped(kind: str, *texts: str) -> tuple[Job, Stops]:
    """A set with FRONT in service whose process ended in the middle of adding ``texts``."""
    hook = Stops(kind)
    job = Job(wrap=lambda cluster: Hooked(cluster, hook), allow=frozenset({"Namespace"}))
    job.release(FRONT)
    job.run()
    job.release(FRONT, *texts)
    hook.is_armed = True
    with pytest.raises(Killed):
        job.tick()
    job.restart()
    return job, hook


def ours(job: Job) -> set[str]:
    """All that carries the set's label, but for what controllers copy it to."""
    found = job.world.world.objects().items()
    labelled = (key for key, body in found if SET_LABEL in (body["metadata"].get("labels") or {}))
    return {str(key) for key in labelled if key.kind != "EndpointSlice"}


@pytest.mark.parametrize(("kind", "text"), [("RuntimeClass", CLASS), ("ResourceQuota", QUOTA)])
def test_a_newer_revision_without_the_kind_takes_away_what_was_written(kind: str, text: str) -> None:
    job, _ = stopped(kind, text)
    job.release(FRONT, CONFIG % "red")
    written = job.run()
    assert written[0] == "create ConfigMap default/settings"
    assert f"delete {kind}" in written[-1]
    assert ours(job) == {"Namespace front", "ConfigMap default/settings"}


@pytest.mark.parametrize("kind", ["Deployment", "Service"])
def test_what_was_written_is_not_forgotten_while_others_are_written(kind: str) -> None:
    job, hook = stopped(kind, web("blue"))
    job.release(FRONT, CONFIG % "red")
    hook.is_blind = True
    plan = job.tick().plan
    assert job.written[-1] == "create ConfigMap default/settings"
    assert plan is not None
    assert f"{kind} front/blue may have been written by a tick that was stopped" in " ".join(plan.warnings)
    job.restart()
    for _ in range(3):
        job.tick()
    intent = job.ledger().intent
    assert intent is not None
    assert f"{kind} front/blue" in {str(entry.id) for entry in intent.entries}
    hook.is_blind = False
    job.run()
    assert job.ledger().intent is None
    assert ours(job) == {"Namespace front", "ConfigMap default/settings"}


def test_a_generation_in_service_still_looks_for_what_may_have_been_written() -> None:
    job, hook = stopped("RuntimeClass", CLASS)
    job.release(FRONT)
    hook.is_blind = True
    assert [job.tick().state for _ in range(3)] == [State.IN_SERVICE] * 3
    job.restart()
    hook.is_blind = False
    assert job.run() == ["delete RuntimeClass fast"]
    assert ours(job) == {"Namespace front"}


@pytest.mark.parametrize(("kind", "text"), [("RuntimeClass", CLASS), ("ResourceQuota", QUOTA)])
def test_a_member_that_is_to_go_and_cannot_be_seen_keeps_the_set_from_coming_to_rest(
    kind: str, text: str
) -> None:
    hook = Stops(kind)
    job = Job(wrap=lambda cluster: Hooked(cluster, hook), allow=frozenset({"Namespace"}))
    job.release(FRONT, text)
    job.run()
    job.release(FRONT)
    hook.is_blind = True
    job.hold(5)
    held = job.ledger().holds["generation 2"].reason
    assert held.startswith(f"{kind} ")
    assert held.endswith(f": no right to list {kind}")
    hook.is_blind = False
    assert [key.split()[:2] for key in job.run()] == [["delete", kind]]
    assert ours(job) == {"Namespace front"}


def test_a_member_made_anew_whose_answer_was_lost_is_still_the_sets_own() -> None:
    hook = Fail(
        1, Unreachable("no answer"), is_done=True, concerns=lambda call: call == Call("apply", *CONFIG_MAP)
    )
    job = Job(allow=frozenset({"Namespace"}))
    job.release(FRONT, CONFIG % "red")
    job.run()
    delete(job, ObjectId(*CONFIG_MAP[0], *CONFIG_MAP[1].split("/")))
    job.cluster = Hooked(job.world, hook)
    job.restart()
    report = job.tick()
    assert [outcome.error for outcome in report.outcomes] == ["no answer"]
    job.run()
    job.release(FRONT)
    assert job.run() == ["delete ConfigMap default/settings"]


def test_a_set_that_is_renamed_meanwhile_keeps_its_former_ledger_until_it_is_told() -> None:
    hook = Stops("RuntimeClass")
    town = Town(wrap=lambda cluster: Hooked(cluster, hook)).add("old", FRONT)
    town.run()
    town.release("old", FRONT, CLASS)
    hook.is_armed = True
    with pytest.raises(Killed):
        town.tick("old")
    town.forget("old")
    town.add("new", FRONT, formerly=frozenset({"old"}))
    hook.is_blind = True
    for _ in range(3):
        town.tick("new")
    assert town.ledger("old").intent is not None
    hook.is_blind = False
    assert town.run("new") == ["delete RuntimeClass fast"]
    assert town.get("RuntimeClass.node.k8s.io", "fast") is None
    assert town.ledger("old").entries == {}
