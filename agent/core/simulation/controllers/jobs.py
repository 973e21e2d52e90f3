"""Jobs: pods that end (https://kubernetes.io/docs/concepts/workloads/controllers/job/)."""

from __future__ import annotations

from typing import Final

from agent.core.model import ObjectId
from agent.core.simulation.controllers.common import (
    Controller,
    children,
    conditions,
    counts,
    is_active,
    is_deleting,
    is_ready,
    pod_calls,
    set_status,
    spawn,
)
from agent.core.simulation.draft import Draft
from agent.core.simulation.serving import condition
from agent.core.simulation.tables import dig
from agent.core.simulation.world import NEVER, stamp

RETRY: Final = 1.0


def sync(draft: Draft, key: ObjectId) -> float:
    """Start what is missing of a Job, and note what has ended."""
    job = draft.get(key)
    if job is None or is_deleting(job) or "True" in (condition(job, "Complete"), condition(job, "Failed")):
        return NEVER
    spec, uid = job["spec"], job["metadata"]["uid"]
    pods = [pod for _, pod in children(draft, uid)]
    succeeded = sum(dig(pod, ("status", "phase")) == "Succeeded" for pod in pods)
    failed = sum(dig(pod, ("status", "phase")) == "Failed" for pod in pods)
    active = [pod for pod in pods if is_active(pod)]
    refused = ""
    is_complete, is_failed = succeeded >= spec["completions"], failed > spec["backoffLimit"]
    if not spec["suspend"] and not is_complete and not is_failed:
        missing = min(spec["parallelism"], spec["completions"] - succeeded) - len(active)
        for _ in range(missing):
            name = f"{key.name}-"
            refused = refused or spawn(draft, job, name, spec["template"])
    active = [pod for _, pod in children(draft, uid) if is_active(pod)]
    before = job.get("status") or {}
    status = {
        **counts(active=len(active), succeeded=succeeded, failed=failed),
        "ready": sum(is_ready(pod) for pod in active),
        "terminating": sum(is_deleting(pod) for pod in pods),
        "uncountedTerminatedPods": {},
    }
    if not spec["suspend"]:
        status["startTime"] = before.get("startTime") or stamp(draft.now)
    if is_complete:
        status["completionTime"] = stamp(draft.now)
        why = (True, "CompletionsReached", "Reached expected number of succeeded pods")
        status["conditions"] = conditions(draft, job, {"SuccessCriteriaMet": why, "Complete": why})
    elif is_failed:
        why = (True, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
        status["conditions"] = conditions(draft, job, {"FailureTarget": why, "Failed": why})
    elif spec["suspend"]:
        status["conditions"] = conditions(draft, job, {"Suspended": (True, "JobSuspended", "Job suspended")})
    set_status(draft, key, status)
    return draft.now + RETRY if refused else NEVER


CONTROLLER: Final = Controller("job", pod_calls("batch", "Job"), sync)
