"""ReplicaSets that outlive their Deployment and go on serving until the next one does.

A Deployment's selector cannot be changed (kubernetes.io/docs/concepts/workloads/controllers/deployment,
label selector updates). Deleted with propagation Orphan it leaves its ReplicaSets behind, whose uids the
ledger names before that. A new selector that takes an orphan's labels adopts it: the new Deployment then
rolls it over as it would a ReplicaSet of its own, and a Service must select the pods of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agent.core.ledger import Entry, Orphan
from agent.core.model import GroupKind, LiveObject, Manifest, ObjectId
from agent.core.policy import Policy
from agent.core.scaling import as_scaled
from agent.core.selectors import labels_wanted
from agent.core.situation import Situation
from agent.core.workloads import labels_of_template

REPLICASET = GroupKind("apps", "ReplicaSet")


def owned_sets(situation: Situation, live: LiveObject) -> tuple[Orphan, ...]:
    """The ReplicaSets that a Deployment leaves behind when it is deleted without them."""
    owned = (rs for rs in situation.live.of_kind(*REPLICASET) if _owner(rs) == live.uid)
    return tuple(sorted(Orphan(rs.id, rs.uid) for rs in owned))


def orphans_left(situation: Situation) -> Iterator[tuple[Entry, LiveObject]]:
    """Orphans of the ledger that stand and that nothing has adopted, each with its Deployment's entry."""
    for _, entry in sorted(situation.ledger.entries.items()):
        for orphan in entry.orphans:
            live = situation.live.get(orphan.id)
            if live is not None and live.uid == orphan.uid and not _owner(live):
                yield entry, live


def is_orphan(situation: Situation, live: LiveObject) -> bool:
    """Whether the ledger names this very object as an orphan of ours."""
    return any(one.uid == live.uid for _, one in orphans_left(situation))


def of_entry(situation: Situation, key: ObjectId) -> list[LiveObject]:
    """The orphans that the Deployment ``key`` left behind and that stand alone."""
    return [live for entry, live in orphans_left(situation) if entry.id == key]


def unreleased(situation: Situation, key: ObjectId) -> Iterator[str]:
    """Orphans that still name an owner that is gone: garbage collection would take them along."""
    entry = situation.ledger.entries.get(key)
    for orphan in entry.orphans if entry else ():
        live = situation.live.get(orphan.id)
        owner = _owner(live) if live is not None and live.uid == orphan.uid else ""
        if owner and not any(obj.uid == owner for obj in situation.live.of_kind("apps", "Deployment")):
            yield f"{orphan.id} still names its old Deployment as owner"


def adopts(policy: Policy, manifest: Manifest, former: LiveObject) -> bool:
    """Whether the new Deployment would take the ReplicaSets (or the pods) of the former one for its own."""
    wanted = labels_wanted((manifest.body.get("spec") or {}).get("selector"), "label-selector")
    return wanted is not None and wanted.match(labels_of_template(policy, former.body))


def as_before(situation: Situation, manifest: Manifest) -> Manifest:
    """A Deployment that an autoscaler scales begins with as many replicas as its orphan has."""
    left = of_entry(situation, manifest.id) if manifest.id in situation.scaled else []
    most = max(left, key=_replicas, default=None)
    return replace(manifest, body=as_scaled(manifest, most, situation.policy)) if most else manifest


def _replicas(live: LiveObject) -> int:
    return int((live.body.get("spec") or {}).get("replicas") or 0)


def _owner(live: LiveObject) -> str:
    """The uid of the controller that the object names, or empty."""
    owners = live.metadata.get("ownerReferences") or ()
    return next((str(owner.get("uid")) for owner in owners if owner.get("controller")), "")
