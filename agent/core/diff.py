"""Three-way comparison: what an object has, what it shall have, and who wanted it otherwise.

Equality comes first: what is equal, what is somebody else's and what the server fills in is left out of both
trees (agent/core/normalize.py). DeepDiff looks only at what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from deepdiff import DeepDiff

from agent.core.claims import AllClaims, Claims, owned_by
from agent.core.fields import get, rule_at
from agent.core.kind_policy import KindPolicy
from agent.core.model import ABSENT, Body, FieldChange, FieldPath, LiveObject, Manifest, Reason, path_text
from agent.core.normalize import ORDER, Tree, comparable, freeze, is_default, thaw
from agent.core.paths import covers
from agent.core.policy import Policy, group_kind_of
from agent.core.predecessors import applied_by, last_applied
from agent.core.rules import MISSING, Rule


def three_way(
    desired: Manifest,
    live: LiveObject,
    applied: Sequence[Body],
    policy: Policy,
    manager: str,
    *,
    predecessors: frozenset[str] = frozenset(),
) -> tuple[FieldChange, ...]:
    """What an apply of ``desired`` by ``manager`` would change in ``live``, worked out offline.

    ``applied`` are the bodies of which something may still stand, the last one last written. A field that
    ``desired`` lacks goes when one of them had it, ``manager`` owns it or one of its ``predecessors``
    declared it; else it is somebody else's. Empty: no change.
    """
    if policy.known is None:
        return _three_way(desired, live, applied, policy, manager, predecessors)
    inputs = (desired.body, live.body, *applied)
    key = (tuple(map(id, inputs)), manager, predecessors)
    if key not in policy.known:
        # The bodies are kept with what differs: their addresses are their names here.
        found = _three_way(desired, live, applied, policy, manager, predecessors)
        policy.known[key] = (inputs, found)
    changes: tuple[FieldChange, ...] = policy.known[key][1]
    return changes


def _three_way(  # noqa: PLR0917 - what three_way was given
    desired: Manifest,
    live: LiveObject,
    applied: Sequence[Body],
    policy: Policy,
    manager: str,
    predecessors: frozenset[str],
) -> tuple[FieldChange, ...]:
    kind = policy.of(desired.id.group_kind)
    stood = (*last_applied(predecessors, live.body), *applied)
    others = [body for body in stood if body is not desired.body and body != desired.body]
    bases = cache(lambda: [comparable(body, policy) for body in others])
    owned = (*owned_by(manager, live.body), *applied_by(predecessors, live.body))
    claims = Claims(owned, bases)
    wanted, has = comparable(desired.body, policy), comparable(live.body, policy)
    wanted, has = _align(wanted, has, kind.rules, claims)
    if not wanted and not has:
        return ()
    why = _reasons(applied, kind, policy)
    return _changes((has, live.body), (wanted, desired.body), kind, why)


def by_server(
    answer: Body, live: LiveObject, desired: Manifest, applied: Sequence[Body], policy: Policy
) -> tuple[FieldChange, ...]:
    """The same by the server's word: ``answer`` is what a dry-run apply made of ``live``."""
    kind = policy.of(live.id.group_kind)
    will, has = comparable(answer, policy), comparable(live.body, policy)
    will, has = _align(will, has, kind.rules, AllClaims())
    if not will and not has:
        return ()
    wanted = comparable(desired.body, policy)
    bases = [comparable(body, policy) for body in applied]
    reason = _reasons(applied, kind, policy)
    consequences: set[FieldPath] = set()

    def why(path: FieldPath, before: Any, after: Any) -> Reason:
        if path[-1] == ORDER:
            return reason(path, before, after)
        is_as_wanted = _at(wanted, path) == before
        if is_as_wanted or all(_at(tree, path) is MISSING for tree in (wanted, *bases)):
            consequences.add(path)
        return reason(path, before, _at(wanted, path))

    changes = tuple(
        change
        for change in _changes((has, live.body), (will, answer), kind, why)
        if not _stays(change.path, live.body, answer, kind)
    )
    if all(change.reason is Reason.DRIFT for change in changes if change.path not in consequences):
        return changes
    # What nobody ever wrote, or what stood as it should, is what the server makes of the rest: allocated,
    # defaulted, converted, dropped (a Service that is no load balancer any more has no traffic policy).
    return tuple(
        replace(change, reason=Reason.GIT) if change.path in consequences else change for change in changes
    )


def _stays(path: FieldPath, before: Body, after: Body, kind: KindPolicy) -> bool:
    """Whether the server leaves a field alone that counts in one of its bodies only.

    The rules of a role that gathers others' are not compared; once it gathers no more, they stay as they are.
    """
    stood = get(before, path, kind.rules)
    return stood is not MISSING and stood == get(after, path, kind.rules)


def two_way(old: Body, new: Body, policy: Policy) -> tuple[FieldChange, ...]:
    """Every difference between two bodies of one kind (previews); the reason is always git."""
    kind = policy.of(group_kind_of(new))
    before, after = comparable(old, policy), comparable(new, policy)
    after, before = _align(after, before, kind.rules, AllClaims())
    if not before and not after:
        return ()
    return _changes((before, old), (after, new), kind, lambda *_: Reason.GIT)


def _align(wanted: Tree, has: Tree, rule: Rule, claims: Claims) -> tuple[Tree, Tree]:
    """What differs of both trees: without defaults on one side, and without what is somebody else's."""
    out_wanted: Tree = {}
    out_has: Tree = {}
    is_list = bool(rule.keys)
    for key, value in wanted.items():
        child = rule.of_item if is_list else rule.child(key)
        other = has.get(key, MISSING)
        if other is MISSING:
            # A side that lacks the field gets what the server makes of its own siblings.
            if not is_default(value, child, has):
                out_wanted[key] = value
        elif isinstance(value, dict) and isinstance(other, dict):
            below = AllClaims() if child.type == "atomic" else claims.below(key)
            inner_wanted, inner_has = _align(value, other, child, below)
            if inner_wanted or inner_has:
                out_wanted[key], out_has[key] = inner_wanted, inner_has
        elif value != other:
            out_wanted[key], out_has[key] = value, other
    out_has |= _left_over(wanted, has, rule, claims)
    _drop_mirrored(out_wanted, out_has, rule)
    if is_list and rule.is_ordered:
        _mark_order(wanted, has, out_wanted, out_has)
    return out_wanted, out_has


def _drop_mirrored(out_wanted: Tree, out_has: Tree, rule: Rule) -> None:
    """The server writes some fields under two names: told once, under the longer."""
    for key in [key for key in out_wanted | out_has if isinstance(key, str)]:
        other = rule.child(key).same_as
        is_shorter = rule.child(other).same_as != key or len(key) < len(other)
        if other and is_shorter and all(one.get(key) == one.get(other) for one in (out_wanted, out_has)):
            out_wanted.pop(key, None)
            out_has.pop(key, None)


def _left_over(wanted: Tree, has: Tree, rule: Rule, claims: Claims) -> Tree:
    """What of the live fields that are not wanted goes."""
    out = {}
    for key, value in has.items():
        if key not in wanted:
            child = rule.of_item if rule.keys else rule.child(key)
            kept = _ours(value, child, claims.below(key), wanted)
            if kept is not MISSING:
                out[key] = kept
    return out


def _ours(value: Any, rule: Rule, claims: Claims, siblings: Tree) -> Any:
    """What of a live field that is not wanted goes: ours, and not what the server puts there itself."""
    if rule.is_injected or is_default(value, rule, siblings):
        return MISSING
    if not claims.is_held:
        return MISSING
    if isinstance(claims, AllClaims) or not isinstance(value, dict) or rule.type == "atomic":
        return value
    out = {}
    is_whole = True
    for key, below in value.items():
        child = rule.of_item if rule.keys else rule.child(key)
        kept = _ours(below, child, claims.below(key), value)
        if kept is not MISSING:
            out[key] = kept
        is_whole = is_whole and (kept is below or is_default(below, child, value))
    # Defaults go with the whole of which they are a part.
    return value if is_whole and out else out if out or not value else MISSING


def _mark_order(wanted: Tree, has: Tree, out_wanted: Tree, out_has: Tree) -> None:
    common = [key for key in wanted if key in has]
    live_order = [key for key in has if key in wanted]
    if common != live_order:
        out_wanted[ORDER] = freeze([[value for _, value in key] for key in common])
        out_has[ORDER] = freeze([[value for _, value in key] for key in live_order])


_Why = Callable[[FieldPath, Any, Any], Reason]


def _reasons(applied: Sequence[Body], kind: KindPolicy, policy: Policy) -> _Why:
    """Who wanted it otherwise, by the body last applied; without one everything is Git's doing."""
    if not applied:
        return lambda *_: Reason.GIT
    bases = [comparable(body, policy) for body in applied]

    def why(path: FieldPath, before: Any, after: Any) -> Reason:
        if path[-1] == ORDER:
            stood: list[Any] = [_order(base, path, after) for base in bases]
        else:
            stood = [_at(base, path) for base in bases]
        if stood[-1] == after:
            return Reason.DRIFT
        rule = rule_at(path, kind.rules)
        expected = any(_is_as_written(one, before, rule) for one in stood)
        return Reason.GIT if expected else Reason.BOTH

    return why


def _is_as_written(base: Any, live: Any, rule: Rule) -> bool:
    """Whether live has what was applied, but for the server's defaults written out or left out."""
    if isinstance(base, dict) and isinstance(live, dict):
        return _align(base, live, rule, AllClaims()) == ({}, {})
    if MISSING in (base, live):
        there = live if base is MISSING else base
        return there is MISSING or is_default(there, rule, {})
    return bool(base == live)


def _order(base: Tree, path: FieldPath, names: str) -> str:
    items = _at(base, path[:-1])
    known = thaw(names)
    order = ([value for _, value in key] for key in items) if isinstance(items, dict) else ()
    return freeze([one for one in order if one in known])


def _at(tree: Any, path: FieldPath) -> Any:
    for part in path:
        if not isinstance(tree, dict):
            return MISSING
        tree = tree.get(part, MISSING)
    return tree


def _differences(has: Tree, wanted: Tree) -> Iterator[tuple[FieldPath, Any, Any]]:
    found = DeepDiff(
        has, wanted, view="tree", ignore_private_variables=False, threshold_to_diff_deeper=0, verbose_level=0
    )
    for levels in found.values():
        for level in levels:
            path = tuple(level.path(output_format="list"))
            yield path, _at(has, path), _at(wanted, path)


_Side = tuple[Tree, Body]


def _changes(has: _Side, wanted: _Side, kind: KindPolicy, why: _Why) -> tuple[FieldChange, ...]:
    out = []
    for path, before, after in _differences(has[0], wanted[0]):
        reason = why(path, before, after)
        if path[-1] == ORDER:
            out.append(FieldChange(path, thaw(before), thaw(after), reason))
        else:
            told = (_told(path, before, has[1], kind), _told(path, after, wanted[1], kind))
            out.append(FieldChange(path, *told, reason))
    return tuple(sorted(out, key=lambda change: path_text(change.path)))


def _told(path: FieldPath, tree: Any, body: Body, kind: KindPolicy) -> Any:
    """The value as it was written, where the tree holds another spelling of it."""
    if tree is MISSING:
        return ABSENT
    folded = any(covers(fold.pattern_of(fold.row.into), path) for fold in kind.folds)
    if isinstance(tree, dict) or folded:
        return thaw(tree)
    raw = get(body, path, kind.rules)
    return thaw(tree) if raw is MISSING or rule_at(path, kind.rules).type == "set" else raw
