"""What becomes of the hooks that ``helm template`` writes among the objects of a chart."""

from __future__ import annotations

import pytest

from agent.core.helm_hooks import as_own
from agent.core.model import Severity
from agent.core.yamlread import Reading, read_documents

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {%s}}
spec: {ttlSecondsAfterFinished: 5, template: {spec: {containers: [{name: a, image: a}]}}}
"""
ACCOUNT = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a, annotations: {helm.sh/hook: %s}}\n"


def read(text: str) -> Reading:
    return as_own(read_documents(text.encode(), "rendered:chart"))


@pytest.mark.parametrize(
    ("events", "when"),
    [
        ("pre-install", "before"),
        ("pre-install,pre-upgrade", "before"),
        ("post-upgrade", "after"),
        ("post-install, post-upgrade", "after"),
        ("pre-install,post-upgrade", "after"),
        ("test,post-install", "after"),
    ],
)
def test_a_job_is_a_hook_of_ours(events: str, when: str) -> None:
    (document,) = read(JOB % f'"helm.sh/hook": "{events}"').documents
    annotations = document.body["metadata"]["annotations"]
    assert annotations == {"helm.sh/hook": events, "trapeze.dev/hook": f"{when} everything"}
    assert list(document.body["spec"]) == ["template"]


def test_one_that_helm_takes_away_after_success_goes_here_too() -> None:
    policy = "helm.sh/hook-delete-policy: 'before-hook-creation,hook-succeeded'"
    (document,) = read(JOB % f"helm.sh/hook: pre-upgrade, {policy}").documents
    assert document.body["metadata"]["annotations"]["trapeze.dev/hook-done"] == "delete"


def test_what_somebody_has_said_of_a_job_stands() -> None:
    (document,) = read(JOB % "helm.sh/hook: pre-upgrade, trapeze.dev/hook: before cutovers").documents
    assert document.body["metadata"]["annotations"]["trapeze.dev/hook"] == "before cutovers"


@pytest.mark.parametrize("events", ["test", "test-success", "pre-delete", "post-delete", "pre-rollback"])
def test_what_is_for_another_event_is_left_out_and_told(events: str) -> None:
    reading = read(JOB % f"helm.sh/hook: {events}")
    assert reading.documents == ()
    (finding,) = reading.findings
    assert finding.severity is Severity.WARNING
    assert f"Job migrate is a hook of Helm for {events}, and is left out" in str(finding)


@pytest.mark.parametrize("text", [ACCOUNT % "pre-install", ACCOUNT % "crd-install", JOB % ""])
def test_other_objects_stay_as_they_are(text: str) -> None:
    plain = read_documents(text.encode(), "rendered:chart")
    assert (read(text).documents, read(text).findings) == (plain.documents, ())
