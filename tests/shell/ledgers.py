"""Ledgers for tests: made by a number, and any that hypothesis can think of."""

from __future__ import annotations

from hypothesis import strategies as st

from agent.core.acts import Act, ActKind
from agent.core.ledger import (
    Entry,
    Fingerprint,
    Generation,
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
from agent.core.ledger_items import LAST_MOMENT
from agent.core.model import Form, ObjectId


def entry(number: int, commit: str = "c0ffee0c0ffee0c0ffee0c0ffee0c0ffee0c0ffe") -> Entry:
    """An entry of everyday size."""
    return Entry(
        id=ObjectId("apps", "Deployment", f"team-{number % 50}", f"service-{number}"),
        api_version="apps/v1",
        generation=1,
        bases=(Source(commit, f"releases/team-{number % 50}/service-{number}.yaml", 1),),
        form=Form.FINAL,
        uid=f"5f0c1f64-7a3a-4b6e-9a59-{number:012d}",
        digest=f"{number:064x}",
        fingerprint=Fingerprint(f"5f0c1f64-7a3a-4b6e-9a59-{number:012d}", "3", f"{number:032x}"),
    )


def ledger(count: int, set_name: str = "shop", revision: str = "one") -> Ledger:
    """A ledger of ``count`` entries in one generation."""
    entries = {one.id: one for one in map(entry, range(count))}
    return Ledger(set_name, (Generation(1, revision, GenerationState.IN_SERVICE, 5.0, 5.0),), entries)


# Surrogates too: file names in Git are bytes, and need not be valid Unicode.
_text = st.text(alphabet=st.characters(exclude_categories=()), max_size=12)
_times = st.floats(min_value=0, max_value=LAST_MOMENT)
_sources = st.builds(Source, _text, _text, st.integers(1, 10**6))
_ids = st.builds(ObjectId, _text, _text, _text, _text)
_entries = st.builds(
    Entry,
    id=_ids,
    api_version=_text,
    generation=st.integers(0, 10**9),
    bases=st.lists(_sources, max_size=3).map(tuple),
    form=st.sampled_from(Form),
    uid=_text,
    digest=_text,
    fingerprint=st.none() | st.builds(Fingerprint, _text, _text, _text),
    cutover_at=_times,
    points_back=st.integers(0, 99),
    orphans=st.lists(st.builds(Orphan, _ids, _text), max_size=2).map(tuple),
    how=st.sampled_from(How),
)
_generations = st.builds(
    Generation,
    st.integers(0, 2**53),
    _text,
    st.sampled_from(GenerationState),
    _times,
    _times,
    st.integers(0, 9),
)
_acts = st.builds(
    Act,
    kind=st.sampled_from(ActKind),
    by=_text,
    at=_times,
    reason=_text,
    generation=st.integers(0, 9),
    revision=_text,
    step=_text,
    uid=_text,
    digest=_text,
    gate=_text,
)
_intents = st.builds(
    Intent,
    st.sampled_from(IntentKind),
    st.lists(_text, max_size=4).map(tuple),
    st.lists(_entries, max_size=4).map(tuple),
)
ledgers = st.builds(
    Ledger,
    set_name=_text,
    generations=st.lists(_generations, max_size=4).map(tuple),
    entries=st.lists(_entries, max_size=8).map(lambda some: {one.id: one for one in some}),
    holds=st.dictionaries(_text, st.builds(Hold, _times, _text), max_size=4),
    intent=st.none() | _intents,
    acts=st.lists(_acts, max_size=3).map(tuple),
    pruned=st.lists(st.builds(Pruned, _ids, st.integers(0, 9), _text, _times), max_size=3).map(tuple),
)
"""Any ledger, odd names included."""
