"""What the tables say the API server refuses: spelling, what stands twice, selectors, sizes, old versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import orjson

from agent.core.fields import find
from agent.core.model import Body, Manifest, Severity
from agent.core.policy import Policy
from agent.core.rules import Rule
from agent.core.selectors import labels_wanted
from agent.core.table_validation import NameRow, UniqueRow
from agent.core.tables import Placed
from agent.core.validation.bounded import bound_problems
from agent.core.validation.problem import Problem, RawPath, raw_path
from agent.core.validation.spelling import FORMS, misspelled

LARGEST_OBJECT: Final = 1_572_864
"""Bytes that etcd takes for one object (etcd.io/docs/latest/dev-guide/limit: 1.5 MiB)."""
LARGEST_ANNOTATIONS: Final = 262_144
"""Bytes of all keys and values together (kubernetes.io/docs/concepts/overview/working-with-objects/
annotations)."""


def tabled_problems(manifest: Manifest, policy: Policy) -> Iterator[Problem]:
    """All of them for one object whose shape is that of its kind."""
    body = manifest.body
    kind = manifest.id.group_kind
    rules = policy.of(kind).rules
    for placed in _nearest_rows(policy.placed(policy.tables.names, kind)):
        yield from _spelled(placed, body, rules)
    for unique in policy.placed(policy.tables.unique, kind):
        yield from _twice(unique, body, rules)
    yield from bound_problems(body, policy, kind)
    for selecting in policy.placed(policy.tables.selecting, kind):
        row = selecting.row
        labels = next((v for _, v in find(body, selecting.pattern_of(row.labels), rules)), None) or {}
        for path, value in find(body, selecting.pattern, rules):
            wanted = labels_wanted(value, row.select)
            if wanted is not None and isinstance(labels, dict) and not wanted.match(labels):
                message = f"({wanted}) does not match {row.labels}"
                yield Problem("selector", raw_path(path, body), message, "give the pods those labels")
    yield from _too_large(body)


def removed_problems(manifest: Manifest, policy: Policy, version: str) -> Iterator[Problem]:
    """The API version where Kubernetes ``version`` ("1.36") serves it no longer; a warning where it does."""
    for row in policy.tables.removals:
        if row.kind[0] == manifest.body.get("kind") and manifest.api_version in row.api:
            gone = not version or _number(version) >= _number(row.removed)
            message = f"is {manifest.api_version}, which Kubernetes {row.removed} and later do not serve"
            severity = Severity.OBJECT if gone else Severity.WARNING
            yield Problem(
                "removed-version", ("apiVersion",), message, f"use {row.instead}", severity, is_certain=False
            )


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.removeprefix("v").split(".")[:2])


def _nearest_rows(rows: tuple[Placed[NameRow], ...]) -> Iterator[Placed[NameRow]]:
    """One row for each path: that of the kind before that of all kinds."""
    by_path: dict[Any, Placed[NameRow]] = {}
    for placed in rows:
        if placed.pattern not in by_path or by_path[placed.pattern].row.kind[0] == "*":
            by_path[placed.pattern] = placed
    yield from by_path.values()


def _spelled(placed: Placed[NameRow], body: Body, rules: Rule) -> Iterator[Problem]:
    row = placed.row
    for path, value in find(body, placed.pattern, rules):
        at = raw_path(path, body)
        if row.keys:
            for key in value if isinstance(value, dict) else ():
                if not FORMS[row.form].fits(key):
                    yield Problem("name", (*at, key), f"is no key: allowed are {FORMS[row.form].says}")
            continue
        for below, allowed in misspelled(row.form, value):
            rule = row.form if row.form in {"labels", "annotations"} else "name"
            yield Problem(
                rule, (*at, *below), f"is not spelled as the server wants it: {allowed}", "rename it"
            )


def _twice(placed: Placed[UniqueRow], body: Body, rules: Rule) -> Iterator[Problem]:
    seen: set[Any] = set()
    for pattern in (placed.pattern, *map(placed.pattern_of, placed.row.beside)):
        for path, items in find(body, pattern, rules):
            seen = seen if placed.row.beside else set()
            for number, item in enumerate(items if isinstance(items, list) else ()):
                value = item.get(placed.row.by) if isinstance(item, dict) else None
                if isinstance(value, str | int) and value in seen:
                    at: RawPath = (*raw_path(path, body), number, placed.row.by)
                    yield Problem("duplicate", at, f"({value}) stands twice", "give each its own")
                elif isinstance(value, str | int):
                    seen.add(value)


def _too_large(body: Body) -> Iterator[Problem]:
    annotations = (body.get("metadata") or {}).get("annotations") or {}
    size = sum(len(str(key).encode()) + len(str(value).encode()) for key, value in annotations.items())
    if size > LARGEST_ANNOTATIONS:
        message = f"have {size} bytes, {LARGEST_ANNOTATIONS} are the most"
        yield Problem("size", ("metadata", "annotations"), message, "put it into the object or a ConfigMap")
    whole = len(orjson.dumps(body))
    if whole > LARGEST_OBJECT:
        message = f"the object has {whole} bytes, {LARGEST_OBJECT} are the most"
        yield Problem("size", (), message, "split it")
