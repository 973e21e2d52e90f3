"""Webhooks of the set that would refuse our own writes."""

from __future__ import annotations

from tests.shell.job import Job, reasons
from tests.shell.judged import Judged
from tests.shell.releases import CONFIG, namespace, server

FRONT = namespace("front")


def webhook(name: str, port: int) -> str:
    """A webhook that is asked about every write of a namespaced object and must answer."""
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
