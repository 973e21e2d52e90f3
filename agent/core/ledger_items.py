"""What the ledger holds, item by item, as JSON and back; older formats lack keys, and have their defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent.core.acts import Act, ActKind
from agent.core.ledger import (
    Entry,
    Fingerprint,
    Generation,
    GenerationState,
    How,
    Orphan,
    Pruned,
    Source,
)
from agent.core.model import Body, Form, ObjectId


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
    group, kind, namespace, name = item["id"]
    seen = item.get("seen")
    return Entry(
        id=ObjectId(group, kind, namespace, name),
        api_version=item["api"],
        generation=item["gen"],
        bases=tuple(Source(commit, file, document) for commit, file, document in item["bases"]),
        form=Form(item["form"]),
        uid=item.get("uid", ""),
        digest=item.get("digest", ""),
        fingerprint=Fingerprint(*seen) if seen else None,
        cutover_at=item.get("cutover", 0.0),
        points_back=item.get("back", 0),
        orphans=tuple(Orphan(ObjectId(*known), uid) for *known, uid in item.get("orphans", ())),
        is_left=item.get("left", False),
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
        item["number"],
        item["revision"],
        GenerationState(item["state"]),
        item["since"],
        item.get("served", 0.0),
        item.get("returns", 0),
    )


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
    return Act(**{**item, "kind": ActKind(item["kind"])})


def pruned_json(pruned: Pruned) -> Body:
    """What was taken away, as JSON."""
    return {"id": list(pruned.id), "gen": pruned.generation, "uid": pruned.uid, "at": pruned.at}


def pruned_of(item: Body) -> Pruned:
    """What ``pruned_json`` wrote."""
    return Pruned(ObjectId(*item["id"]), item["gen"], item["uid"], item["at"])
