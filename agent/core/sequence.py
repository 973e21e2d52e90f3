"""The order of the steps: a total one for display and for requests of one tick; gates do the waiting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agent.core.model import LiveObject, ObjectId
from agent.core.pruning import NAMESPACE, is_dead_webhook
from agent.core.situation import Situation
from agent.core.steps import Step, Verb

_MOVES = (Verb.CUTOVER, Verb.POINT_BACK)


def in_order(situation: Situation, steps: Iterable[Step]) -> tuple[Step, ...]:
    """Added first, by the order table; removals that unblock; cutovers; the rest users first."""
    policy = situation.policy
    additive, unblocking, moves, rest, last = [], [], [], [], []
    for step in steps:
        live = situation.live.get(step.id)
        if step.is_additive or step.verb in (Verb.REPLACE, Verb.MIGRATE):
            additive.append(step)
        elif step.verb in _MOVES:
            moves.append(step)
        elif step.verb is Verb.DELETE and live is not None and _unblocks(situation, live):
            unblocking.append(step)
        elif step.verb is Verb.DELETE and step.id.group_kind == NAMESPACE:
            last.append(step)
        else:
            rest.append(step)

    def created(step: Step) -> tuple[int, bool, ObjectId, bool]:
        return policy.rank(step.id.group_kind), step.verb is Verb.REPLACE, step.id, step.verb is Verb.MIGRATE

    groups = (additive, unblocking, moves)
    leading = [step for group in groups for step in sorted(group, key=created)]
    return (*leading, *_users_first(situation, rest), *sorted(last, key=created))


def _unblocks(situation: Situation, live: LiveObject) -> bool:
    return bool(situation.policy.unblocks(live.body)) or is_dead_webhook(situation, live)


def _users_first(situation: Situation, steps: list[Step]) -> list[Step]:
    """Topological over who serves whom; of those that nothing waits for, the last made goes first."""
    by_id: dict[ObjectId, list[Step]] = {}
    for step in steps:
        by_id.setdefault(step.id, []).append(step)
    waits_for = _waits(situation, frozenset(by_id))
    left = sorted(by_id, key=lambda key: (-situation.policy.rank(key.group_kind), key))
    out: list[Step] = []
    while left:
        free = [key for key in left if not waits_for[key] & set(left) - {key}]
        # A circle of references has no first user: the order of the table decides.
        key = (free or left)[0]
        left.remove(key)
        out += by_id[key]
    return out


def _waits(situation: Situation, keys: frozenset[ObjectId]) -> Mapping[ObjectId, set[ObjectId]]:
    waits: dict[ObjectId, set[ObjectId]] = {key: set() for key in keys}
    for user in keys:
        for used in situation.live_graph.closure(user) & keys:
            waits[used].add(user)
    return waits
