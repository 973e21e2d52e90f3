"""What the ledger holds, item by item, as JSON and back; older formats lack keys, and have their defaults.

Who reads raises TypeError, ValueError, KeyError or IndexError for what no ledger can hold: a ConfigMap is
open to every hand, and a value of another type would fail far from here, or pass for one that it is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from agent.core.acts import Act, ActKind
from agent.core.ledger import (
    Entry,
    Fingerprint,
    Generation,
    GenerationState,
    Hold,
    How,
    Orphan,
    Pruned,
    Source,
)
from agent.core.model import Body, Form, ObjectId

LAST_MOMENT: Final = 253_402_300_799
"""The end of the year 9999 in epoch seconds, after which there is no date to show."""

_MOST: Final = 2**53
"""More than any count comes to, and exact in every reader of JSON (RFC 8259, section 6)."""


def entry_json(entry: Entry) -> Body:
    """Short keys, and none where the value is the default: this is the bulk of the ledger."""
    known: Body = {
        "id": list(entry.id),
        "api": entry.api_version,
        "gen": entry.generation,
        "bases": [list(source) for source in entry.bases],
        "form": entry.form.value,
    }
    rest: Body = {
        "uid": entry.uid,
        "digest": entry.digest,
        "seen": list(entry.fingerprint) if entry.fingerprint else None,
        "cutover": entry.cutover_at,
        "back": entry.points_back,
        "orphans": [[*orphan.id, orphan.uid] for orphan in entry.orphans],
        "left": entry.is_left,
        "how": "" if entry.how is How.MADE else entry.how.value,
    }
    return known | {key: value for key, value in rest.items() if value}


def entry_of(item: Body) -> Entry:
    """What ``entry_json`` wrote, in any format."""
    seen = item.get("seen")
    return Entry(
        id=_id(item["id"]),
        api_version=text_of(item["api"]),
        generation=_count_of(item["gen"]),
        bases=tuple(_source(base) for base in item["bases"]),
        form=Form(item["form"]),
        uid=text_of(item.get("uid", "")),
        digest=text_of(item.get("digest", "")),
        fingerprint=Fingerprint(*map(text_of, seen)) if seen else None,
        cutover_at=_moment_of(item.get("cutover", 0.0)),
        points_back=_count_of(item.get("back", 0)),
        orphans=tuple(Orphan(_id(known), text_of(uid)) for *known, uid in item.get("orphans", ())),
        is_left=bool(item.get("left", False)),
        how=How(item.get("how", How.MADE.value)),
    )


def generation_json(generation: Generation) -> Body:
    """One generation as JSON."""
    known: Body = {
        "number": generation.number,
        "revision": generation.revision,
        "state": generation.state.value,
        "since": generation.since,
    }
    rest = {"served": generation.served, "returns": generation.returns}
    return known | {key: value for key, value in rest.items() if value}


def generations_of(items: Sequence[Body], version: int) -> tuple[Generation, ...]:
    """What ``generation_json`` wrote.

    Format 1 did not say which generation had been in service: it is the one that is, or that retired first.
    """
    read = tuple(map(_generation, items))
    if version > 1:
        return read
    retiring = [g for g in read if g.state is GenerationState.RETIRING]
    first = min(retiring, key=lambda g: g.since, default=None)
    return tuple(
        replace(g, served=g.since) if g is first or g.state is GenerationState.IN_SERVICE else g for g in read
    )


def _generation(item: Body) -> Generation:
    return Generation(
        _count_of(item["number"]),
        text_of(item["revision"]),
        GenerationState(item["state"]),
        _moment_of(item["since"]),
        _moment_of(item.get("served", 0.0)),
        _count_of(item.get("returns", 0)),
    )


def hold_json(key: str, hold: Hold) -> list[Any]:
    """One hold, with what is held."""
    return [key, hold.since, hold.reason]


def hold_of(item: Any) -> tuple[str, Hold]:
    """What ``hold_json`` wrote."""
    key, since, reason = item
    return text_of(key), Hold(_moment_of(since), text_of(reason))


def act_json(act: Act) -> Body:
    """One decision as JSON: only what it says."""
    known: Body = {"kind": act.kind.value, "by": act.by, "at": act.at}
    rest: Body = {
        "reason": act.reason,
        "generation": act.generation,
        "revision": act.revision,
        "step": act.step,
        "uid": act.uid,
        "digest": act.digest,
        "gate": act.gate,
    }
    return known | {key: value for key, value in rest.items() if value}


def act_of(item: Body) -> Act:
    """What ``act_json`` wrote."""
    at, generation = _moment_of(item["at"]), _count_of(item.get("generation", 0))
    own = {"kind", "at", "generation"}
    rest = {key: text_of(value) for key, value in item.items() if key not in own}
    return Act(kind=ActKind(item["kind"]), at=at, generation=generation, **rest)


def pruned_json(pruned: Pruned) -> Body:
    """What was taken away, as JSON."""
    return {"id": list(pruned.id), "gen": pruned.generation, "uid": pruned.uid, "at": pruned.at}


def pruned_of(item: Body) -> Pruned:
    """What ``pruned_json`` wrote."""
    return Pruned(_id(item["id"]), _count_of(item["gen"]), text_of(item["uid"]), _moment_of(item["at"]))


def text_of(value: Any) -> str:
    """The value, which is a string."""
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} in the place of a text")
    return value


def _moment_of(value: Any) -> float:
    """The value, which is a time in epoch seconds that has a date to show."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{type(value).__name__} in the place of a time")
    if not 0 <= value <= LAST_MOMENT:
        raise ValueError("no date has such a time")
    return value


def _count_of(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{type(value).__name__} in the place of a whole number")
    if not 0 <= value <= _MOST:
        raise ValueError("a number out of all bounds")
    return value


def _id(value: Any) -> ObjectId:
    group, kind, namespace, name = value
    return ObjectId(text_of(group), text_of(kind), text_of(namespace), text_of(name))


def _source(value: Any) -> Source:
    commit, file, document = value
    return Source(text_of(commit), text_of(file), _count_of(document))
