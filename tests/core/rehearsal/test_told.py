"""What is told of a rehearsal: hints, the way back, and the three forms and the picture of one answer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema

from agent.core import render
from agent.core.hints import Hint
from agent.core.orders import Order
from agent.core.rehearsal.answer import Verdict
from tests.core.rehearsal.small import BLUE, GREEN, rehearsed, script
from tests.shell.releases import binding, ingress, namespace, server, web

SCHEMA = Path(__file__).parents[3] / "docs" / "rehearsal.schema.json"


def hinted(text: str, name: str, value: str) -> str:
    """The workload of a release with an annotation on itself."""
    return text.replace(
        "kind: Deployment\nmetadata: {",
        f"kind: Deployment\nmetadata: {{annotations: {{{name}: {value}}}, ",
        1,
    )


def test_a_new_one_that_needs_the_lock_of_the_old_one_is_a_deadlock_with_a_way_out() -> None:
    green = hinted(GREEN[1], "trapeze.dev/ready-once-gone", "Deployment front/blue")
    answer = rehearsed(script(BLUE, (GREEN[0], green, GREEN[2]), disturbs=False))
    assert answer.verdict is Verdict.STUCK
    (dead,) = answer.deadlocks
    assert dead.workloads == ("Deployment front/green",)
    assert dead.because == (
        "Deployment front/green: it becomes ready only once Deployment front/blue is gone",
    )
    assert "replicas: 0" in dead.way_out
    assert "Deployment front/green becomes ready only once" in answer.assumed[0]


def test_rights_with_tokens_outside_the_cluster_stay_until_all_else_has_gone() -> None:
    note = 'metadata: {name: api, namespace: old, annotations: {trapeze.dev/tokens-outside: "true"}}'
    old = server("old").replace("metadata: {name: api, namespace: old}", note, 1)
    answer = rehearsed(
        script(
            (namespace("old"), old, binding("old")),
            (namespace("new"), server("new"), binding("new")),
            disturbs=False,
        )
    )
    assert answer.verdict is Verdict.KEPT
    order = [step for step in answer.steps if "ClusterRoleBinding" in step or "Deployment old/api" in step]
    assert order[-1] == "narrow ClusterRoleBinding api-storage"


def test_a_disturbed_upgrade_is_kept_and_can_be_turned_back_after_each_step() -> None:
    answer = rehearsed(script(BLUE, GREEN))
    assert (answer.verdict, answer.is_exhaustive) == (Verdict.KEPT, True)
    assert answer.reach.faults > 10
    assert answer.reach.changes > 2
    assert [one.step for one in answer.rollbacks][1:] == list(answer.steps)
    assert all(one.is_possible for one in answer.rollbacks)
    assert any("cutover" in one.says for one in answer.rollbacks)
    assert {one.invariant for one in answer.losses} == {"serving path"}


def test_the_forms_of_one_answer_agree() -> None:
    answer = rehearsed(script(BLUE, GREEN, Order.NAIVE, disturbs=False))
    value = render.rehearsal_json(answer)
    jsonschema.validate(value, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert value["verdict"] == "broken"
    headline = render.rehearsal_headline(answer)
    assert headline in render.rehearsal_text(answer)
    assert headline in render.rehearsal_markdown(answer)
    picture = ET.fromstring(render.rehearsal_svg(answer))  # noqa: S314 - made just before
    names = {element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert {row.path for row in answer.paths if not row.is_given_up} <= names
    assert [row.path for row in answer.paths if row.is_given_up] == ["Service front/blue [port 80]"]
    assert "Service front/blue [port 80] (given up)" in names


def test_a_way_back_that_ends_with_a_person_is_one_and_what_is_said_again_is_said_once() -> None:
    old = (namespace("old"), server("old"), binding("old"))
    new = (namespace("new"), server("new"), binding("new"))
    play = script(old, new)
    answer = rehearsed(replace(play, budget=40, rules=replace(play.rules, allow=frozenset())))
    assert answer.verdict is Verdict.ANNOUNCED
    later = [one for one in answer.rollbacks if one.asks]
    assert all(one.is_possible and "delete Namespace new: needs approval" in one.asks for one in later)
    for told in (render.rehearsal_text(answer), render.rehearsal_markdown(answer)):
        back = told[told.index("a revert") :]
        assert back.count("a person is asked: as above") == len(later) - 1
    for wait in answer.waits:
        repeated = [reason for _, reasons in wait.steps for reason in reasons]
        assert len(repeated) > len(set(repeated))
        assert "as above" in render.rehearsal_text(answer)


def test_a_hint_of_the_configuration_says_the_same_as_an_annotation_and_who_said_it() -> None:
    said = (
        Hint(gone="Deployment front/blue", of="Deployment front/green"),
        Hint(tokens_outside=True, of="ServiceAccount nowhere/api"),
    )
    play = script(BLUE, GREEN, disturbs=False)
    answer = rehearsed(replace(play, rules=replace(play.rules, hints=said)))
    assert answer.verdict is Verdict.STUCK
    assert answer.deadlocks[0].workloads == ("Deployment front/green",)
    assert answer.assumed[:2] == (
        (
            "Deployment front/green becomes ready only once Deployment front/blue is gone "
            "(the configuration says so)"
        ),
        "the hint on ServiceAccount nowhere/api means no object of the release",
    )


def test_tokens_outside_by_the_configuration_keep_the_rights_as_an_annotation_does() -> None:
    play = script(
        (namespace("old"), server("old"), binding("old")),
        (namespace("new"), server("new"), binding("new")),
        disturbs=False,
    )
    said = (Hint(tokens_outside=True, of="ServiceAccount old/api"),)
    answer = rehearsed(replace(play, rules=replace(play.rules, hints=said)))
    order = [step for step in answer.steps if "ClusterRoleBinding" in step or "Deployment old/api" in step]
    assert order[-1] == "narrow ClusterRoleBinding api-storage"


NEEDS = 'image: "standin/http:1", envFrom: [{secretRef: {name: key}}]'


def test_what_others_make_in_a_namespace_stands_there_and_in_a_new_one_comes_with_it() -> None:
    def keyed(where: str) -> tuple[str, ...]:
        app = web("app", where=where).replace('image: "standin/http:1"', NEEDS)
        return (namespace(where), app, ingress(f"{where}/app"))

    answer = rehearsed(script(keyed("old"), keyed("old"), disturbs=False))
    assert answer.verdict is Verdict.KEPT
    assert "Secret old/key stands, made by something else" in answer.assumed
    assert answer.missing == ()
    answer = rehearsed(script(keyed("old"), keyed("new"), disturbs=False))
    assert "Secret new/key comes with its namespace, made by something else" in answer.assumed
    assert answer.missing == ()
    assert answer.steps[-1] == "delete Deployment old/app"
    # What somebody else has put into the old namespace holds its deletion.
    (dead,) = answer.deadlocks
    assert dead.steps == (("delete Namespace old", ("Secret old/key is there",)),)


def test_pods_that_find_no_room_are_a_deadlock_with_the_reason() -> None:
    quota = (
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: few, namespace: front}\n"
        "spec: {hard: {pods: 2}}\n"
    )
    answer = rehearsed(script((*BLUE, quota), (*GREEN, quota), disturbs=False))
    assert answer.verdict is Verdict.STUCK
    assert answer.is_exhaustive
    (dead,) = answer.deadlocks
    assert dead.workloads == ("Deployment front/green",)
    assert "exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2" in dead.because[0]
