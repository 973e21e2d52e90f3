"""Objects that end and go by themselves: done once made, made anew when Git changes them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.core.ledger import GenerationState
from agent.core.model import ObjectId
from agent.core.passing import passed
from agent.core.situation import Situation
from tests.core.scenes import scene, with_entry, without

JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: once, namespace: shop}
spec: {%sbackoffLimit: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: %s}]}}}
"""
KEY = ObjectId("batch", "Job", "shop", "once")
TTL = "ttlSecondsAfterFinished: 5, "


def said(situation: Situation) -> str:
    return passed(situation, situation.desired.manifests[KEY])


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        (JOB % (TTL, "i"), JOB % (TTL, "i"), True),
        (JOB % (TTL, "i"), JOB % (TTL, "other"), False),
        (JOB % ("", "i"), JOB % ("", "i"), False),
        ("", JOB % (TTL, "i"), False),
    ],
)
def test_only_what_was_made_as_it_is_wanted_has_passed(base: str, head: str, *, expected: bool) -> None:
    assert bool(said(without(scene(base, head), KEY))) is expected


def test_what_was_never_written_has_not_passed() -> None:
    situation = without(scene(JOB % (TTL, "i"), JOB % (TTL, "i")), KEY)
    unwritten = with_entry(situation, replace(situation.ledger.entries[KEY], uid=""))
    assert said(unwritten) == ""


def test_a_hook_has_passed_once_its_generation_is_in_service() -> None:
    text = (JOB % ("", "i")).replace("shop}", "shop, annotations: {trapeze.dev/hook: before cutovers}}")
    hook = KEY._replace(name="once-g1")
    situation = scene("", text)
    assert passed(situation, situation.desired.manifests[hook]) == ""
    newest = replace(situation.ledger.generations[-1], state=GenerationState.IN_SERVICE)
    serving = replace(situation, ledger=replace(situation.ledger, generations=(newest,)))
    ran = passed(serving, serving.desired.manifests[hook])
    assert ran == "it ran before generation 1 was in service"
