"""Changed values of a ConfigMap that pods of both generations read (issue 5, point 5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent.core.policy import PODS
from agent.core.situation import ConfigChanges
from agent.errors import Forbidden
from tests.shell.faults import Call, Hooked
from tests.shell.job import Job
from tests.shell.releases import CONFIG, ingress, namespace, web

HOLD = ConfigChanges.HOLD
READS = 'image: "standin/http:%d", envFrom: [{configMapRef: {name: settings}}]'
NARROW, UPDATE = "narrow ConfigMap front/settings", "update ConfigMap front/settings"
HIDDEN = """\
apiVersion: v1
kind: Secret
metadata: {name: settings, namespace: default}
stringData: {colour: %s}
"""


def release(name: str, image: int, colour: str, *, annotation: str = "") -> tuple[str, ...]:
    """A Deployment that reads the ConfigMap ``settings``, both behind the Ingress."""
    config = (CONFIG % colour).replace("namespace: default", f"namespace: front{annotation}")
    reader = web(name).replace('image: "standin/http:1"', READS % image)
    return (namespace("front"), config, reader, ingress(f"front/{name}"))


def upgraded(job: Job, new: tuple[str, ...]) -> list[str]:
    """What was written from release ``blue`` with red settings to ``new``."""
    job.release(*release("blue", 1, "red"))
    job.run()
    job.release(*new)
    return job.run()


def colour(job: Job) -> str:
    found = job.get("ConfigMap", "front/settings")
    assert found is not None
    return str(found["data"]["colour"])


@pytest.mark.parametrize("new", [("green", 1), ("blue", 2)], ids=["beside", "in place"])
def test_held_it_is_written_after_the_last_old_pod_has_gone(new: tuple[str, int]) -> None:
    job = Job(config_changes=HOLD)
    written = upgraded(job, release(*new, "green"))
    assert written[-1] == UPDATE
    assert colour(job) == "green"
    assert job.plan().steps == ()


def test_while_an_old_pod_reads_it_the_old_values_stand_and_the_hold_says_who() -> None:
    job = Job(config_changes=HOLD)
    job.release(*release("blue", 1, "red"))
    job.run()
    slow = "standin.dev/never-ready: 'true'"
    late = [text.replace("standin.dev/ready-after: '1'", slow) for text in release("blue", 2, "green")]
    job.release(*late)
    job.hold(10)
    assert colour(job) == "red"
    assert "of both generations" in next(s.says for s in job.plan().steps if s.key == NARROW)
    job.release(*release("blue", 2, "green"))
    assert job.run()[-1] == UPDATE
    assert colour(job) == "green"


def test_written_at_once_the_plan_says_under_whom_and_the_ways_out() -> None:
    job = Job()
    job.release(*release("blue", 1, "red"))
    job.run()
    job.release(*release("blue", 2, "green"))
    (warning,) = job.plan().warnings
    assert warning.startswith(
        "ConfigMap front/settings changes data.colour under pods of Deployment front/blue:"
    )
    assert "a name of its own keeps both, trapeze.dev/config-changes: hold waits" in warning
    assert UPDATE in job.run()
    assert job.plan().warnings == ()


def test_the_object_s_own_word_goes_before_the_set_s() -> None:
    note = ", annotations: {trapeze.dev/config-changes: %s}"
    assert upgraded(Job(), release("blue", 2, "green", annotation=note % "hold"))[-1] == UPDATE
    assert (
        upgraded(Job(config_changes=HOLD), release("blue", 2, "green", annotation=note % "write"))[0]
        == UPDATE
    )
    job = Job()
    job.release(*release("blue", 1, "red", annotation=note % "wait"))
    (warning,) = job.plan().warnings
    assert "says 'wait', not write or hold" in warning


def test_what_no_old_pod_reads_is_written_at_once() -> None:
    job = Job(config_changes=HOLD)
    job.release(*release("blue", 1, "red"))
    job.run()
    job.release(*release("blue", 1, "green"))
    assert job.run() == [UPDATE]


def test_pods_that_cannot_be_read_are_no_sign_that_nobody_reads_it() -> None:
    blind = False

    def hook(call: Call, do: Callable[[], Any]) -> Any:
        if blind and call.method.startswith("list") and call.kind == PODS:
            raise Forbidden("pods cannot be listed")
        return do()

    job = Job(wrap=lambda cluster: Hooked(cluster, hook), config_changes=HOLD)
    job.release(*release("blue", 1, "red"))
    job.run()
    job.release(*release("blue", 1, "green"))
    blind = True
    job.hold(3)
    assert colour(job) == "red"
    blind = False
    assert job.run() == [UPDATE]


def test_a_secret_is_held_too_and_no_value_is_told() -> None:
    def texts(image: int, value: str) -> tuple[str, ...]:
        reader = web("blue", where="default").replace('image: "standin/http:1"', READS % image)
        return (HIDDEN % value, reader.replace("configMapRef", "secretRef"))

    job = Job(config_changes=HOLD)
    job.release(*texts(1, "old-marker"))
    job.run()
    job.release(*texts(2, "new-marker"))
    plan = job.plan()
    assert "marker" not in str([(step.says, step.gates) for step in plan.steps])
    assert job.run()[-1] == "update Secret default/settings"
