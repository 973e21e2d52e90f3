"""Cutovers are watched once they have moved: what fails goes back, and what waits says why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.core.acts import ActKind
from agent.core.ledger import GenerationState
from agent.core.situation import AfterDeadline
from agent.core.steps import Verb
from agent.errors import Rejected
from tests.shell.faults import Call, Hooked
from tests.shell.job import Job
from tests.shell.releases import CONFIG, namespace, web

FRONT = namespace("front")
BLUE, GREEN = web("blue"), web("green")


def webhook(name: str) -> str:
    return f"""\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: gate}}
webhooks:
- name: gate.example.test
  clientConfig: {{service: {{name: {name}, namespace: front, port: 80}}}}
  rules: [{{apiGroups: [""], apiVersions: ["*"], operations: [UPDATE], resources: [configmaps]}}]
  admissionReviewVersions: [v1]
  sideEffects: None
"""


class Deaf:
    """While ``is_deaf``, the webhook does not answer a dry run of a ConfigMap."""

    def __init__(self) -> None:
        self.is_deaf = False
        self.asked = 0

    def __call__(self, call: Call, do: Callable[[], Any]) -> Any:
        """Make the request, or refuse it in the webhook's stead."""
        if call.method == "dry_run" and call.about == "default/settings":
            self.asked += 1
            if self.is_deaf:
                reason = 'failed calling webhook "gate.example.test": connection refused'
                raise Rejected(reason, is_unanswered=True)
        return do()


def moved_webhook(hook: Deaf) -> Job:
    job = Job(wrap=lambda cluster: Hooked(cluster, hook))
    job.release(FRONT, BLUE, CONFIG % "red", webhook("blue"))
    job.run()
    job.release(FRONT, BLUE, GREEN, CONFIG % "red", webhook("green"))
    return job


def test_a_webhook_that_moved_is_asked_by_a_dry_run_of_an_object_of_the_set() -> None:
    hook = Deaf()
    job = moved_webhook(hook)
    before = hook.asked
    assert "cutover ValidatingWebhookConfiguration gate" in job.run()
    assert hook.asked > before


def test_a_webhook_that_does_not_answer_is_pointed_back_although_its_endpoints_are_ready() -> None:
    hook = Deaf()
    job = moved_webhook(hook)
    while "cutover ValidatingWebhookConfiguration gate" not in job.written:
        job.tick()
    hook.is_deaf = True
    backs = []
    for _ in range(8):
        report = job.tick()
        backs += [o.step for o in report.outcomes if o.step.verb is Verb.POINT_BACK]
    assert "gate.example.test does not answer" in backs[0].says
    hook.is_deaf = False
    job.run()
    live = job.get("ValidatingWebhookConfiguration.admissionregistration.k8s.io", "gate")
    assert live is not None
    assert live["webhooks"][0]["clientConfig"]["service"]["name"] == "green"


INGRESS = """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: front, namespace: front}
spec: {defaultBackend: {service: {name: %s, port: {number: 80}}}}
"""
NEVER = web("stuck", replicas=1, knobs="standin.dev/never-ready: 'true'")


def late(after: AfterDeadline) -> Job:
    """A handoff whose pointer has moved, and which cannot end: one workload never gets ready."""
    job = Job(deadline=30.0, after_deadline=after)
    job.release(FRONT, BLUE, INGRESS % "blue")
    job.run()
    job.release(FRONT, GREEN, NEVER, INGRESS % "green")
    while "cutover Ingress front/front" not in job.written:
        job.tick()
    return job


def backend_of(job: Job) -> str:
    live = job.get("Ingress.networking.k8s.io", "front/front")
    assert live is not None
    return str(live["spec"]["defaultBackend"]["service"]["name"])


def test_a_deadline_that_holds_is_told_in_the_ledger_and_opens_nothing() -> None:
    job = late(AfterDeadline.HOLD)
    job.hold(40)
    holds = job.ledger().holds
    assert holds["deadline"].reason.startswith("the deadline of generation 2 passed at ")
    assert (backend_of(job), "delete Deployment front/blue" in job.written) == ("green", False)


def test_a_deadline_that_points_back_leaves_the_old_generation_serving() -> None:
    job = late(AfterDeadline.POINT_BACK)
    assert backend_of(job) == "green"
    job.hold(60)
    assert job.written.count("point back Ingress front/front") == 1
    assert (backend_of(job), "delete Deployment front/blue" in job.written) == ("blue", False)
    newest = job.ledger().newest
    assert newest is not None
    assert newest.state is GenerationState.ROLLING_OUT
    job.release(FRONT, GREEN, INGRESS % "green")
    job.run()
    assert (backend_of(job), "delete Deployment front/blue" in job.written) == ("green", True)


def test_a_deadline_that_reverts_brings_the_old_generation_back_whole() -> None:
    job = late(AfterDeadline.REVERT)
    for _ in range(40):
        job.tick()
    act = job.ledger().acts[-1]
    assert (act.kind, act.generation, act.by) == (ActKind.ABORT, 1, "the deadline")
    assert "Deployment front/stuck: " in act.reason
    job.run()
    assert backend_of(job) == "blue"
    assert {"delete Deployment front/green", "delete Deployment front/stuck"} <= set(job.written)
    assert "delete Deployment front/blue" not in job.written
    assert job.tick().plan is None
    assert [one.kind for one in job.ledger().acts] == [ActKind.ABORT], "it is given up once"
