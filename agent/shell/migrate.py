"""Storage migration: every object of a kind is written as it stands, which stores it anew.

As sigs.k8s.io/kube-storage-version-migrator does it. An object that somebody else has written meanwhile, or
that is gone, needs no more: whatever is written is stored in the present version.
"""

from __future__ import annotations

from agent.core.model import Body
from agent.core.policy import id_of
from agent.core.steps import Step
from agent.core.storage import forgetting, kind_defined, not_rewritten, planned_on
from agent.errors import Conflict, NotFound
from agent.shell.cluster import Cluster, Discovery, Resource


def migrate(cluster: Cluster, discovery: Discovery, resource: Resource, step: Step) -> Body:
    """Rewrite every object of the definition that ``step`` names, then set its status; the definition then.

    Raises ClusterError where an object cannot be rewritten: nothing is taken out of the status then.
    """
    crd = planned_on(cluster.get(resource, step.id), step)
    kind = kind_defined(crd)
    served = discovery.resources.get(kind)
    if served is None:
        raise not_rewritten(kind)
    for body in cluster.list(served).items:
        _rewrite(cluster, served, body)
    return cluster.replace_status(resource, forgetting(crd, step))


def _rewrite(cluster: Cluster, resource: Resource, body: Body) -> None:
    try:
        cluster.replace(resource, body)
    except NotFound:
        return
    except Conflict:
        now = cluster.get(resource, id_of(body))
        if now is not None and now["metadata"]["resourceVersion"] == body["metadata"]["resourceVersion"]:
            raise
