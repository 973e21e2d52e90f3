"""Whether something is still in use: the evidence for narrowing and pruning.

Asked of pods, not of workloads: a Deployment's counts leave out pods that are terminating
(KEP-3973, status.terminatingReplicas), and those still work under their ServiceAccount.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from agent.core.facet import Facet
from agent.core.few import SHOWN
from agent.core.hints import hint_of
from agent.core.model import Body, GroupKind, LiveObject, ObjectId
from agent.core.policy import PODS
from agent.core.references import Reference, pod_template, uses
from agent.core.simulation.selectors import selects
from agent.core.situation import Situation
from agent.core.targets import Target
from agent.core.workloads import service_account_of

_ACCOUNT: Final = "system:serviceaccount:"
_ACCOUNTS_OF: Final = "system:serviceaccounts:"
_EVERY_POD: Final = ("system:serviceaccounts", "system:authenticated")


def idle_wants(facets: Iterable[Facet]) -> str:
    """What a step waits for that takes these facets away, in words."""
    entries = [entry for facet in facets for entry in facet.removed if isinstance(entry, dict)]
    names = [f"{e.get('namespace', '')}/{e['name']}" for e in entries if e.get("kind") == "ServiceAccount"]
    if not names:
        return "nothing of the old generation uses what is taken away"
    return f"no pod of the old generation runs as {', '.join(names[:SHOWN])}"


def users_of_account(situation: Situation, namespace: str, name: str) -> Iterator[str]:
    """Who works under this ServiceAccount and is not of the desired generation, in words.

    Pods count until they are gone; so do workloads that the set does not want, also scaled to zero, and
    CronJobs: they can start a pod at any time. Pods of the template that a desired workload has now are
    left out, since the desired bindings and rules are made for them.
    """
    yield from _users_of_accounts(situation, namespace, name)


def _users_of_accounts(situation: Situation, namespace: str, name: str = "") -> Iterator[str]:
    """The same; without a name of every account in the namespace."""
    for pod in situation.workloads.running:
        is_meant = name in ("", service_account_of(pod.body.get("spec") or {}))
        if is_meant and pod.id.namespace == namespace and not is_desired_pod(situation, pod):
            yield _pod_text(pod)
    for workload in situation.workloads.templated:
        if workload.id.namespace != namespace or workload.id in situation.desired.manifests:
            continue
        template = pod_template(workload.body, situation.policy) or {}
        account = service_account_of(template.get("spec") or {})
        if name in ("", account) and situation.workloads.owner(workload) is None:
            yield str(workload.id)


def _pod_text(pod: LiveObject) -> str:
    return f"pod {pod.id.name} ({'terminating' if pod.is_deleting else 'running'})"


def _leaving_pods(situation: Situation) -> Iterator[str]:
    """Pods that end, those of members that the desired revision does not name, and those of none any more."""
    for pod in situation.workloads.running:
        root = situation.workloads.root(pod)
        is_left = root.id in situation.ledger.entries and root.id not in situation.desired.manifests
        if pod.is_deleting or is_left or _has_lost_its_workload(situation, root):
            yield _pod_text(pod)


def is_old_pod(situation: Situation, pod: LiveObject) -> bool:
    """Whether the pod is of a generation of the set that goes, or ends anyway: it will be gone by itself."""
    root = situation.workloads.root(pod)
    is_own = root.id in situation.ledger.entries or _has_lost_its_workload(situation, root)
    return (pod.is_deleting or is_own) and not is_desired_pod(situation, pod)


def _has_lost_its_workload(situation: Situation, root: LiveObject) -> bool:
    """Whether the top of a chain names a workload that is gone: garbage collection is on its way."""
    return any(
        ref.get("controller") and situation.policy.of(_kind_of_owner(ref)).pod_template is not None
        for ref in root.metadata.get("ownerReferences") or ()
    )


def _kind_of_owner(ref: Body) -> GroupKind:
    return GroupKind(str(ref.get("apiVersion", "")).rpartition("/")[0], str(ref.get("kind", "")))


def is_desired_pod(situation: Situation, pod: LiveObject) -> bool:
    """Whether the pod is of the template that a desired workload has now, or is desired itself."""
    if pod.id in situation.desired.manifests:
        return not pod.is_deleting
    workload = situation.workloads.root(pod)
    return workload.id in situation.desired.manifests and situation.workloads.is_of_current_template(pod)


def users_of_subject(situation: Situation, subject: Body, namespace: str) -> Iterator[str]:
    """Who uses what a binding's subject may; ``namespace`` is the binding's own.

    Users and Groups that stand for ServiceAccounts are looked for among the pods
    (kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin). Of groups that hold every pod of
    the cluster those of the set count that leave. Any other User or Group leaves no trace in the cluster: it
    counts as in use (the caller waits for the end of the handoff).
    """
    name = str(subject.get("name", ""))
    user, group = name.removeprefix(_ACCOUNT), name.removeprefix(_ACCOUNTS_OF)
    match subject.get("kind"):
        case "ServiceAccount":
            place = str(subject.get("namespace") or namespace)
            yield from users_of_account(situation, place, name)
            holder = situation.live.get(ObjectId("", "ServiceAccount", place, name))
            said = situation.rules.hints
            if holder is not None and hint_of(holder.id, holder.body, said).tokens_outside:
                yield f"tokens of {holder.id} outside the cluster (leaves no trace)"
        case "User" if user != name:
            where, _, account = user.partition(":")
            yield from users_of_account(situation, where, account)
        case "Group" if group != name:
            yield from _users_of_accounts(situation, group)
        case kind:
            if kind == "Group" and name in _EVERY_POD:
                yield from _leaving_pods(situation)
            yield f"{kind} {name} (leaves no trace)"


def users_of_role(situation: Situation, role: ObjectId) -> Iterator[str]:
    """Who uses a Role or ClusterRole, through every live binding that names it or a role that gathers it."""
    for holder in _holders(situation, role):
        obj = situation.live.get(holder)
        for subject in (obj.body.get("subjects") or ()) if obj else ():
            yield from users_of_subject(situation, subject, holder.namespace)


def _holders(situation: Situation, role: ObjectId) -> list[ObjectId]:
    """What names the role, and what names the roles that gather its rules (aggregationRule)."""
    found: dict[ObjectId, None] = {}
    left = [role]
    while left:
        near = [key for key in sorted(situation.live_graph.users_of(left.pop())) if key not in found]
        found.update(dict.fromkeys(near))
        left += [key for key in near if key.group_kind == role.group_kind]
    return list(found)


def old_pods_using(situation: Situation, object_id: ObjectId) -> Iterator[str]:
    """Running pods that name this object and are not of the desired generation."""
    for pod in situation.workloads.running:
        names = any(reference.target == object_id for reference in uses(pod.body, situation.policy))
        if names and not is_desired_pod(situation, pod):
            yield f"pod {pod.id.name}"


def old_pods_served(situation: Situation, holder: ObjectId, removed: Iterable[object]) -> Iterator[str]:
    """Pods of the set's old generations that still run and that a holder serves by their labels.

    Those that it selects, and those that something names which is taken away (a peer of a NetworkPolicy).
    """
    obj = situation.live.get(holder)
    targets = [ref.target for ref in uses(obj.body, situation.policy) if ref.grants] if obj else []
    meant = [target for target in targets if isinstance(target, Target) and target.kind == PODS]
    if not meant:
        return
    peers = [peer for entry in removed for peer in _peers(entry)]
    for pod in situation.workloads.running:
        if not is_old_pod(situation, pod):
            continue
        is_selected = any(target.takes(pod.id.namespace, pod.labels) for target in meant)
        if is_selected or any(_is_meant(situation, peer, pod, holder.namespace) for peer in peers):
            yield _pod_text(pod)


def _peers(part: object) -> Iterator[Body]:
    """Every part of an entry that means pods by their labels."""
    if isinstance(part, dict):
        if {"podSelector", "namespaceSelector"} & part.keys():
            yield part
        for value in part.values():
            yield from _peers(value)
    elif isinstance(part, list):
        for item in part:
            yield from _peers(item)


def _is_meant(situation: Situation, peer: Body, pod: LiveObject, namespace: str) -> bool:
    spaces = peer.get("namespaceSelector")
    if spaces is None and pod.id.namespace != namespace:
        return False
    space = situation.live.get(ObjectId("", "Namespace", "", pod.id.namespace))
    if spaces is not None and not selects(spaces, space.labels if space else {}):
        return False
    return selects(peer.get("podSelector") or {}, pod.labels)


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


def still_named(situation: Situation, object_id: ObjectId) -> Iterator[ObjectId]:
    """Objects that Git wants and whose manifests name this one and could not do without it."""
    for user in sorted(situation.next_graph.users_of(object_id)):
        wanted = situation.desired.manifests.get(user)
        references = uses(wanted.body, situation.policy) if wanted else ()
        if any(_needs(reference, object_id) for reference in references):
            yield user


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
