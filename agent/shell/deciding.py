"""What a person decides, written into the ledger under the name that the API server gives them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from agent.core.acts import Act, with_act
from agent.core.ledger import Ledger
from agent.errors import Conflict, Forbidden, NotFound, NotServed
from agent.shell.cluster import Cluster
from agent.shell.tick import Tools

NAMELESS: Final = "somebody"
"""Who acts where the server cannot say it (before Kubernetes 1.28, or without the right to ask)."""

_TRIES: Final = 5


@dataclass(frozen=True)
class Decider:
    """Writes decisions about one set. Raises LedgerError, ClusterError, and what is given raises."""

    tools: Tools
    set_name: str

    def decide(
        self,
        choose: Callable[[Ledger], Act],
        change: Callable[[Ledger, Act], Ledger] = lambda ledger, _: ledger,
    ) -> Act:
        """Write what ``choose`` makes of the ledger, with what it changes there; the act, signed.

        An agent that writes in between is let through, and ``choose`` asked again.
        """
        who = who_decides(self.tools.cluster)
        for last in (*[False] * (_TRIES - 1), True):
            ledger, token = self.tools.store.load(self.set_name)
            act = replace(choose(ledger), by=who, at=self.tools.clock())
            changed = change(ledger, act)
            try:
                self.tools.store.save(replace(changed, acts=with_act(changed.acts, act)), token)
            except Conflict:
                if last:
                    raise
            else:
                break
        return act


def who_decides(cluster: Cluster) -> str:
    """The name that the server gives to whoever acts. Raises ClusterError where it cannot be asked."""
    try:
        return cluster.whoami() or NAMELESS
    except (NotFound, NotServed, Forbidden):
        return NAMELESS
