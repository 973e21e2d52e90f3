"""Storage migration: every object of a kind is written as it stands, which stores it anew.

As sigs.k8s.io/kube-storage-version-migrator does it. An object that somebody else has written meanwhile, or
that is gone, needs no more: whatever is written is stored in the present version.
"""

from __future__ import annotations

from agent.core.model import Body
from agent.core.policy import id_of
from agent.core.steps import Step
from agent.core.storage import kind_defined
from agent.errors import Conflict, NotFound, NotServed
from agent.shell.cluster import Cluster, Discovery, Resource


def migrate(cluster: Cluster, discovery: Discovery, resource: Resource, step: Step) -> Body:
    """Rewrite every object of the definition that ``step`` names, then set its status; the definition then.

    Raises ClusterError where an object cannot be rewritten: nothing is taken out of the status then.
    """
    crd = cluster.get(resource, step.id)
    if crd is None or crd["metadata"]["uid"] != step.uid:
        raise Conflict(f"{step.id} is not the one that was planned on")
    kind = kind_defined(crd)
    served = discovery.resources.get(kind)
    if served is None:
        raise NotServed(f"{kind} is not served, its objects cannot be rewritten")
    for body in cluster.list(served).items:
        _rewrite(cluster, served, body)
    wanted = (step.body or {})["storedVersions"]
    metadata = {**crd["metadata"], "resourceVersion": step.resource_version}
    status = {**(crd.get("status") or {}), "storedVersions": wanted}
    return cluster.replace_status(resource, {**crd, "metadata": metadata, "status": status})


def _rewrite(cluster: Cluster, resource: Resource, body: Body) -> None:
    try:
        cluster.replace(resource, body)
    except NotFound:
        return
    except Conflict:
        now = cluster.get(resource, id_of(body))
        if now is not None and now["metadata"]["resourceVersion"] == body["metadata"]["resourceVersion"]:
            raise
