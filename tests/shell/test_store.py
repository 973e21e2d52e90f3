"""The ledger's store on a server at the wire: round trips, few writes, crashes, and two agents at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from agent.core.ledger import Ledger
from agent.core.ledger_format import digest_of, encode
from agent.errors import Conflict, LedgerError, Unreachable
from agent.shell.kube import KubeCluster
from agent.shell.store import LedgerStore, head_name
from tests.shell.ledgers import entry, ledger, ledgers
from tests.shell.objects import Objects
from tests.shell.wire import Answer, Seen, Wire

OWN = "trapeze-system"


@pytest.fixture
def objects(wire: Wire) -> Objects:
    stored = Objects()
    wire.otherwise = stored.answer
    return stored


@pytest.fixture
def cluster(kube: KubeCluster, objects: Objects) -> KubeCluster:
    assert not objects.stored
    return kube


def test_the_first_save_creates_the_namespace_and_comes_back(cluster: KubeCluster, objects: Objects) -> None:
    store = LedgerStore(cluster, OWN)
    assert store.load("shop") == (Ledger("shop"), "")
    token = store.save(ledger(3), "")
    assert LedgerStore(cluster, OWN).load("shop") == (ledger(3), token)
    assert objects.names() == ["trapeze-shop"]
    assert "trapeze.dev/set" not in str(objects.stored)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(ledgers)
def test_any_ledger_of_any_set_name_comes_back(cluster: KubeCluster, one: Ledger) -> None:
    store = LedgerStore(cluster, OWN)
    store.save(one, store.load(one.set_name)[1])
    assert LedgerStore(cluster, OWN).load(one.set_name)[0] == one


def test_ten_thousand_entries_come_back(cluster: KubeCluster) -> None:
    store = LedgerStore(cluster, OWN)
    token = store.save(ledger(10_000), "")
    assert LedgerStore(cluster, OWN).load("shop") == (ledger(10_000), token)


def test_an_equal_ledger_costs_no_write_and_a_small_change_three(
    cluster: KubeCluster, objects: Objects, wire: Wire
) -> None:
    store = LedgerStore(cluster, OWN)
    one = ledger(5_000)
    token = store.save(one, "")
    objects.writes.clear()
    wire.seen.clear()
    assert store.load("shop") == (one, token)
    assert store.save(one, token) == token
    assert [seen.method for seen in wire.seen] == ["GET"]
    changed = replace(entry(7), generation=2)
    store.save(replace(one, entries={**one.entries, changed.id: changed}), token)
    assert [write.split()[0] for write in objects.writes] == ["POST", "PUT", "DELETE"]


def test_an_agent_that_comes_late_gets_a_conflict(cluster: KubeCluster) -> None:
    early, late = LedgerStore(cluster, OWN), LedgerStore(cluster, OWN)
    token = early.save(ledger(2), "")
    late.load("shop")
    early.save(ledger(3), token)
    with pytest.raises(Conflict, match="another agent wrote the ledger of set shop"):
        late.save(ledger(4), token)
    with pytest.raises(Conflict, match="another agent wrote it"):
        LedgerStore(cluster, OWN).save(ledger(4), token)
    with pytest.raises(Conflict):
        LedgerStore(cluster, OWN).save(ledger(4), "")
    assert early.load("shop")[0] == ledger(3)


def test_delete_takes_everything_and_a_second_one_finds_nothing(
    cluster: KubeCluster, objects: Objects
) -> None:
    store = LedgerStore(cluster, OWN)
    store.save(ledger(1_000), "")
    store.save(ledger(2, "other"), "")
    store.delete("shop")
    assert objects.names() == ["trapeze-other"]
    assert store.load("shop") == (Ledger("shop"), "")
    store.delete("shop")
    assert objects.names() == ["trapeze-other"]


class Fault:
    """Breaks the connection at the ``at``-th write: before it is done, or after."""

    def __init__(self, objects: Objects, at: int, *, is_done: bool) -> None:
        self._answer: Callable[[Seen], Answer] = objects.answer
        self._left = at
        self._is_done = is_done

    def answer(self, seen: Seen) -> Answer:
        """The server's answer, until the fault; afterwards nothing, since the agent is dead."""
        if seen.method == "GET":
            return self._answer(seen)
        self._left -= 1
        if self._left > 0:
            return self._answer(seen)
        if self._left == 0 and self._is_done:
            self._answer(seen)
        return Answer(cut=True)


@pytest.mark.parametrize("is_done", [False, True])
@pytest.mark.parametrize("at", range(1, 9))
def test_a_crash_at_any_write_leaves_a_whole_ledger_and_no_rubbish_for_long(
    cluster: KubeCluster, objects: Objects, wire: Wire, at: int, *, is_done: bool
) -> None:
    old, new = ledger(500), _moved(ledger(500))
    assert len(encode(new).chunks) == 4
    token = LedgerStore(cluster, OWN).save(old, "")
    wire.otherwise = Fault(objects, at, is_done=is_done).answer
    # Four chunks, the head and four old chunks: from the sixth write on the new ledger stands.
    if at <= 5:
        with pytest.raises(Unreachable):
            LedgerStore(cluster, OWN).save(new, token)
    else:
        LedgerStore(cluster, OWN).save(new, token)
    wire.otherwise = objects.answer
    after = LedgerStore(cluster, OWN)
    found, token = after.load("shop")
    assert found == (new if at > 5 or (at == 5 and is_done) else old)
    last = replace(new, generations=())
    after.save(last, token)
    expected = [f"trapeze-shop-{digest}" for digest in encode(last).chunks]
    assert objects.names() == sorted(["trapeze-shop", *expected])
    assert LedgerStore(cluster, OWN).load("shop")[0] == last


def _moved(one: Ledger) -> Ledger:
    entries = {key: replace(value, generation=2) for key, value in one.entries.items()}
    return replace(one, entries=entries)


def test_a_slow_agent_cannot_take_a_chunk_from_under_a_newer_head(
    cluster: KubeCluster, objects: Objects, wire: Wire
) -> None:
    """The slow one has written its head and is about to remove old chunks; the other goes back to them."""
    old = ledger(500)
    slow, other = LedgerStore(cluster, OWN), LedgerStore(cluster, OWN)
    token = slow.save(old, "")
    turned_back: list[str] = []

    def interleaved(seen: Seen) -> Answer:
        if seen.method == "DELETE" and not turned_back:
            turned_back.append(seen.path)
            other.save(old, other.load("shop")[1])
        return objects.answer(seen)

    wire.otherwise = interleaved
    slow.save(_moved(old), token)
    assert turned_back
    assert LedgerStore(cluster, OWN).load("shop")[0] == old


def test_a_chunk_that_cannot_be_removed_stays_for_the_next_save(
    cluster: KubeCluster, objects: Objects, wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    store = LedgerStore(cluster, OWN)
    token = store.save(ledger(500), "")
    wire.otherwise = lambda seen: Answer(503, b"") if seen.method == "DELETE" else objects.answer(seen)
    token = store.save(ledger(1), token)
    assert "old chunks of the ledger of set shop stay for now" in caplog.text
    assert len(objects.names()) > 1
    wire.otherwise = objects.answer
    store.save(ledger(2), token)
    assert objects.names() == ["trapeze-shop"]


def test_an_altered_or_emptied_ledger_is_refused(cluster: KubeCluster, objects: Objects) -> None:
    LedgerStore(cluster, OWN).save(ledger(3), "")
    head = objects.stored[(OWN, "configmaps", "trapeze-shop")]
    text = head["data"]["ledger.json"]
    head["data"]["ledger.json"] = text.replace('"format":2', '"format":3')
    with pytest.raises(LedgerError, match="upgrade Trapeze"):
        LedgerStore(cluster, OWN).load("shop")
    head["data"] = {}
    with pytest.raises(LedgerError, match=r"trapeze-shop holds no ledger\.json"):
        LedgerStore(cluster, OWN).load("shop")


@pytest.mark.parametrize("count", [3, 5_000])
def test_a_ledger_whose_labels_somebody_took_off_is_found_by_its_names_and_gets_them_back(
    cluster: KubeCluster, objects: Objects, count: int
) -> None:
    LedgerStore(cluster, OWN).save(ledger(count), "")
    labels = {
        key: stored["metadata"].pop("labels") for key, stored in objects.stored.items() if len(key) == 3
    }
    store = LedgerStore(cluster, OWN)
    read, token = store.load("shop")
    assert read == ledger(count)
    store.save(ledger(count + 1), token)
    head = (OWN, "configmaps", "trapeze-shop")
    assert objects.stored[head]["metadata"]["labels"] == labels[head]
    assert LedgerStore(cluster, OWN).load("shop")[0] == ledger(count + 1)


def test_names_of_sets_become_names_of_config_maps() -> None:
    assert head_name("shop") == "trapeze-shop"
    chunk_like = f"shop-{digest_of('x')}"
    odd = ["Shop", "shop/eu", "shop.eu", "ä", "", "-", "a" * 300, chunk_like, "shop-", "x\n"]
    names = [head_name(name) for name in odd]
    assert len(set(names)) == len(odd)
    valid = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
    assert all(valid.fullmatch(name) for name in names)
    assert max(len(f"{name}-{digest_of('x')}") for name in names) <= 253
    assert head_name("Shop").startswith("trapeze-shop.")
