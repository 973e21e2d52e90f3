"""The ledger as text: it comes back exactly, changes little for little, and is refused when damaged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given

from agent.core import ledger_format
from agent.core.acts import Act, ActKind
from agent.core.ledger import (
    GenerationState,
    Hold,
    How,
    Intent,
    IntentKind,
    Ledger,
    Orphan,
    Pruned,
    Source,
)
from agent.core.ledger_format import CHUNK_BYTES, chunks_of, decode, encode, set_of
from agent.core.model import ObjectId
from agent.errors import LedgerError
from tests.shell.ledgers import entry, ledger, ledgers

CONFIG_MAP_BYTES = 1024 * 1024


@given(ledgers)
def test_any_ledger_comes_back_exactly(one: Ledger) -> None:
    encoded = encode(one)
    assert decode(one.set_name, encoded.head, encoded.chunks) == one
    assert chunks_of(encoded.head) == encoded.chunks.keys()


def test_ten_thousand_entries_come_back_exactly_in_chunks_that_fit() -> None:
    one = ledger(10_000)
    encoded = encode(one)
    assert decode("shop", encoded.head, encoded.chunks) == one
    assert max(map(len, encoded.chunks.values())) <= CHUNK_BYTES + 100
    assert len(encoded.head) < CONFIG_MAP_BYTES / 8


def test_a_large_intent_and_many_holds_do_not_swell_the_head() -> None:
    entries = tuple(map(entry, range(10_000)))
    intent = Intent(IntentKind.ADDITIVE, tuple(f"create {one.id}" for one in entries), entries)
    holds = {f"delete {one.id}": Hold(1.0, "still used by 3 pods") for one in entries}
    one = replace(ledger(0), intent=intent, holds=holds)
    encoded = encode(one)
    assert len(encoded.head) < CONFIG_MAP_BYTES / 8
    assert decode("shop", encoded.head, encoded.chunks) == one


def test_one_changed_entry_rewrites_one_chunk() -> None:
    one = ledger(10_000)
    changed = replace(entry(77), generation=2)
    other = replace(one, entries={**one.entries, changed.id: changed})
    before, after = encode(one).chunks.keys(), encode(other).chunks.keys()
    assert (len(before - after), len(after - before)) == (1, 1)


def test_one_new_entry_rewrites_one_chunk_or_splits_it() -> None:
    before, after = encode(ledger(10_000)).chunks.keys(), encode(ledger(10_001)).chunks.keys()
    assert len(before - after) == 1
    assert len(after - before) <= 2


def test_equal_ledgers_give_equal_text_whatever_the_order() -> None:
    one = ledger(500)
    turned = replace(one, entries=dict(reversed(list(one.entries.items()))))
    assert encode(turned) == encode(one)


OLDER = sorted((Path(__file__).parent / "ledgers").glob("format-*"))


@pytest.mark.parametrize("folder", OLDER, ids=lambda folder: folder.name)
def test_a_ledger_that_an_older_version_wrote_is_read_whole(folder: Path) -> None:
    """Each folder is as that version wrote it: the head, and its chunks by their digests."""
    head = (folder / "head.json").read_text(encoding="utf-8")
    assert f"format-{json.loads(head)['format']}" == folder.name
    chunks = {name: (folder / f"{name}.json").read_text(encoding="utf-8") for name in chunks_of(head)}
    assert chunks
    one = decode("shop", head, chunks)
    assert [(g.number, g.state, g.served) for g in one.generations] == [
        (1, GenerationState.RETIRING, 1_700_000_050.0),
        (2, GenerationState.ROLLING_OUT, 0.0),
    ]
    assert one.last_in_service == one.generations[0]
    front = one.entries[ObjectId("networking.k8s.io", "Ingress", "team-1", "front")]
    assert (len(one.entries), front.points_back, front.cutover_at) == (51, 2, 1_700_000_100.5)
    assert front.bases == (Source("1" * 40, "old/front.yaml", 1), Source("2" * 40, "new/front.yaml", 3))
    assert {entry.how for entry in one.entries.values()} == {How.MADE}
    assert one.holds == {"delete Namespace old": Hold(1_700_000_060.0, "needs approval")}
    assert one.intent is not None
    assert one.intent.keys == ("create Secret team-1/key",)
    assert decode("shop", *encode(one)) == one


def test_every_older_format_has_a_folder() -> None:
    assert [folder.name for folder in OLDER] == [f"format-{n}" for n in range(1, ledger_format.FORMAT)]


def test_a_newer_format_is_refused() -> None:
    head = json.dumps({**json.loads(encode(ledger(3)).head), "format": ledger_format.FORMAT + 1})
    with pytest.raises(LedgerError, match="format 3, this version of Trapeze reads up to 2; upgrade"):
        decode("shop", head, {})


@pytest.mark.parametrize(
    ("head", "why"),
    [
        ("{", "is no JSON"),
        ("[]", "names no format"),
        ('{"format": "1"}', "names no format"),
        ('{"format": 1, "set": "other"}', "belongs to set other"),
        ('{"format": 1, "set": "shop"}', "is damaged"),
        ('{"format":1,"set":"shop","entries":{"inline":[{"id":[]}]},"holds":{},"generations":[]}', "damaged"),
        (
            '{"format":1,"set":"shop","entries":{"chunks":["00"]},"holds":{}}',
            "chunk 00 of the ledger is missing",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(head: str, why: str) -> None:
    with pytest.raises(LedgerError, match=why):
        decode("shop", head, {})


_WRONG: Final[tuple[Any, ...]] = (
    None,
    True,
    -1,
    1.5,
    "",
    "x",
    [],
    {},
    [None],
    10**400,
    float("inf"),
    float("nan"),
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value, by the keys that lead to it."""
    yield path
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield from _places(value[key], (*path, key))


def _with(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copied = value.copy()
    copied[path[0]] = _with(value[path[0]], path[1:], new)
    return copied


def test_a_head_with_any_value_in_any_place_is_refused_or_read_as_a_ledger_that_can_be_written() -> None:
    one = entry(1)
    full = replace(
        ledger(1),
        entries={one.id: replace(one, orphans=(Orphan(one.id, "u"),), cutover_at=5.0, points_back=1)},
        holds={"step": Hold(5.0, "why")},
        intent=Intent(IntentKind.STEP, ("key",), (one,)),
        acts=(Act(ActKind.PIN, "ann", 5.0, "why", generation=1, revision="one"),),
        pruned=(Pruned(one.id, 1, "u", 5.0),),
    )
    head = json.loads(encode(full).head)
    refused = 0
    for path, wrong in product(_places(head), _WRONG):
        text = json.dumps(_with(head, path, wrong))
        try:
            chunks_of(text)
            read = decode("shop", text, {})
        except LedgerError:
            refused += 1
        else:
            assert decode("shop", encode(read).head, {}) == read
    assert refused > 900


def test_a_head_that_nests_without_end_is_refused() -> None:
    with pytest.raises(LedgerError, match="is no JSON"):
        decode("shop", "[" * 500_000, {})


@pytest.mark.parametrize("head", ['{"format":2}', '{"format":2,"set":3}'])
def test_a_head_without_a_set_is_no_ledger(head: str) -> None:
    with pytest.raises(LedgerError, match="names no set"):
        set_of(head)


def test_an_altered_chunk_is_refused() -> None:
    encoded = encode(ledger(1_000))
    altered = {name: text.replace("service-1", "service-2") for name, text in encoded.chunks.items()}
    with pytest.raises(LedgerError, match="was altered"):
        decode("shop", encoded.head, altered)
