"""The end of a set that shall go: nothing of it is left, and its ledger goes last."""

from __future__ import annotations

from agent.core.ledger import Ledger
from agent.core.rebuilding import members
from agent.shell.cluster import Cluster
from agent.shell.quiet import Memory
from agent.shell.rebuilding import labelled
from agent.shell.store import LedgerStore


def is_gone(cluster: Cluster, store: LedgerStore, memory: Memory, ledger: Ledger, manager: str) -> bool:
    """Whether nothing is left; takes the ledger away where it names nothing. Raises ClusterError."""
    if ledger.entries or ledger.intent:
        return False
    if ledger != Ledger(ledger.set_name):
        store.delete(ledger.set_name)
        memory.is_gone = True
    elif not memory.is_gone:
        # A ledger that was lost leaves objects behind: the labels tell of them.
        found, unread = labelled(cluster, cluster.discover(), ledger.set_name)
        memory.is_gone = not members(found, ledger.set_name, manager) and not unread
    return memory.is_gone
