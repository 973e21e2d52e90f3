"""Webhooks of the set that would refuse our own writes."""

from __future__ import annotations

from agent.core.model import Body
from tests.shell.job import MANAGER, Job, reasons
from tests.shell.judged import Judged
from tests.shell.releases import CONFIG, namespace, server, web

FRONT = namespace("front")


def webhook(name: str, port: int) -> str:
    """A webhook that is asked about every write in the namespace front and must answer."""
    return f"""\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: gate}}
webhooks:
- name: gate.example.test
  clientConfig: {{service: {{name: {name}, namespace: front, port: {port}}}}}
  rules:
  - {{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: ["*"]}}
  admissionReviewVersions: [v1]
  sideEffects: None
  namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: front}}}}
  failurePolicy: Fail
"""


def test_a_webhook_at_a_port_that_its_service_lacks_is_never_made() -> None:
    job = Job()
    job.release(FRONT, server("front"), webhook("api", 9443))
    job.hold(10)
    key = "create ValidatingWebhookConfiguration gate"
    assert "Service front/api has port 443, the pointer names 9443" in reasons(job.plan(), key)
    job.release(FRONT, server("front"), webhook("api", 443), CONFIG % "red")
    assert key in job.run()


def test_a_webhook_does_not_move_to_a_port_that_its_service_lacks() -> None:
    judged = Judged(
        (FRONT, server("front"), webhook("api", 443)), (FRONT, server("front"), webhook("api", 9443))
    )
    judged.job.hold(10)
    reason = reasons(judged.job.plan(), "cutover ValidatingWebhookConfiguration gate")
    assert "the pointer names 9443" in reason
    assert judged.verdict().broken == ()


def test_a_webhook_that_only_refuses_since_nothing_answers_goes_first_when_git_drops_it() -> None:
    job = Job()
    job.release(FRONT, server("front"), webhook("api", 443))
    job.run()
    job.apply(_scaled_to_nothing(job), manager=MANAGER)
    job.world.advance(20)
    job.release(FRONT, web("green"))
    written = job.run()
    assert written[0] == "delete ValidatingWebhookConfiguration gate"
    assert "create Deployment front/green" in written


def _scaled_to_nothing(job: Job) -> Body:
    live = job.get("Deployment.apps", "front/api")
    assert live is not None
    metadata = {key: live["metadata"][key] for key in ("name", "namespace", "labels", "annotations")}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {**live["spec"], "replicas": 0},
    }
