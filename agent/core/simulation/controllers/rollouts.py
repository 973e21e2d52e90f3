"""A Deployment with its ReplicaSets, and the status that tells how far its rollout is.

https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status
"""

from __future__ import annotations

from typing import Final, NamedTuple

from agent.core.model import Body, ObjectId
from agent.core.simulation.controllers.common import Item, conditions, counts, resolve, set_status
from agent.core.simulation.draft import Draft
from agent.core.simulation.tables import dig
from agent.core.simulation.world import NEVER

HASH: Final = "pod-template-hash"
REVISION: Final = "deployment.kubernetes.io/revision"
RECREATE: Final = "Recreate"


class Rollout(NamedTuple):
    """A Deployment with its ReplicaSets: the one of its template (or None) and the others."""

    key: ObjectId
    body: Body
    new: Item | None
    old: tuple[Item, ...]

    @property
    def all(self) -> tuple[Item, ...]:
        """Every ReplicaSet."""
        return (*self.old, self.new) if self.new else self.old

    @property
    def replicas(self) -> int:
        """How many pods are asked for."""
        return int(self.body["spec"]["replicas"])

    @property
    def surge(self) -> int:
        """How many pods more than asked there may be."""
        return resolve(
            dig(self.body, ("spec", "strategy", "rollingUpdate", "maxSurge")) or 0, self.replicas, up=True
        )

    @property
    def most(self) -> int:
        """How many pods there may be at most."""
        return self.replicas + self.surge

    @property
    def unavailable(self) -> int:
        """How many pods fewer than asked may be available; one where surge and this are both zero."""
        if self.body["spec"]["strategy"]["type"] == RECREATE:
            return 0
        given = dig(self.body, ("spec", "strategy", "rollingUpdate", "maxUnavailable")) or 0
        number = resolve(given, self.replicas, up=False)
        return min(self.replicas, 1 if not number and not self.surge else number)


def size(item: Item) -> int:
    """How many pods a ReplicaSet is asked for."""
    return int(item[1]["spec"]["replicas"])


def write_status(draft: Draft, rollout: Rollout) -> float:
    """Write counts and conditions; when the rollout would pass its deadline."""
    rows = [dict(body.get("status") or {}) for _, body in rollout.all]
    new = dict((rollout.new[1].get("status") or {}) if rollout.new else {})
    total, available = (sum(row.get(name, 0) for row in rows) for name in ("replicas", "availableReplicas"))
    status = {
        "observedGeneration": rollout.body["metadata"]["generation"],
        **counts(
            replicas=total,
            updatedReplicas=new.get("replicas", 0),
            readyReplicas=sum(row.get("readyReplicas", 0) for row in rows),
            availableReplicas=available,
            unavailableReplicas=max(0, sum(size(item) for item in rollout.all) - available),
        ),
        "terminatingReplicas": sum(row.get("terminatingReplicas", 0) for row in rows),
    }
    progressing, due = _progress(draft, rollout, status)
    enough = available >= rollout.replicas - rollout.unavailable
    found = {
        "Available": (True, "MinimumReplicasAvailable", "Deployment has minimum availability.")
        if enough
        else (False, "MinimumReplicasUnavailable", "Deployment does not have minimum availability."),
        "Progressing": progressing,
    }
    status["conditions"] = conditions(draft, rollout.body, found | _failures(rollout))
    set_status(draft, rollout.key, status)
    return due


def _failures(rollout: Rollout) -> dict[str, tuple[bool | str, str, str]]:
    """A ReplicaSet whose pods the API server refuses says so, and its Deployment after it (sync.go)."""
    sets = ([rollout.new] if rollout.new else []) + list(rollout.old)
    rows = (row for _, body in sets for row in dig(body, ("status", "conditions")) or ())
    failed = next((row for row in rows if row["type"] == "ReplicaFailure"), None)
    return {"ReplicaFailure": (True, failed["reason"], failed["message"])} if failed else {}


def _progress(draft: Draft, rollout: Rollout, status: Body) -> tuple[tuple[bool | str, str, str], float]:
    """The Progressing condition and when it would fail (progress.go).

    https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status
    """
    uid, spec = rollout.body["metadata"]["uid"], rollout.body["spec"]
    name = rollout.new[0].name if rollout.new else ""
    if spec.get("paused"):
        return ("Unknown", "DeploymentPaused", "Deployment is paused"), NEVER
    updated, total = status.get("updatedReplicas", 0), status.get("replicas", 0)
    if rollout.new and updated == total == status.get("availableReplicas", 0) == rollout.replicas:
        draft.mark(uid, "progress", None)
        return (True, "NewReplicaSetAvailable", f'ReplicaSet "{name}" has successfully progressed.'), NEVER
    before = rollout.body.get("status") or {}
    better = (
        updated > before.get("updatedReplicas", 0)
        or total - updated < before.get("replicas", 0) - before.get("updatedReplicas", 0)
        or status.get("readyReplicas", 0) > before.get("readyReplicas", 0)
        or status.get("availableReplicas", 0) > before.get("availableReplicas", 0)
    )
    since = draft.marked(uid, "progress")
    if since is None or better:
        since = draft.now
        draft.mark(uid, "progress", since)
    due = since + spec.get("progressDeadlineSeconds", 600)
    if draft.now >= due:
        return (False, "ProgressDeadlineExceeded", f'ReplicaSet "{name}" has timed out progressing.'), NEVER
    return (True, "ReplicaSetUpdated", f'ReplicaSet "{name}" is progressing.'), due
