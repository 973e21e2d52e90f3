"""What was seen of the new generation, in numbers: what is not there, what is not ready, and why.

Reasons for people; a step that waits is held by the gates that quote them (agent/core/gates.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent.core.health import health
from agent.core.model import Live, LiveObject, ObjectId
from agent.core.passing import passed
from agent.core.policy import PODS
from agent.core.references import pod_template
from agent.core.situation import Situation
from agent.core.workloads import trouble_of

_SHOWN = 2
_LAST = ("not ready", "starting", "terminating")
"""Troubles that may pass by themselves: told after the others."""


def missing(situation: Situation) -> tuple[ObjectId, ...]:
    """Desired objects that are not there and are to come; what ended and went by itself is none of them."""
    wanted = situation.desired.manifests
    absent = [key for key in sorted(wanted) if situation.live.get(key) is None]
    return tuple(key for key in absent if not passed(situation, wanted[key]))


def unready(situation: Situation) -> Iterator[str]:
    """What keeps the new generation from being ready: absent objects, then those that are not ready."""
    absent = missing(situation)
    if absent:
        number, are = len(situation.desired.manifests), "is" if len(absent) == 1 else "are"
        yield f"{len(absent)} of {number} objects {are} not there yet ({absent[0]})"
    yield from unready_of(situation, situation.desired.manifests)


def unready_of(situation: Situation, keys: Iterable[ObjectId]) -> Iterator[str]:
    """Of these objects those that are there and not ready."""
    for key in sorted(keys):
        obj = situation.live.get(key)
        if obj is not None:
            verdict = health(obj, situation.health)
            if not verdict.is_ready:
                yield f"{key}: {verdict.message}" + _pods_of(situation, obj)


def ending(live: Live, key: ObjectId) -> str:
    """Why what stands there is soon gone, in words, or empty: its delete, or its namespace's, was accepted.

    Until the last finalizer is off it looks as it did, status and endpoints too
    (kubernetes.io/docs/concepts/overview/working-with-objects/finalizers).
    """
    obj = live.get(key)
    if obj is not None and obj.is_deleting:
        return f"{key} is being deleted"
    namespace = live.get(ObjectId("", "Namespace", "", key.namespace)) if key.namespace else None
    return f"namespace {key.namespace} is being deleted" if namespace and namespace.is_deleting else ""


def _pods_of(situation: Situation, obj: LiveObject) -> str:
    if obj.id.group_kind == PODS or pod_template(obj.body, situation.policy) is None:
        return ""
    root = situation.workloads.root
    return troubled(pod for pod in situation.workloads.running if root(pod).uid == obj.uid)


def troubled(pods: Iterable[LiveObject]) -> str:
    """``"; 2 pods CrashLoopBackOff, exit 1 (web-1)"``: what is wrong with how many, or empty."""
    found: dict[str, list[str]] = {}
    for pod in pods:
        trouble = trouble_of(pod)
        if trouble:
            found.setdefault(trouble, []).append(pod.id.name)
    worst = sorted(found, key=lambda trouble: (trouble in _LAST, -len(found[trouble]), trouble))
    said = [f"{_pods(len(found[trouble]))} {trouble} ({found[trouble][0]})" for trouble in worst[:_SHOWN]]
    return "".join(f"; {one}" for one in said)


def _pods(number: int) -> str:
    return "1 pod" if number == 1 else f"{number} pods"
