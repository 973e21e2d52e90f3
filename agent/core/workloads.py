"""Which pods run, under whom, and whether they are of the template that their workload has now.

A pod's generation is found by its owners, never by its labels: Pod -> ReplicaSet -> Deployment, or
Pod -> StatefulSet, DaemonSet, Job. ``deployment.kubernetes.io/revision`` tells the current ReplicaSet of a
Deployment, ``controller-revision-hash`` the current pods of a StatefulSet
(kubernetes.io/docs/concepts/workloads/controllers).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agent.core.model import Body, Live, LiveObject
from agent.core.policy import PODS, Policy
from agent.core.references import pod_template

_REVISION = "deployment.kubernetes.io/revision"
_FINISHED = ("Succeeded", "Failed")


@dataclass(frozen=True)
class Workloads:
    """An index over the pods and workloads of one observation."""

    live: Live
    policy: Policy

    @cached_property
    def _by_uid(self) -> Mapping[str, LiveObject]:
        return {obj.uid: obj for obj in self.live.objects.values()}

    @cached_property
    def running(self) -> tuple[LiveObject, ...]:
        """Pods that run or may still run: terminating ones count, finished ones do not."""
        pods = self.live.of_kind("", "Pod")
        return tuple(pod for pod in pods if (pod.body.get("status") or {}).get("phase") not in _FINISHED)

    @cached_property
    def templated(self) -> tuple[LiveObject, ...]:
        """Live objects that make pods from a template, by the policy's table, whatever their replicas."""
        return tuple(
            obj
            for obj in self.live.objects.values()
            if pod_template(obj.body, self.policy) is not None and obj.id.group_kind != PODS
        )

    def owner(self, obj: LiveObject) -> LiveObject | None:
        """The live controller of ``obj``, or None."""
        for ref in obj.metadata.get("ownerReferences") or ():
            if ref.get("controller"):
                return self._by_uid.get(str(ref.get("uid")))
        return None

    def root(self, obj: LiveObject) -> LiveObject:
        """The top of the chain of controllers: ``obj`` itself where nothing controls it."""
        seen = {obj.uid}
        while (owner := self.owner(obj)) is not None and owner.uid not in seen:
            # Owners can be written in a circle: then the chain ends where it began.
            seen.add(owner.uid)
            obj = owner
        return obj

    def is_of_current_template(self, pod: LiveObject) -> bool:
        """Whether ``pod`` was made from the template that its workload has now, and is to stay.

        A pod that is terminating, that nothing controls, or whose workload has not observed its last
        change is not.
        """
        workload = self.root(pod)
        if pod.is_deleting or workload is pod or workload.is_deleting or not has_observed(workload):
            return False
        direct = self.owner(pod)
        if direct is not None and direct is not workload:
            if _REVISION in workload.annotations:
                return direct.annotations.get(_REVISION) == workload.annotations[_REVISION]
            return bool(_spec_of(self.policy, direct.body) == _spec_of(self.policy, workload.body))
        update = (workload.body.get("status") or {}).get("updateRevision")
        return bool(update is None or pod.labels.get("controller-revision-hash") == update)

    def matching(self, namespace: str, selector: Mapping[str, str]) -> tuple[LiveObject, ...]:
        """Running pods in ``namespace`` that an equality selector matches and that stay."""
        return tuple(
            pod
            for pod in self.running
            if pod.id.namespace == namespace
            and not pod.is_deleting
            and selector.items() <= pod.labels.items()
        )

    def selected(self, namespace: str, selector: Mapping[str, str]) -> tuple[LiveObject, ...]:
        """Root workloads in ``namespace`` whose pods an equality selector matches; {} matches none."""
        if not selector:
            return ()
        return tuple(
            obj
            for obj in self.templated
            if obj.id.namespace == namespace
            and self.owner(obj) is None
            and selector.items() <= labels_of_template(self.policy, obj.body).items()
        )


def _spec_of(policy: Policy, body: Body) -> Any:
    """The pod spec of a template: a Job keeps that of its CronJob, whose labels it adds to."""
    return (pod_template(body, policy) or {}).get("spec")


def has_observed(workload: LiveObject) -> bool:
    """Whether the controller has seen the last change (observedGeneration reaches metadata.generation)."""
    observed = (workload.body.get("status") or {}).get("observedGeneration")
    wanted = workload.metadata.get("generation")
    return observed is None or wanted is None or observed >= wanted


def labels_of_template(policy: Policy, body: Body) -> Mapping[str, str]:
    """The labels that the workload's pods will carry; empty where it has no template."""
    template = pod_template(body, policy) or {}
    return (template.get("metadata") or {}).get("labels") or {}


def service_account_of(pod_spec: Body) -> str:
    """The name of the ServiceAccount that a pod spec runs under (``default`` when it names none)."""
    return str(pod_spec.get("serviceAccountName") or pod_spec.get("serviceAccount") or "default")


def is_ready(pod: LiveObject) -> bool:
    """Whether the pod's Ready condition is True and it is not going."""
    return not pod.is_deleting and ready_since(pod) is not None


def ready_since(pod: LiveObject) -> str | None:
    """The time at which Ready last became True (RFC 3339), or None where it is not True."""
    for condition in (pod.body.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "Ready" and condition.get("status") == "True":
            return str(condition.get("lastTransitionTime") or "")
    return None


def trouble_of(pod: LiveObject) -> str:
    """What keeps a pod from being ready, in the words of its status; empty when it is ready or has succeeded.

    Source: kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle (container states, conditions).
    """
    status = pod.body.get("status") or {}
    if is_ready(pod) or status.get("phase") == "Succeeded":
        return ""
    if pod.is_deleting:
        return "terminating"
    for container in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        trouble = _trouble_of_container(container)
        if trouble:
            return trouble
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            reason = str(condition.get("reason", "Unschedulable")).lower()
            return f"{reason}: {condition.get('message', '')}".rstrip(": ")
    return "starting" if status.get("phase") == "Pending" else "not ready"


def _trouble_of_container(status: Body) -> str:
    """``CrashLoopBackOff, exit 1`` or ``ErrImagePull: not found``: why it waits, and what ended it."""
    state = status.get("state") or {}
    waiting, ended = state.get("waiting") or {}, state.get("terminated") or {}
    before = ended or (status.get("lastState") or {}).get("terminated") or {}
    code = before.get("exitCode")
    failed = f"exit {code}" if code else ""
    if not waiting.get("reason"):
        return failed if ended else ""
    message = "" if failed else str(waiting.get("message", ""))
    return str(waiting["reason"]) + (f", {failed}" if failed else "") + (f": {message}" if message else "")
