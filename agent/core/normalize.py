"""Comparable bodies: what the server would take for the same becomes the same tree.

A tree is nested dictionaries. Items of keyed lists stand under their keys, in the order of the list. A leaf
is a text; what is no plain text (numbers, booleans, lists and maps that belong to one manager as a whole)
is frozen: NUL and its canonical JSON, so that True, 1 and "1" differ and 1 and 1.0 do not.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from agent.core.fields import find, get, item_parts, put
from agent.core.kind_policy import KindPolicy
from agent.core.model import COMMIT_ANNOTATION, GENERATION_LABEL, SET_LABEL, Body, FieldPath, PathPart
from agent.core.policy import Policy, group_kind_of
from agent.core.quantity import canonical
from agent.core.rules import MISSING, Rule

Tree: TypeAlias = dict[Any, Any]
"""Keys are texts or the merge keys of a list item; values are trees or texts."""

OURS: Final = {"labels": (SET_LABEL, GENERATION_LABEL), "annotations": (COMMIT_ANNOTATION,)}
"""What Trapeze itself writes into metadata: never a difference."""

ORDER: Final[PathPart] = (("", "order"),)
"""Stands among the items of a list whose order counts, where it differs; its value names the items."""

_FROZEN: Final = "\0"


def comparable(body: Body, policy: Policy) -> Tree:
    """The tree of a body, without what is never compared: status, server-owned fields, our own labels."""
    kind = policy.of(group_kind_of(body))
    tree = _tree(_prepared(body, kind, policy), kind.rules)
    return tree if isinstance(tree, dict) else {}


def applicable(body: Body, policy: Policy) -> Body:
    """The body as it is sent: without nulls, status, server-owned fields and placeholders.

    Names, apiVersion and kind stay; write-only maps (a Secret's stringData) are sent as they stand.
    """
    kind = policy.of(group_kind_of(body))
    body = _without_ignored(body, kind, policy)
    sent: Body = _sent(body, kind.rules)
    identity: Body = {key: body[key] for key in ("apiVersion", "kind") if key in body}
    metadata = body.get("metadata") or {}
    named = {key: metadata[key] for key in ("name", "namespace") if key in metadata}
    return {**identity, **sent, "metadata": {**named, **sent.get("metadata", {})}}


def duplicates(body: Body, policy: Policy) -> Iterator[FieldPath]:
    """Items that stand in their list before, by its merge keys or as an entry of a set.

    Server-side apply refuses the object; lists that are atomic for the server may hold what they like.
    """
    yield from _duplicates((), body, policy.of(group_kind_of(body)).rules)


def _duplicates(path: FieldPath, value: Any, rule: Rule) -> Iterator[FieldPath]:
    if isinstance(value, dict):
        for key, below in value.items():
            if isinstance(below, dict | list):
                yield from _duplicates((*path, key), below, rule.child(key))
    elif isinstance(value, list):
        if rule.type == "set":
            values = [freeze(item) for item in value]
            yield from ((*path, (("", thaw(one)),)) for one in dict.fromkeys(values) if values.count(one) > 1)
        for part, item in zip(item_parts(value, rule), value, strict=True):
            if rule.type == "map" and isinstance(part, tuple) and part[-1] == ("", 2):
                yield (*path, part[:-1])
            yield from _duplicates((*path, part), item, rule.of_item)


def canonical_text(value: Any, rule: Rule) -> str:
    """One text for every spelling of a value inside something atomic (an entry of a shared list)."""
    return json.dumps(_plain(value, rule), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def freeze(value: Any) -> str:
    """The text of a leaf that is no plain text."""
    return _FROZEN + json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def thaw(tree: Any) -> Any:
    """A tree as plain JSON again."""
    if isinstance(tree, dict):
        if tree and all(isinstance(key, tuple) for key in tree):
            return [thaw(value) for value in tree.values()]
        return {key: thaw(value) for key, value in tree.items()}
    if isinstance(tree, str) and tree.startswith(_FROZEN):
        return json.loads(tree[1:])
    return tree


def _without_ignored(body: Body, kind: KindPolicy, policy: Policy) -> Body:
    for placed in kind.ignored_when:
        paths = [path for path, _ in find(body, placed.pattern, kind.rules)]
        # The field is looked for first: handing a whole object to CEL costs more than all the rest.
        if paths and policy.holds(placed.row.when, otherwise=False, object=body):
            for path in paths:
                body = put(body, path, MISSING, kind.rules)
    return body


def _prepared(body: Body, kind: KindPolicy, policy: Policy) -> Body:
    body = _without_ignored(body, kind, policy)
    for fold in kind.folds:
        for path, texts in list(find(body, fold.pattern, kind.rules)):
            into = tuple(part for part in fold.pattern_of(fold.row.into) if isinstance(part, str))
            had = get(body, into, kind.rules)
            folded = {key: _encoded(text) for key, text in (texts or {}).items()}
            body = put(body, path, MISSING, kind.rules)
            body = put(body, into, {**(had if isinstance(had, dict) else {}), **folded}, kind.rules)
    metadata = body.get("metadata")
    if isinstance(metadata, dict):
        for field, ours in OURS.items():
            texts = metadata.get(field)
            if isinstance(texts, dict) and any(key in texts for key in ours):
                kept = {key: value for key, value in texts.items() if key not in ours}
                metadata = {**metadata, field: kept}
        body = {**body, "metadata": metadata}
    return body


def _encoded(text: Any) -> Any:
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode() if isinstance(text, str) else text


def _tree(value: Any, rule: Rule) -> Any:
    if isinstance(value, str):
        return _leaf(value, rule)
    if isinstance(value, dict):
        if rule.type == "atomic" and not rule.is_named:
            return freeze(_plain(value, rule))
        out = {}
        for key, below in value.items():
            child = rule.child(key)
            if below is None or child.is_ignored or is_filler(below, child):
                continue
            out[key] = _tree(below, child)
        return out
    if isinstance(value, list):
        return _list(value, rule)
    return _leaf(value, rule)


def _list(items: list[Any], rule: Rule) -> Any:
    if rule.type == "set" and all(isinstance(item, str | int) for item in items):
        return {(("", item),): _leaf(item, rule.of_item) for item in items}
    if rule.keys:
        parts = item_parts(items, rule)
        if not any(isinstance(part, int) for part in parts):
            return {part: _tree(item, rule.of_item) for part, item in zip(parts, items, strict=True)}
    return freeze(_plain(items, rule))


def _leaf(value: Any, rule: Rule) -> str:
    if rule.is_quantity:
        exact = canonical(value)
        if exact is not None:
            return exact
    if isinstance(value, str):
        if rule.is_base64:
            value = _recoded(value)
        # A text of several lines is frozen too: DeepDiff would spend seconds on a unified diff of it.
        return freeze(value) if value.startswith(_FROZEN) or "\n" in value else value
    return freeze(_number(value))


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _recoded(text: str) -> str:
    try:
        raw = base64.b64decode("".join(text.split()).rstrip("=") + "==", validate=False)
    except (binascii.Error, ValueError):
        return text
    return base64.b64encode(raw).decode()


def is_filler(value: Any, rule: Rule) -> bool:
    """Whether a value only holds the place of what a controller puts there."""
    if not rule.is_injected or not isinstance(value, str):
        return False
    digest = f"sha256:{hashlib.sha256(value.encode()).hexdigest()}"
    return value == "" or value in rule.placeholders or digest in rule.placeholders


def is_default(tree: Any, rule: Rule, siblings: Tree) -> bool:
    """Whether the server would have put this value itself, beside these siblings, or it says nothing."""
    if rule.is_absent_when_empty and tree in ({}, "", "\0[]", "\0{}"):
        return True
    if isinstance(tree, dict):
        return bool(tree) and all(
            isinstance(key, str) and is_default(value, rule.child(key), tree) for key, value in tree.items()
        )
    if rule.same_as:
        return bool(tree == siblings.get(rule.same_as, MISSING))
    return rule.default is not MISSING and tree == _leaf(rule.default, rule)


def is_as_defaulted(value: Any, rule: Rule) -> bool:
    """Whether a raw value is what the server would have put itself."""
    return is_default(_tree(value, rule), rule, {})


def _plain(value: Any, rule: Rule) -> Any:
    """Canonical JSON inside something atomic: defaults out, sets and keyed lists in one order."""
    if isinstance(value, dict):
        out = {}
        for key, below in value.items():
            child = rule.child(key)
            if below is None or child.is_ignored or is_filler(below, child):
                continue
            plain = _plain(below, child)
            if child.same_as and plain == value.get(child.same_as):
                continue
            if child.default is not MISSING and _same(plain, child.default):
                continue
            if not (child.is_absent_when_empty and plain in ({}, "", [])):
                out[key] = plain
        return out
    if isinstance(value, list):
        items = [_plain(item, rule.of_item) for item in value]
        return items if rule.is_ordered else sorted(items, key=freeze)
    tree = _leaf(value, rule)
    return thaw(tree)


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _sent(value: Any, rule: Rule) -> Any:
    if isinstance(value, dict):
        return {
            key: _sent(below, rule.child(key))
            for key, below in value.items()
            if below is not None and not rule.child(key).is_ignored and not is_filler(below, rule.child(key))
        }
    if isinstance(value, list):
        return [_sent(item, rule.of_item) for item in value]
    return value
