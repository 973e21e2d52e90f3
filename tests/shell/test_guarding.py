"""What a new webhook is to be asked for is made after it, and nothing that it needs itself."""

from __future__ import annotations

import pytest

from tests.shell.job import Job, reasons
from tests.shell.releases import CONFIG, namespace, server

GUARD = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: guard}
webhooks:
- name: guard.example.test
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {name: api, namespace: hooks, port: 443}}
  namespaceSelector: {matchLabels: {guarded: "yes"}}
  rules:
  - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}
"""
SHOP = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {guarded: 'yes'}}\n"
INSIDE = CONFIG.replace("default", "shop") % "red"
OBJECT = "create ConfigMap shop/settings"
HOOK = "create ValidatingWebhookConfiguration guard"
CRASHING = "standin.dev/crash: '0'"


def released(guard: str = GUARD, inside: str = INSIDE, knobs: str = "standin.dev/ready-after: '2'") -> Job:
    job = Job()
    job.release(namespace("hooks"), SHOP, guard, server("hooks", knobs=knobs), inside)
    job.tick()
    return job


def test_object_that_the_webhook_guards_comes_after_it() -> None:
    """Issue 4, cases/40: made before, it goes by unasked."""
    job = released()
    assert f"{HOOK} is pending" in reasons(job.plan(), OBJECT)
    written = job.run()
    assert written.index(HOOK) < written.index(OBJECT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('guarded: "yes"', 'guarded: "no"'),
        ("[configmaps]", '["*"]'),
        ("[CREATE]", "[UPDATE]"),
        ("name: guard.example.test", "name: guard.example.test\n  failurePolicy: Ignore"),
        ("sideEffects: None", "sideEffects: None\n  objectSelector: {matchLabels: {app: x}}"),
    ],
    ids=["other-namespace", "every-kind", "not-asked-at-creation", "not-needed", "other-object"],
)
def test_object_that_no_webhook_guards_by_name_comes_at_once(old: str, new: str) -> None:
    job = released(GUARD.replace(old, new))
    assert job.get("ConfigMap", "shop/settings") is not None


def test_what_the_webhook_itself_needs_comes_before_it() -> None:
    mounted = "serviceAccountName: api\n      volumes: [{name: v, configMap: {name: settings}}]"
    job = Job()
    pods = server("hooks").replace("serviceAccountName: api", mounted)
    here = namespace("hooks").replace("name: hooks", "name: hooks, labels: {guarded: 'yes'}")
    job.release(here, GUARD, pods, CONFIG.replace("default", "hooks") % "red")
    written = job.run()
    assert written.index("create ConfigMap hooks/settings") < written.index(HOOK)


def test_object_is_not_held_for_a_webhook_whose_pods_are_in_trouble() -> None:
    """They may read it at their start, which no object says."""
    job = released(knobs=CRASHING)
    job.hold(20)
    assert job.get("ConfigMap", "shop/settings") is not None
    assert job.get("ValidatingWebhookConfiguration.admissionregistration.k8s.io", "guard") is None
