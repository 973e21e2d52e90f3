"""Whether anything moved since all was last seen to be right, at one metadata LIST per kind.

What is compared are fingerprints: those that the ledger keeps from the end of the handoff, and those that
this process took when it last read an object whole and found it equal (a Service or an APIService moves its
resourceVersion with every status).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.core.hookjobs import is_spent
from agent.core.ledger import Fingerprint, GenerationState, Ledger
from agent.core.model import SET_LABEL, Body, LiveObject, ObjectId
from agent.core.policy import id_of
from agent.core.steps import Access, Answer
from agent.errors import ClusterError
from agent.shell.cluster import Cluster, Discovery
from agent.shell.observe import by_kind


@dataclass
class Memory:
    """What spares requests between ticks of one process, never what is decided by.

    ``commit`` and ``prints`` are what was last seen to be in service; ``rights`` what was allowed.
    """

    discovery: Discovery | None = None
    rights: dict[Access, Answer] = field(default_factory=dict)
    commit: str = ""
    is_gone: bool = False
    prints: Mapping[ObjectId, Fingerprint] = field(default_factory=dict)


def fingerprint(body: Body) -> Fingerprint:
    """What of an object's metadata moves when the object does (Kubernetes API conventions, metadata)."""
    obj = LiveObject(id_of(body), body)
    if not obj.metadata.get("generation"):
        # A resourceVersion moves with everything; a digest of annotations could tell what a Secret holds.
        return Fingerprint(obj.uid, obj.resource_version, "")
    text = json.dumps([dict(obj.labels), dict(obj.annotations)], sort_keys=True)
    return Fingerprint(
        obj.uid, str(obj.metadata["generation"]), hashlib.sha256(text.encode()).hexdigest()[:16]
    )


def is_quiet(cluster: Cluster, memory: Memory, commit: str, ledger: Ledger) -> bool:
    """Whether the set is in service at ``commit`` and no member moved, appeared or vanished.

    A LIST that fails is no evidence of quiet: the whole look that follows asks discovery anew and says what
    could not be read. Raises ClusterError where there was no discovery yet and it fails.
    """
    newest = ledger.newest
    if newest is None or newest.state is not GenerationState.IN_SERVICE or ledger.intent or ledger.holds:
        return False
    has_left = any(entry.is_left for entry in ledger.entries.values())
    if has_left or commit not in (newest.revision, memory.commit):
        return False
    memory.discovery = memory.discovery or cluster.discover()
    for kind, members in by_kind(ledger.entries).items():
        resource = memory.discovery.resources.get(kind)
        if resource is None:
            return False
        try:
            listing = cluster.list_metadata(resource, selector=f"{SET_LABEL}={ledger.set_name}")
        except ClusterError:
            return False
        found = [LiveObject(id_of(body), body) for body in listing.items]
        # Controllers copy labels to what they make (a Service's to its EndpointSlices).
        own = [o for o in found if o.id in members or not o.metadata.get("ownerReferences")]
        seen = {obj.id: fingerprint(obj.body) for obj in own}
        gone = members - seen.keys()
        if (
            seen.keys() - members
            or any(is_spent(obj.body) for obj in own)
            or not _was_absent(gone, commit, memory)
            or any(_has_moved(k, p, ledger, memory) for k, p in seen.items())
        ):
            return False
    return True


def _was_absent(gone: frozenset[ObjectId], commit: str, memory: Memory) -> bool:
    """Whether all was seen to be right without these: a Job that has ended goes by itself."""
    return not gone or (memory.commit == commit and not gone & memory.prints.keys())


def _has_moved(key: ObjectId, seen: Fingerprint, ledger: Ledger, memory: Memory) -> bool:
    return seen not in (ledger.entries[key].fingerprint, memory.prints.get(key))
