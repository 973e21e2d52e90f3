"""What a field names, by a row of the tables: an object, or pods by their labels."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from agent.core.fields import find, get
from agent.core.model import Body, FieldPath, GroupKind, ObjectId
from agent.core.paths import parse_pattern
from agent.core.policy import PODS, Policy, group_kind, group_kind_of, id_of
from agent.core.rules import MISSING, Rule
from agent.core.tables import TargetRow

_PLAIN: Final = Rule()


class Target(NamedTuple):
    """What a pointer names: an object, or (kind Pod, no name) the pods with these labels."""

    kind: GroupKind
    namespace: str
    name: str
    selector: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> ObjectId | None:
        """The object's identity; None where pods are named by their labels."""
        return ObjectId(*self.kind, self.namespace, self.name) if self.name else None

    def __str__(self) -> str:
        """``Service ns/name``, or ``pods a=b,c=d in ns``."""
        if self.name:
            return str(ObjectId(*self.kind, self.namespace, self.name))
        return f"pods {','.join(f'{k}={v}' for k, v in self.selector)} in {self.namespace}"


class Pointer(NamedTuple):
    """A field that says where requests go, and where."""

    path: FieldPath
    target: Target


def pointers_of(body: Body, policy: Policy) -> tuple[Pointer, ...]:
    """Every pointer of an object that names a target, in the order of the tables."""
    kind = policy.of(group_kind_of(body))
    own = id_of(body).namespace
    return tuple(
        Pointer(path, target)
        for placed in kind.pointers
        for path, value in find(body, placed.pattern, kind.rules)
        if (target := target_of(placed.row.target, value, own)) is not None
    )


def target_of(row: TargetRow, value: Any, own: str) -> Target | None:
    """What ``value`` points at; None for nothing that is named. ``own`` is the holder's namespace."""
    if value is MISSING or value is None:
        return None
    kind = kind_named(row, value)
    if kind is None:
        return None
    if kind == PODS and row.kind == "pods":
        labels = value if isinstance(value, dict) else {}
        pairs = tuple(sorted((str(key), str(text)) for key, text in labels.items()))
        return Target(PODS, own, "", pairs) if pairs else None
    name = name_of(row, value)
    return Target(kind, namespace_of(row, kind, value, own), name) if name else None


def kind_named(row: TargetRow, value: Any) -> GroupKind | None:
    """The kind that ``value`` names; None where the row does not speak of it."""
    if not row.kind_from:
        return PODS if row.kind == "pods" else group_kind(row.kind)
    kind = text_at(value, row.kind_from)
    if not kind or (row.only and kind not in row.only):
        return None
    group, slash, _ = text_at(value, row.group_from).partition("/") if row.group_from else ("", "", "")
    # An apiVersion without a slash is a version of the core group; a plain group has no slash either.
    is_version = row.group_from.endswith("apiVersion")
    return GroupKind(group if slash or not is_version else "", kind)


def name_of(row: TargetRow, value: Any) -> str:
    """The name that ``value`` holds, the row's default where it holds none, else empty."""
    return (text_at(value, row.name) if row.name else value if isinstance(value, str) else "") or row.default


def namespace_of(row: TargetRow, kind: GroupKind, value: Any, own: str) -> str:
    """Where the named object stands; ``own`` is the namespace of the object that names it."""
    if kind.kind in row.cluster_kinds:
        return ""
    if row.namespace is None:
        return own
    return text_at(value, row.namespace) or own


def text_at(value: Any, path: str) -> str:
    """The text at a relative path, or empty."""
    parts = tuple(part for part in parse_pattern(path) if isinstance(part, str))
    found = get(value, parts, _PLAIN)
    return found if found is not MISSING and isinstance(found, str) else ""
