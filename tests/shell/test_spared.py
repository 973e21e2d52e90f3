"""What a revision that wants an object no more leaves standing all the same, and says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.core.budget import Budget
from agent.core.model import Body
from agent.shell.report import State
from tests.shell.faults import Call, Hooked
from tests.shell.job import SET, Job, reasons
from tests.shell.releases import CONFIG, namespace, web

FRONT = namespace("front")
MORE = (CONFIG % "red").replace("settings", "more")


def settings(*names: str) -> str:
    return "---\n".join((CONFIG % "red").replace("settings", name) for name in names)


def many(count: int) -> str:
    return settings(*(f"s{number}" for number in range(count)))


def change(job: Job, kind: str, path: str, **metadata: Any) -> Body:
    """Change metadata of an object as somebody else."""
    body = job.get(kind, path)
    assert body is not None
    named = {key: value for key, value in body["metadata"].items() if key in ("name", "namespace")}
    changed: Body = {"apiVersion": body["apiVersion"], "kind": body["kind"], "metadata": named | metadata}
    return job.apply(changed, "somebody")


@pytest.mark.parametrize(
    ("budget", "going", "of", "said"),
    [
        (Budget(), 21, 22, "21 of 22 objects (95 %) would go, more than 20 and more than 50 %"),
        (Budget(), 20, 20, ""),
        (Budget(), 30, 60, ""),
        (Budget(count=2), 3, 90, "3 of 90 objects (3 %) would go, more than 2 objects"),
        (Budget(count=3), 3, 90, ""),
        (Budget(percent=30), 4, 10, "4 of 10 objects (40 %) would go, more than 30 %"),
        (Budget(percent=40), 4, 10, ""),
        (Budget(1, 10), 2, 10, "2 of 10 objects (20 %) would go, more than 1 objects and 10 %"),
        (Budget(count=0), 0, 0, ""),
    ],
)
def test_a_budget_says_what_exceeds_it(budget: Budget, going: int, of: int, said: str) -> None:
    assert budget.exceeded(going, of) == said


def test_a_revision_that_shrinks_beyond_the_budget_prunes_nothing_until_the_set_says_so() -> None:
    job = Job(budget=Budget(count=2))
    job.release(settings("settings", "a", "b", "c"))
    job.run()
    job.release(settings("settings", "fresh"))
    job.hold(3)
    said = "budget: 3 of 5 objects (60 %) would go, more than 2 objects; "
    plan = job.plan()
    assert [step.key for step in plan.steps] == [f"delete ConfigMap default/{name}" for name in "abc"]
    for step in plan.steps:
        assert reasons(plan, step.key).startswith(said)
    assert "prune: {budget: {count: 3}}" in reasons(plan, "delete ConfigMap default/a")
    assert plan.needs_a_person
    assert job.get("ConfigMap", "default/fresh") is not None
    job.rules = replace(job.rules, budget=Budget(count=3))
    job.restart()
    assert job.run() == [f"delete ConfigMap default/{name}" for name in "abc"]
    assert job.get("ConfigMap", "default/a") is None


def test_without_a_budget_of_its_own_a_set_does_not_lose_more_than_half_of_many_objects() -> None:
    job = Job()
    job.release(many(40))
    job.run()
    job.release(many(19))
    job.hold(3)
    assert "21 of 40 objects" in reasons(job.plan(), "delete ConfigMap default/s20")
    job.release(many(20))
    assert len(job.run()) == 20


def test_a_set_that_moves_to_new_names_as_a_whole_keeps_within_the_usual_budget() -> None:
    job = Job()
    job.release(many(25))
    job.run()
    job.release(many(25).replace("name: s", "name: t"))
    assert sum(key.startswith("delete") for key in job.run()) == 25


def test_what_a_person_protects_stays_until_the_annotation_is_taken_off() -> None:
    job = Job()
    job.release(CONFIG % "red", MORE)
    job.run()
    change(job, "ConfigMap", "default/more", annotations={"trapeze.dev/protect": "true"})
    job.release(CONFIG % "red")
    job.hold(3)
    assert "it carries trapeze.dev/protect" in reasons(job.plan(), "delete ConfigMap default/more")
    change(job, "ConfigMap", "default/more", annotations={})
    assert job.run() == ["delete ConfigMap default/more"]


def test_what_git_itself_protects_outlives_its_document() -> None:
    job = Job(allow=frozenset({"ConfigMap"}))
    protected = MORE.replace(
        "namespace: default}", 'namespace: default, annotations: {trapeze.dev/protect: ""}}'
    )
    job.release(CONFIG % "red", protected)
    job.run()
    job.release(CONFIG % "red")
    job.hold(3)
    assert job.get("ConfigMap", "default/more") is not None


def test_the_namespace_of_the_ledgers_is_never_deleted() -> None:
    job = Job(allow=frozenset({"Namespace"}), ledger_namespace="trapeze-system")
    job.release(namespace("trapeze-system"), CONFIG % "red")
    job.run()
    job.release(CONFIG % "red")
    job.hold(3)
    assert "the ledgers of the agent live in it" in reasons(job.plan(), "delete Namespace trapeze-system")


def owner(job: Job, kind: str, path: str) -> Body:
    """A reference to an object as its owner."""
    body = job.get(kind, path)
    assert body is not None
    return {
        "apiVersion": body["apiVersion"],
        "kind": body["kind"],
        "name": body["metadata"]["name"],
        "uid": body["metadata"]["uid"],
    }


def test_an_object_that_somebody_elses_object_came_to_own_is_left_and_told() -> None:
    job = Job()
    job.release(CONFIG % "red", MORE)
    job.run()
    job.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "op", "namespace": "default"}})
    change(job, "ConfigMap", "default/more", ownerReferences=[owner(job, "ConfigMap", "default/op")])
    job.release(CONFIG % "red")
    assert "ConfigMap default/more is left alone: it now belongs to ConfigMap op" in job.plan().warnings
    assert job.run() == []
    assert job.get("ConfigMap", "default/more") is not None
    assert {key.name for key in job.ledger().entries} == {"settings"}


def test_an_owner_that_is_a_member_makes_nobody_else_the_owner() -> None:
    job = Job()
    job.release(CONFIG % "red", settings("more", "owner"))
    job.run()
    change(job, "ConfigMap", "default/more", ownerReferences=[owner(job, "ConfigMap", "default/owner")])
    job.release(CONFIG % "red", settings("owner"))
    assert job.run() == ["delete ConfigMap default/more"]


def test_an_owner_stays_while_garbage_collection_would_take_along_what_is_wanted() -> None:
    job = Job()
    job.release(CONFIG % "red", settings("owner", "between"))
    job.run()
    for owned, by in (("between", "owner"), ("settings", "between")):
        change(
            job, "ConfigMap", f"default/{owned}", ownerReferences=[owner(job, "ConfigMap", f"default/{by}")]
        )
    job.release(CONFIG % "red")
    report = job.hold(5)
    assert report.plan is not None
    for name in ("owner", "between"):
        assert "owning: ConfigMap default/settings stays and is owned by it" in reasons(
            report.plan, f"delete ConfigMap default/{name}"
        )
    change(job, "ConfigMap", "default/settings", ownerReferences=[])
    job.run()
    job.world.advance(30)
    assert job.get("ConfigMap", "default/settings") is not None
    assert job.get("ConfigMap", "default/owner") is None


def test_a_second_owner_that_stays_is_enough() -> None:
    job = Job()
    job.release(CONFIG % "red", settings("owner", "other"))
    job.run()
    refs = [owner(job, "ConfigMap", f"default/{name}") for name in ("owner", "other")]
    change(job, "ConfigMap", "default/settings", ownerReferences=refs)
    job.release(CONFIG % "red", settings("other"))
    assert job.run() == ["delete ConfigMap default/owner"]
    job.world.advance(30)
    assert job.get("ConfigMap", "default/settings") is not None


def test_a_namespace_stays_while_something_in_it_is_owned_from_outside() -> None:
    job = Job(allow=frozenset({"Namespace"}))
    job.release(FRONT, web("blue"))
    job.run()
    job.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "operator"}})
    metadata = {
        "name": "theirs",
        "namespace": "front",
        "ownerReferences": [owner(job, "Namespace", "operator")],
    }
    job.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    job.release(namespace("other"))
    job.hold(40)
    assert "ConfigMap front/theirs is there" in reasons(job.plan(), "delete Namespace front")


def test_an_old_workload_that_was_made_anew_under_our_label_is_told_as_long_as_it_stands() -> None:
    """It is nobody's to delete, and what it uses is held for it: a person must hear of it at every tick."""
    job = Job()
    job.release(FRONT, web("blue"))
    job.run()
    body = job.get("Deployment.apps", "front/blue")
    assert body is not None
    resource = next(r for r in job.world.discover().resources.values() if r.kind.kind == "Deployment")
    key = next(key for key in job.ledger().entries if key.kind == "Deployment")
    metadata = body["metadata"]
    job.world.delete(resource, key, uid=metadata["uid"], resource_version=metadata["resourceVersion"])
    job.world.advance(30)
    labels = {"trapeze.dev/set": SET}
    again = {"metadata": {"name": "blue", "namespace": "front", "labels": labels}, "spec": body["spec"]}
    job.release(FRONT, web("green"))
    job.apply({"apiVersion": "apps/v1", "kind": "Deployment", **again}, "somebody")
    for _ in range(30):
        report = job.tick()
    assert report.plan is not None
    assert [line for line in report.plan.warnings if line.startswith("Deployment front/blue is left alone")]
    assert job.get("Deployment.apps", "front/blue") is not None


def test_what_another_manager_made_under_our_label_is_told_too() -> None:
    job = Job()
    job.release(CONFIG % "red")
    job.run()
    metadata = {"name": "x", "namespace": "default", "labels": {"trapeze.dev/set": SET}}
    job.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}, "somebody")
    assert "ConfigMap default/x is left alone" in job.plan().warnings[0]


def test_a_revision_with_the_same_content_moves_no_label_and_writes_no_object() -> None:
    writes: list[Call] = []

    def hook(call: Call, do: Any) -> Any:
        writes.extend([call] if call.is_write and "trapeze-system" not in call.about else [])
        return do()

    job = Job(wrap=lambda cluster: Hooked(cluster, hook))
    job.release(FRONT, web("blue"), CONFIG % "red")
    job.run()
    writes.clear()
    job.release(FRONT, web("blue"), CONFIG % "blue")
    assert job.run() == ["update ConfigMap default/settings"]
    assert [call.about for call in writes] == ["default/settings"]
    deployment, changed = job.get("Deployment.apps", "front/blue"), job.get("ConfigMap", "default/settings")
    assert deployment is not None
    assert changed is not None
    found = [body["metadata"]["labels"]["trapeze.dev/generation"] for body in (deployment, changed)]
    assert found == ["1", "2"]
    assert job.tick().state is State.IN_SERVICE


def test_a_delete_on_an_old_look_is_refused_by_what_was_written_in_between() -> None:
    """The object that was looked at is the one that goes, or none."""
    job = Job()
    job.release(CONFIG % "red", MORE)
    job.run()
    job.release(CONFIG % "red")
    touched = False

    def hook(call: Call, do: Any) -> Any:
        nonlocal touched
        if call.method == "delete" and call.about == "default/more" and not touched:
            touched = True
            change(job, "ConfigMap", "default/more", annotations={"trapeze.dev/protect": "true"})
        return do()

    job.cluster = Hooked(job.world, hook)
    job.restart()
    report = job.tick()
    assert touched
    assert report.state is State.HELD
    assert job.get("ConfigMap", "default/more") is not None
    assert any("delete ConfigMap default/more" in line for line in report.errors)
