"""What a field names, by a row of the tables: an object, or pods by their labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from agent.core.fields import find, get
from agent.core.model import Body, FieldPath, GroupKind, ObjectId
from agent.core.paths import parse_pattern
from agent.core.policy import PODS, Policy, group_kind, group_kind_of, id_of
from agent.core.rules import MISSING, Rule
from agent.core.selectors import Labels, Requirement, labels_wanted
from agent.core.tables import TargetRow

_PLAIN: Final = Rule()
_SERVICE: Final = GroupKind("", "Service")


class Target(NamedTuple):
    """What a pointer names: an object by its name, or (no name) the objects of a kind with these labels.

    Without a namespace those stand anywhere. ``is_watched`` says that the holder watches or guards what it
    names (a PodDisruptionBudget, a ServiceMonitor): no request goes through it, and there may be none.
    """

    kind: GroupKind
    namespace: str
    name: str
    selector: tuple[tuple[str, str], ...] = ()
    requirements: tuple[Requirement, ...] = ()
    is_watched: bool = False

    @property
    def id(self) -> ObjectId | None:
        """The object's identity; None where objects are named by their labels."""
        return ObjectId(*self.kind, self.namespace, self.name) if self.name else None

    @property
    def is_service(self) -> bool:
        """Whether requests go to a Service that is named."""
        return self.kind == _SERVICE and bool(self.name)

    @property
    def labels(self) -> Labels:
        """What the labels of the objects must have."""
        return Labels(self.selector, self.requirements)

    def takes(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Whether an object of the kind there with these labels is meant."""
        return self.namespace in ("", namespace) and self.labels.match(labels)

    def __str__(self) -> str:
        """``Service ns/name``, or ``pods a=b,c=d in ns``."""
        if self.name:
            return str(ObjectId(*self.kind, self.namespace, self.name))
        what = "pods" if self.kind == PODS else f"{self.kind}s"
        return f"{what} {str(self.labels) or 'of any label'} in {self.namespace or 'any namespace'}"


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
    select = select_of(row)
    if select:
        wanted = labels_wanted(value, select)
        if wanted is None:
            return None
        where = "" if row.anywhere else own
        return Target(kind, where, "", *wanted, is_watched=select == "label-selector")
    name = name_of(row, value)
    return Target(kind, namespace_of(row, kind, value, own), name) if name else None


def select_of(row: TargetRow) -> str:
    """How the row names objects by their labels, or empty where it names them otherwise."""
    return row.select or ("labels" if row.kind == "pods" else "")


def kind_named(row: TargetRow, value: Any) -> GroupKind | None:
    """The kind that ``value`` names; None where the row does not speak of it."""
    if not row.kind_from:
        return PODS if row.kind == "pods" else group_kind(row.kind)
    usual = group_kind(row.kind) if row.kind != "*" else GroupKind("", "")
    kind = text_at(value, row.kind_from) or usual.kind
    if not kind or (row.only and kind not in row.only):
        return None
    written = text_at(value, row.group_from) if row.group_from else ""
    if not written:
        return GroupKind(usual.group, kind)
    group, slash, _ = written.partition("/")
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
