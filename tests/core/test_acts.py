"""What people decided: what holds now, and that the ledger forgets nothing that somebody has to lift."""

from __future__ import annotations

from dataclasses import replace

from agent.core.acts import Act, ActKind, pinned, suspended, with_act
from agent.core.ledger import Ledger, Pruned
from agent.core.ledger_format import CHUNK_BYTES, decode, encode
from agent.core.model import ObjectId

APPROVAL = Act(ActKind.APPROVE, "jo", 9.0, step="delete Namespace old", uid="u", digest="d" * 64)
PIN = Act(ActKind.PIN, "jo", 1.0, generation=3, revision="c" * 40)
SUSPENSION = Act(ActKind.SUSPEND, "ann", 2.0, "audit")


def test_the_last_pin_holds_until_it_is_lifted() -> None:
    rollback = replace(PIN, kind=ActKind.ROLLBACK, generation=2)
    assert pinned((PIN, rollback, APPROVAL)) == rollback
    assert pinned((PIN, rollback, Act(ActKind.UNPIN, "jo", 3.0))) is None
    assert pinned((Act(ActKind.UNPIN, "jo", 0.0), PIN)) == PIN


def test_a_suspension_and_a_pin_hold_apart() -> None:
    acts = (PIN, SUSPENSION, Act(ActKind.UNPIN, "jo", 3.0))
    assert (pinned(acts), suspended(acts)) == (None, SUSPENSION)


def test_of_very_many_acts_those_that_hold_are_never_forgotten() -> None:
    acts: tuple[Act, ...] = (PIN, SUSPENSION)
    for _ in range(1200):
        acts = with_act(acts, APPROVAL)
    assert (pinned(acts), suspended(acts)) == (PIN, SUSPENSION)
    assert len(acts) < 600
    lifted = with_act(acts, Act(ActKind.RESUME, "ann", 10.0))
    assert (pinned(lifted), suspended(lifted)) == (PIN, None)


def test_many_acts_and_prunes_do_not_swell_the_head() -> None:
    pruned = tuple(
        Pruned(ObjectId("", "ConfigMap", "shop", f"c{n}"), 1, f"uid-{n}", 5.0) for n in range(2000)
    )
    one = Ledger("shop", acts=(APPROVAL,) * 500, pruned=pruned)
    encoded = encode(one)
    assert len(encoded.head) < 2000
    assert max(map(len, encoded.chunks.values())) <= CHUNK_BYTES + 100
    assert decode("shop", *encoded) == one
