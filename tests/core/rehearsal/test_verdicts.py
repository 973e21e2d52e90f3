"""What a rehearsal says of small upgrades, in our order and in that of apply-then-prune."""

from __future__ import annotations

from dataclasses import replace

from agent.core.orders import Order
from agent.core.rehearsal.answer import Verdict
from tests.core.rehearsal.small import BLUE, GREEN, rehearsed, release, script
from tests.shell.releases import ingress, namespace, web
from tests.shell.test_storage import definition


def test_a_pointer_that_moves_is_kept_in_every_scene_and_comes_to_its_end() -> None:
    answer = rehearsed(script(BLUE, GREEN, disturbs=False))
    assert (answer.verdict, answer.is_exhaustive) == (Verdict.KEPT, True)
    assert answer.stories == ()
    assert answer.deadlocks == ()
    (path,) = (row for row in answer.paths if row.path.startswith("Ingress"))
    assert min(one for one in path.lowest if one is not None) == 2


def test_what_waits_for_pods_that_never_become_ready_is_told() -> None:
    answer = rehearsed(script(BLUE, GREEN, disturbs=False))
    (wait,) = answer.waits
    assert wait.workloads == ("Deployment front/green",)
    assert "cutover Ingress front/front" in dict(wait.steps)
    assert not wait.needs_a_person


def test_apply_then_prune_breaks_and_the_story_is_a_shortest_one() -> None:
    answer = rehearsed(script(BLUE, GREEN, Order.NAIVE, disturbs=False))
    assert answer.verdict is Verdict.BROKEN
    story = next(one for one in answer.stories if one.invariant == "serving path")
    assert story.subject == "Ingress front/front [shop.example /]"
    assert len(story.moves) <= 3
    assert "Service front/green" in story.says


def test_objects_that_are_stored_in_a_version_that_goes_are_rewritten_first() -> None:
    stored = "apiVersion: example.com/v1alpha1\nkind: Thing\nmetadata: {name: one, namespace: default}\n"
    now = stored.replace("v1alpha1", "v1")
    answer = rehearsed(script((definition("v1alpha1"), stored), (definition("v1"), now), disturbs=False))
    assert answer.verdict is Verdict.KEPT
    moved = [step for step in answer.steps if "things.example.com" in step]
    assert moved[-2:] == [
        "migrate CustomResourceDefinition things.example.com",
        "narrow CustomResourceDefinition things.example.com",
    ]


def test_a_newer_revision_that_comes_at_any_step_is_handed_over_to_and_breaks_nothing() -> None:
    play = script(BLUE, GREEN)
    red = (namespace("front"), web("red"), ingress("front/red"))
    answer = rehearsed(replace(play, later=release("later", *red)))
    alone = rehearsed(play)
    assert (answer.verdict, answer.is_exhaustive) == (Verdict.KEPT, True)
    assert answer.reach.changes == 2 * alone.reach.changes
    assert answer.reach.scenes > alone.reach.scenes


def test_without_a_gate_a_newer_revision_in_between_breaks_what_the_upgrade_alone_does_not() -> None:
    image = web("blue").replace("standin/http:1", "standin/http:2")
    play = replace(script(BLUE, (namespace("front"), image, BLUE[2])), without=frozenset({"serves"}))
    assert rehearsed(play).verdict is Verdict.KEPT
    red = (namespace("front"), web("red"), ingress("front/red"))
    answer = rehearsed(replace(play, later=release("later", *red)))
    assert answer.verdict is Verdict.BROKEN
    assert "Git now wants later" in answer.stories[0].moves
