"""The ledger's store on the adapters themselves: rights, names and immutability are the server's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.core.ledger import Ledger
from agent.errors import Conflict
from agent.shell.store import LedgerStore
from tests.contract.bench import Bench, named
from tests.shell.ledgers import entry, ledger

OWN = "trapeze-system"


@pytest.mark.parametrize("set_name", ["shop", "Shop/EU west", "a" * 300])
def test_a_ledger_comes_back_and_goes(bench: Bench, set_name: str) -> None:
    store = LedgerStore(bench.cluster, OWN)
    one = ledger(1_000, set_name)
    token = store.save(one, store.load(set_name)[1])
    assert LedgerStore(bench.cluster, OWN).load(set_name) == (one, token)
    changed = replace(entry(7), generation=2)
    two = replace(one, entries={**one.entries, changed.id: changed})
    second = store.save(two, token)
    assert LedgerStore(bench.cluster, OWN).load(set_name) == (two, second)
    with pytest.raises(Conflict):
        LedgerStore(bench.cluster, OWN).save(one, token)
    back = store.save(one, second)
    assert store.save(one, back) == back
    store.delete(set_name)
    assert LedgerStore(bench.cluster, OWN).load(set_name) == (Ledger(set_name), "")
    maps = bench.cluster.list(bench.resource("", "ConfigMap"), OWN, "app.kubernetes.io/managed-by=trapeze")
    assert maps.items == []


def test_a_chunk_cannot_be_changed_by_hand(bench: Bench) -> None:
    LedgerStore(bench.cluster, OWN).save(ledger(1_000), "")
    maps = bench.cluster.list(
        bench.resource("", "ConfigMap"), OWN, "app.kubernetes.io/managed-by=trapeze"
    ).items
    chunks = [one for one in maps if one["metadata"]["name"] != "trapeze-shop"]
    assert len(chunks) == 8
    assert all(one["immutable"] for one in chunks)
    assert bench.live(named("v1", "Namespace", OWN))
