"""A lost ledger, made anew from what the labels, the commit annotation and Git say.

Nothing that is found so is pruned until a person agrees: a label can be copied by anybody, and what the old
ledger knew of it is gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from agent.core.acts import Act, ActKind
from agent.core.intents import is_ours
from agent.core.ledger import Entry, Generation, GenerationState, How, Ledger, Source
from agent.core.model import COMMIT_ANNOTATION, Form, LiveObject, Manifest, ObjectId


def commits_of(found: Iterable[LiveObject]) -> frozenset[str]:
    """The commits that the objects say they were written from."""
    return frozenset(commit for obj in found if (commit := obj.annotations.get(COMMIT_ANNOTATION)))


def members(found: Iterable[LiveObject], set_name: str, manager: str) -> tuple[LiveObject, ...]:
    """Of what carries the set's label, what our field manager wrote and nobody else owns."""
    own = (obj for obj in found if is_ours(obj, set_name, manager))
    return tuple(sorted((o for o in own if not o.metadata.get("ownerReferences")), key=lambda o: o.id))


def rebuilt(
    set_name: str,
    found: Iterable[LiveObject],
    wanted: Mapping[str, Mapping[ObjectId, Manifest]],
    unread: Iterable[str],
    now: float,
) -> Ledger:
    """The ledger of these members; ``wanted`` is what Git has at their commits, ``unread`` kinds not read.

    The generation of the highest number counts as the one that was rolling out. Equal to an empty ledger
    where there is no member.
    """
    objs = tuple(found)
    if not objs:
        return Ledger(set_name)
    entries = {obj.id: _entry(obj, wanted) for obj in objs}
    commits: dict[int, Counter[str]] = {}
    for obj in objs:
        commit = obj.annotations.get(COMMIT_ANNOTATION, "")
        commits.setdefault(entries[obj.id].generation, Counter())[commit] += 1
    newest = max(commits)
    generations = tuple(
        Generation(
            number,
            max(counts, key=lambda commit: (counts[commit], commit)),
            GenerationState.ROLLING_OUT if number == newest else GenerationState.RETIRING,
            now,
        )
        for number, counts in sorted(commits.items())
    )
    missed = ", ".join(sorted(unread))
    reason = f"{len(objs)} members found by their labels" + (f"; not read: {missed}" if missed else "")
    act = Act(ActKind.REBUILD, "trapeze", now, reason)
    return Ledger(set_name, generations, entries, acts=(act,))


def _entry(obj: LiveObject, wanted: Mapping[str, Mapping[ObjectId, Manifest]]) -> Entry:
    commit = obj.annotations.get(COMMIT_ANNOTATION, "")
    manifest = wanted.get(commit, {}).get(obj.id)
    origin = manifest.origin if manifest else None
    return Entry(
        id=obj.id,
        api_version=str(obj.body["apiVersion"]),
        generation=obj.generation or 1,
        bases=(Source(commit, origin.file, origin.document),) if origin else (),
        form=Form.WIDENED,
        uid=obj.uid,
        how=How.REBUILT,
    )
