"""Backends that are no Deployment with pods: none wanted, a name for another Service, bare pods."""

from __future__ import annotations

import pytest

from tests.shell.job import Job, reasons
from tests.shell.judged import Judged
from tests.shell.releases import ingress, namespace, server, web
from tests.shell.test_hostile_webhooks import webhook

FRONT = namespace("front")


def alias(name: str) -> str:
    return f"""\
apiVersion: v1
kind: Service
metadata: {{name: alias, namespace: front}}
spec: {{type: ExternalName, externalName: {name}}}
"""


def test_an_application_that_git_scales_to_zero_holds_neither_its_pointer_nor_the_next_release() -> None:
    job = Job()
    job.release(FRONT, web("blue", replicas=0), ingress("front/blue"))
    assert "create Ingress front/front" in job.run()
    job.release(FRONT, web("green", replicas=0), ingress("front/green"))
    assert job.run()[-1] == "delete Deployment front/blue"


def test_a_pointer_in_use_does_not_move_to_an_application_that_git_scales_to_zero() -> None:
    old = (FRONT, web("blue"), ingress("front/blue"))
    judged = Judged(old, (FRONT, web("green", replicas=0), ingress("front/green")))
    judged.job.hold(10)
    assert "Git wants no pods there" in reasons(judged.job.plan(), "cutover Ingress front/front")
    assert judged.verdict().broken == ()


def test_a_webhook_is_not_made_while_git_wants_nobody_behind_it() -> None:
    job = Job()
    job.release(FRONT, server("front", replicas=0), webhook("api", 443))
    job.hold(5)
    key = "create ValidatingWebhookConfiguration gate"
    assert "Git wants no pods there" in reasons(job.plan(), key)


@pytest.mark.parametrize("suffix", ["svc", "svc.cluster.local", "svc.cluster.local."])
def test_a_name_for_a_service_moves_when_the_next_one_serves(suffix: str) -> None:
    old = (FRONT, web("blue"), alias(f"blue.front.{suffix}"), ingress("front/alias"))
    slow = web("green", knobs="standin.dev/ready-after: '6'")
    written = Judged(old, (FRONT, slow, alias(f"green.front.{suffix}"), ingress("front/alias"))).run()
    assert written.index("update Service front/alias") > written.index("create Deployment front/green")
    assert written[-1] == "delete Deployment front/blue"


def test_a_name_waits_for_the_service_that_never_serves() -> None:
    old = (FRONT, web("blue"), alias("blue.front.svc"), ingress("front/alias"))
    dead = web("green", knobs="standin.dev/never-ready: 'true'")
    judged = Judged(old, (FRONT, dead, alias("green.front.svc"), ingress("front/alias")))
    judged.job.hold(10)
    assert "0 of 2 endpoints ready" in reasons(judged.job.plan(), "update Service front/alias")


def test_names_that_lead_out_of_the_cluster_or_in_a_circle_end_in_an_answer() -> None:
    job = Job()
    job.release(FRONT, alias("db.example.test"), ingress("front/alias"))
    assert "create Ingress front/front" in job.run()
    job = Job()
    job.release(FRONT, alias("alias.front.svc"), ingress("front/alias"))
    job.hold(3)
    assert "which is a name itself" in reasons(job.plan(), "create Ingress front/front")
