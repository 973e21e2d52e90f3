"""Whether something is still in use: the evidence for narrowing and pruning.

Asked of pods, not of workloads: a Deployment's counts leave out pods that are terminating
(KEP-3973, status.terminatingReplicas), and those still work under their ServiceAccount.
"""

from __future__ import annotations

from collections.abc import Iterator

from agent.core.model import Body, LiveObject, ObjectId
from agent.core.references import Reference, pod_template, uses
from agent.core.situation import Situation
from agent.core.targets import Target
from agent.core.workloads import service_account_of


def users_of_account(situation: Situation, namespace: str, name: str) -> Iterator[str]:
    """Who works under this ServiceAccount and is not of the desired generation, in words.

    Pods count until they are gone; so do workloads that the set does not want, also scaled to zero, and
    CronJobs: they can start a pod at any time. Pods of the template that a desired workload has now are
    left out, since the desired bindings and rules are made for them.
    """
    for pod in situation.workloads.running:
        if pod.id.namespace != namespace or service_account_of(pod.body.get("spec") or {}) != name:
            continue
        if not is_desired_pod(situation, pod):
            state = "terminating" if pod.is_deleting else "running"
            yield f"pod {pod.id.name} ({state})"
    for workload in situation.workloads.templated:
        if workload.id.namespace != namespace or workload.id in situation.desired.manifests:
            continue
        template = pod_template(workload.body, situation.policy) or {}
        account = service_account_of(template.get("spec") or {})
        if account == name and situation.workloads.owner(workload) is None:
            yield str(workload.id)


def is_desired_pod(situation: Situation, pod: LiveObject) -> bool:
    """Whether the pod is of the template that a desired workload has now."""
    workload = situation.workloads.root(pod)
    return workload.id in situation.desired.manifests and situation.workloads.is_of_current_template(pod)


def users_of_subject(situation: Situation, subject: Body, namespace: str) -> Iterator[str]:
    """Who uses what a binding's subject may; ``namespace`` is the binding's own.

    A User or a Group leaves no trace in the cluster: it counts as in use (the caller waits for the end of
    the handoff).
    """
    if subject.get("kind") == "ServiceAccount":
        where = str(subject.get("namespace") or namespace)
        yield from users_of_account(situation, where, str(subject.get("name", "")))
    else:
        yield f"{subject.get('kind')} {subject.get('name')} (leaves no trace)"


def users_of_role(situation: Situation, role: ObjectId) -> Iterator[str]:
    """Who uses a Role or ClusterRole, through every live binding that names it."""
    for binding in situation.live_graph.users_of(role):
        obj = situation.live.get(binding)
        for subject in (obj.body.get("subjects") or ()) if obj else ():
            yield from users_of_subject(situation, subject, binding.namespace)


def old_pods_using(situation: Situation, object_id: ObjectId) -> Iterator[str]:
    """Running pods that name this object and are not of the desired generation."""
    for pod in situation.workloads.running:
        names = any(reference.target == object_id for reference in uses(pod.body, situation.policy))
        if names and not is_desired_pod(situation, pod):
            yield f"pod {pod.id.name}"


def users_by_name(situation: Situation, object_id: ObjectId) -> Iterator[str]:
    """Live objects and pods that name this object and could not do without it.

    References that only grant something to what they name do not need it, what an object owns goes with
    it, and pods count rather than the ReplicaSets that once made them.
    """
    for user in sorted(situation.live_graph.users_of(object_id)):
        obj = situation.live.get(user)
        if obj is None or not _is_in_use(situation, obj):
            continue
        if any(_needs(reference, object_id) for reference in uses(obj.body, situation.policy)):
            yield str(user) + (" (terminating)" if obj.is_deleting else "")


def _needs(reference: Reference, object_id: ObjectId) -> bool:
    is_owner = reference.path[:2] == ("metadata", "ownerReferences")
    return reference.target == object_id and not reference.grants and not is_owner


def _is_in_use(situation: Situation, obj: LiveObject) -> bool:
    if obj.id.group_kind == ("", "Pod"):
        return obj in situation.workloads.running
    return situation.workloads.owner(obj) is None or pod_template(obj.body, situation.policy) is None


def services_selecting(situation: Situation, workload: LiveObject) -> Iterator[LiveObject]:
    """Live Services that select the workload's pods by their template's labels."""
    template = pod_template(workload.body, situation.policy) or {}
    labels = (template.get("metadata") or {}).get("labels") or {}
    for service in situation.live.of_kind("", "Service"):
        for reference in uses(service.body, situation.policy):
            target = reference.target
            if isinstance(target, Target) and target.takes(workload.id.namespace, labels):
                yield service
