"""Where the objects of an explanation come from: a set at a revision, or the cluster."""

from __future__ import annotations

from collections.abc import Mapping

from agent.core.explain import Explanation, explain, find
from agent.core.kinds import KindInfo, Kinds
from agent.core.ledger import Entry, Ledger
from agent.core.model import Body, Desired, Form, ObjectId
from agent.core.policy import Policy
from agent.errors import ConfigError
from agent.shell.cluster import Cluster
from agent.shell.observe import Observer


def in_set(desired: Desired, policy: Policy, kinds: Kinds, kind: str, name: str) -> Explanation:
    """By the manifests alone. Raises ConfigError where none, or several, are meant."""
    bodies = {key: manifest.body for key, manifest in desired.manifests.items()}
    return _explained(bodies, policy, kinds, kind, name)


def in_cluster(cluster: Cluster, policy: Policy, kind: str, name: str) -> Explanation:
    """By what the cluster has of the kinds that name others. Raises ClusterError, ConfigError."""
    discovery = cluster.discover()
    known = Kinds({r.kind: KindInfo(r.plural, r.is_namespaced) for r in discovery.resources.values()})
    namespace, _, bare = name.rpartition("/")
    asked = [ObjectId(*one, namespace, bare) for one in known.known]
    # An entry of its kind makes the observer read it, also where it reads that kind for no other reason.
    meant = find(asked, known, kind, name)
    entries = {key: Entry(key, "", 0, (), Form.FINAL) for key in meant}
    live = Observer(cluster, policy, discovery).look(Desired("", "", {}), Ledger("", entries=entries))
    for kind_unread, reason in live.unknown.items():
        raise ConfigError(f"explaining {kind} {name}: {kind_unread} cannot be read: {reason}")
    bodies = {key: obj.body for key, obj in live.objects.items()}
    return _explained(bodies, policy, known, kind, name)


def _explained(
    bodies: Mapping[ObjectId, Body], policy: Policy, kinds: Kinds, kind: str, name: str
) -> Explanation:
    found = find(bodies, kinds, kind, name)
    if len(found) != 1:
        which = f"several are meant: {', '.join(map(str, found))}; name the group or namespace"
        raise ConfigError(f"{kind} {name}: {which if found else 'there is no such object'}")
    return explain(bodies, policy, found[0])
