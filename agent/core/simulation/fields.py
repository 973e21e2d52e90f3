"""Field sets as the API server keeps them in managedFields (fieldsV1), and what merging needs of them.

A field path is a tuple of fieldsV1 keys: ``f:spec``, ``k:{"name":"web"}``, ``v:"finalizer"``. The rules are
those of structured-merge-diff (typed/tofieldset.go, typed/remove.go, merge/update.go), described at
https://kubernetes.io/docs/reference/using-api/server-side-apply/.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from agent.core.model import Body
from agent.core.simulation.tables import EACH, Merge, Steps

Path: TypeAlias = tuple[str, ...]
FieldSet: TypeAlias = frozenset[Path]
Schema: TypeAlias = Mapping[Steps, Merge]
"""How the lists and maps of one kind merge; what is not named: lists atomic, maps granular."""

UNOWNED = frozenset(
    {("f:apiVersion",), ("f:kind",), ("f:status",)}
    | {
        ("f:metadata", f"f:{name}")
        for name in (
            "name",
            "namespace",
            "uid",
            "resourceVersion",
            "generation",
            "creationTimestamp",
            "managedFields",
            "selfLink",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
        )
    }
)
"""Fields that nobody owns (fieldmanager/internal/stripmeta.go)."""


def item_key(item: Any, keys: Sequence[str], defaults: Mapping[str, Any]) -> str:
    """``k:{...}`` of an item of a keyed list; a missing protocol means TCP, as the schema's default says."""
    values = {
        key: item[key] if key in item else defaults[key] for key in keys if key in item or key in defaults
    }
    return "k:" + json.dumps(values, sort_keys=True, separators=(",", ":"))


KEY_DEFAULTS: Mapping[str, Any] = {"protocol": "TCP"}


def item_part(item: Any, rule: Merge) -> str:
    """The path part of one item of a keyed list or a set."""
    if rule == "set" or not isinstance(item, dict) or isinstance(rule, str):
        return "v:" + json.dumps(item, separators=(",", ":"))
    return item_key(item, rule, KEY_DEFAULTS)


def is_split(value: Any, at: Steps, schema: Schema) -> bool:
    """Whether parts of the value can have different owners."""
    rule = schema.get(at)
    if isinstance(value, dict):
        return rule is None and bool(value)
    return isinstance(value, list) and rule is not None and rule != "atomic"


def leaves(value: Any, schema: Schema, path: Path = (), at: Steps = ()) -> Iterator[tuple[Path, Any]]:
    """Each ownable path with its value; an item of a keyed list comes as itself, with None, and inside."""
    if not is_split(value, at, schema):
        if path:
            yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, schema, (*path, f"f:{key}"), (*at, key))
    else:
        for item in value:
            part = (*path, item_part(item, schema[at]))
            yield part, None
            if isinstance(item, dict):
                yield from leaves(item, schema, part, (*at, EACH))


def is_owned(path: Path) -> bool:
    """Whether field managers own this path at all (status is written beside them in the model)."""
    return path[:2] not in UNOWNED and path[:1] not in UNOWNED


def field_set(body: Body, schema: Schema) -> FieldSet:
    """The paths that whoever applies this body owns."""
    return frozenset(path for path, _ in leaves(body, schema) if is_owned(path))


def changed(before: Body, after: Body, schema: Schema) -> tuple[FieldSet, FieldSet]:
    """Ownable paths that ``after`` adds or modifies, and those that it lacks."""
    was, now = dict(leaves(before, schema)), dict(leaves(after, schema))
    moved = (path for path, value in now.items() if path not in was or was[path] != value)
    gone = (path for path in was if path not in now)
    return frozenset(filter(is_owned, moved)), frozenset(filter(is_owned, gone))


def merge(live: Any, config: Any, schema: Schema, at: Steps = ()) -> Any:
    """The config laid over the live value: maps by key, lists by merge keys, everything else replaced."""
    if config == {} and isinstance(live, dict) and schema.get(at) is None:
        return live
    if not is_split(live, at, schema) or not is_split(config, at, schema):
        return config
    if isinstance(live, dict) and isinstance(config, dict):
        merged = dict(live)
        for key, inner in config.items():
            merged[key] = merge(live[key], inner, schema, (*at, key)) if key in live else inner
        return merged
    if isinstance(live, list) and isinstance(config, list):
        return _merge_lists(live, config, schema, at)
    return config


def _merge_lists(live: list[Any], config: list[Any], schema: Schema, at: Steps) -> list[Any]:
    """The config's order rules; items that only live has keep their place beside their neighbours."""
    rule = schema[at]
    old = {item_part(item, rule): item for item in live}
    new = {item_part(item, rule): item for item in config}
    merged: list[Any] = []
    waiting = list(old)
    for part, item in new.items():
        while waiting and waiting[0] not in new:
            merged.append(old[waiting.pop(0)])
        if waiting and waiting[0] == part:
            waiting.pop(0)
        merged.append(merge(old[part], item, schema, (*at, EACH)) if part in old else item)
        waiting = [name for name in waiting if name != part]
    return merged + [old[name] for name in waiting if name not in new]


def first_duplicate(value: Any, schema: Schema, at: Steps = ()) -> str:
    """The first list item, in words, whose merge key another item has too; or empty."""
    inner: list[tuple[Any, Steps]] = []
    if isinstance(value, dict):
        inner = [(item, (*at, key)) for key, item in value.items()]
    elif isinstance(value, list) and is_split(value, at, schema):
        parts = [item_part(item, schema[at]) for item in value]
        for part in parts:
            if parts.count(part) > 1:
                return f"{'.'.join(at)}: duplicate entries for key {part[2:]}"
        inner = [(item, (*at, EACH)) for item in value]
    return next((found for item, where in inner if (found := first_duplicate(item, schema, where))), "")


def remove(value: Any, paths: FieldSet, schema: Schema, path: Path = (), at: Steps = ()) -> Any:
    """The value without these paths; a map or list that this empties goes too (None is returned)."""
    if not is_split(value, at, schema):
        return value
    kept: Any
    if isinstance(value, dict):
        kept = {}
        for key, inner in value.items():
            part = (*path, f"f:{key}")
            rest = None if part in paths else remove(inner, paths, schema, part, (*at, key))
            if rest is not None or (inner is None and part not in paths):
                kept[key] = rest
        return kept or None
    kept = []
    for item in value:
        part = (*path, item_part(item, schema[at]))
        rest = None if part in paths else remove(item, paths, schema, part, (*at, EACH))
        if rest is not None:
            kept.append(rest)
    return kept or None


def to_fields_v1(paths: FieldSet) -> Body:
    """The JSON form: nested maps; ``.`` marks an item or map that is owned itself and has owned fields."""
    tree: Body = {}
    for path in sorted(paths):
        node = tree
        for part in path:
            node = node.setdefault(part, {})
        node["."] = {}
    return _without_dots(tree)


def _without_dots(tree: Body) -> Body:
    if set(tree) == {"."}:
        return {}
    return {key: _without_dots(inner) if key != "." else {} for key, inner in tree.items()}


def from_fields_v1(tree: Mapping[str, Any], path: Path = ()) -> Iterator[Path]:
    """The paths of a fieldsV1 tree."""
    if path and (not tree or "." in tree):
        yield path
    for part, inner in tree.items():
        if part != ".":
            yield from from_fields_v1(inner, (*path, part))


def path_words(path: Path) -> str:
    """As the API server writes a path in a conflict: ``.spec.containers[name="web"].image``."""
    words = ""
    for part in path:
        if part.startswith("f:"):
            words += "." + part[2:]
        elif part.startswith("k:"):
            keys = json.loads(part[2:])
            words += "[" + ",".join(f"{key}={json.dumps(value)}" for key, value in keys.items()) + "]"
        else:
            words += f"[={part[2:]}]"
    return words
