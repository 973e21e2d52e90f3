"""Jobs: pods that end (https://kubernetes.io/docs/concepts/workloads/controllers/job/)."""

from __future__ import annotations

from typing import Final

from agent.core.model import Body, ObjectId
from agent.core.simulation.controllers.common import (
    Controller,
    children,
    conditions,
    counts,
    is_active,
    is_deleting,
    is_ready,
    pod_calls,
    retry_at,
    set_status,
    spawn,
)
from agent.core.simulation.draft import Draft
from agent.core.simulation.requests import begin_delete
from agent.core.simulation.serving import condition
from agent.core.simulation.tables import dig
from agent.core.simulation.world import NEVER, stamp


def sync(draft: Draft, key: ObjectId) -> float:
    """Start what is missing of a Job, end what is too much, note what has ended, and let it go in time."""
    job = draft.get(key)
    if job is None or is_deleting(job):
        return NEVER
    if "True" in (condition(job, "Complete"), condition(job, "Failed")):
        return _outlive(draft, key, job)
    uid, spec = job["metadata"]["uid"], job["spec"]
    started = draft.marked(uid, "begun")
    if not spec["suspend"] and started is None:
        started = draft.now
        draft.mark(uid, "begun", started)
    deadline = (started or 0) + spec.get("activeDeadlineSeconds", NEVER)
    end = _end(draft, job, is_late=not spec["suspend"] and draft.now >= deadline)
    refused = ""
    if spec["suspend"] or end:
        _stop(draft, uid)
    else:
        refused = _start(draft, key, job)
    _write_status(draft, key, job, end)
    if end:
        return _outlive(draft, key, draft.get(key) or job)
    return min(retry_at(draft, uid, refused), NEVER if spec["suspend"] else deadline)


def _phases(draft: Draft, job: Body) -> list[str]:
    return [dig(pod, ("status", "phase")) or "" for _, pod in children(draft, job["metadata"]["uid"])]


def _end(draft: Draft, job: Body, *, is_late: bool) -> dict[str, tuple[bool | str, str, str]]:
    """The conditions by which it ends now, or none."""
    spec, phases = job["spec"], _phases(draft, job)
    if phases.count("Succeeded") >= spec["completions"]:
        why = (True, "CompletionsReached", "Reached expected number of succeeded pods")
        return {"SuccessCriteriaMet": why, "Complete": why}
    if phases.count("Failed") > spec["backoffLimit"]:
        why = (True, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    elif is_late:
        why = (True, "DeadlineExceeded", "Job was active longer than specified deadline")
    else:
        return {}
    return {"FailureTarget": why, "Failed": why}


def _start(draft: Draft, key: ObjectId, job: Body) -> str:
    spec, pods = job["spec"], children(draft, job["metadata"]["uid"])
    active = sum(is_active(pod) for _, pod in pods)
    left = spec["completions"] - _phases(draft, job).count("Succeeded")
    for _ in range(min(spec["parallelism"], left) - active):
        refused = spawn(draft, job, f"{key.name}-", spec["template"])
        if refused:
            return refused
    return ""


def _stop(draft: Draft, uid: str) -> None:
    for key, pod in children(draft, uid):
        if is_active(pod):
            begin_delete(draft, key)


def _write_status(
    draft: Draft, key: ObjectId, job: Body, end: dict[str, tuple[bool | str, str, str]]
) -> None:
    pods, phases = [pod for _, pod in children(draft, job["metadata"]["uid"])], _phases(draft, job)
    active = [pod for pod in pods if is_active(pod)]
    before, is_suspended = job.get("status") or {}, job["spec"]["suspend"]
    status = {
        **counts(active=len(active), succeeded=phases.count("Succeeded"), failed=phases.count("Failed")),
        "ready": sum(is_ready(pod) for pod in active),
        "terminating": sum(is_deleting(pod) for pod in pods),
        "uncountedTerminatedPods": {},
    }
    if not is_suspended:
        status["startTime"] = before.get("startTime") or stamp(draft.now)
    if "Complete" in end:
        status["completionTime"] = stamp(draft.now)
    rows = dict(end)
    if is_suspended:
        rows["Suspended"] = (True, "JobSuspended", "Job suspended")
    elif condition(job, "Suspended"):
        rows["Suspended"] = (False, "JobResumed", "Job resumed")
    if rows:
        status["conditions"] = conditions(draft, job, rows)
    set_status(draft, key, status)


def _outlive(draft: Draft, key: ObjectId, job: Body) -> float:
    """A finished Job goes after ttlSecondsAfterFinished; without one it stays.

    https://kubernetes.io/docs/concepts/workloads/controllers/ttlafterfinished/
    """
    uid, ttl = job["metadata"]["uid"], job["spec"].get("ttlSecondsAfterFinished")
    since = draft.marked(uid, "ended")
    if since is None:
        since = draft.now
        draft.mark(uid, "ended", since)
    if ttl is None:
        return NEVER
    if draft.now >= since + ttl:
        begin_delete(draft, key)
        return NEVER
    return float(since + ttl)


CONTROLLER: Final = Controller("job", pod_calls("batch", "Job"), sync)
