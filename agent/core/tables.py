"""The rows of the policy tables (``policies/*.yaml``), as their JSON Schema publishes them.

Every row names its kinds, ``Kind`` or ``Kind.group`` (``*`` for all kinds, ``pods`` for every pod template,
its path then starts inside the template), and a path (agent/core/paths.py). Conditions are CEL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from agent.core.paths import Pattern, parse_pattern
from agent.core.table_replacements import ReplacementRow
from agent.core.table_row import KindText, PathText, Row, Texts
from agent.core.table_tools import ToolRow
from agent.core.table_validation import (
    AllowedRow,
    BoundRow,
    ChoiceRow,
    FilledRow,
    NameRow,
    RemovalRow,
    SelectingRow,
    UniqueRow,
)


class ListRow(Row):
    """How the server merges a list or a map.

    ``map``: items by ``keys``; ``set``: values, order does not count; ``atomic``: belongs to one manager
    as a whole (``keys`` then only name the items in a difference). ``ordered``: whether the order of items
    counts; when absent, it does for atomic lists only. ``named``: an atomic map whose fields are named one by
    one in a difference all the same.
    Source: kubernetes.io/docs/reference/using-api/server-side-apply (merge strategy).
    """

    type: Literal["map", "set", "atomic"] = "map"
    keys: Texts = ()
    ordered: bool | None = None
    named: bool = False


class DefaultRow(Row):
    """What the server fills in where the field is absent: ``value``, or what the sibling ``same_as`` has."""

    value: Any = None
    same_as: str = ""


class IgnoredRow(Row):
    """A field that is never compared and never sent; ``when`` sees ``object``."""

    when: str = ""


class InjectedRow(Row):
    """A field that a controller fills: kept from live where Git has none, "" or a placeholder.

    Of a long placeholder the digest will do: ``sha256:`` and the 64 hex digits of its UTF-8 text.
    """

    placeholders: Texts = ()


class FoldRow(Row):
    """A write-only map of texts that the server folds into the base64 map ``into`` (its keys win)."""

    into: PathText


class TargetRow(BaseModel):
    """What a field names: an object by kind and name, or ``pods`` by their labels.

    Paths are relative to the row's path; ``name: ""`` is the value itself. ``namespace`` absent means the
    namespace of the object that holds the field; ``cluster_kinds`` have none. With ``kind_from`` (and
    ``group_from``, an API group or apiVersion) the object says the kind, and ``only`` names the kinds that
    count. ``select`` says that objects of the kind are named by their labels: by a map of labels (``pods``
    without it), or by a LabelSelector; with ``anywhere`` they may stand in every namespace.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: KindText = "*"
    kind_from: PathText = ""
    group_from: PathText = ""
    only: Texts = ()
    name: PathText = ""
    namespace: PathText | None = None
    cluster_kinds: Texts = ()
    select: Literal["", "labels", "label-selector"] = ""
    anywhere: bool = False
    default: str = ""


class Setting(BaseModel):
    """A field that is set to a value."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: PathText
    value: Any


class PointerRow(Row):
    """A field that says where requests go; ``together`` are paths that move in the same write.

    ``arming`` are fields that send more requests there when they are set to a value: they wait for the
    backend as a move does, and go back at once.

    ``request`` is the API path that a real request through the pointer asks, with paths of the object in
    braces (``/apis/{spec.group}/{spec.version}``). ``trust`` is where the CA bundle stands (base64 PEM) that
    the target's certificate must verify with. ``admits``: the target is asked by a dry run through the API
    server (agent/core/admits.py). ``scales``: the holder sets how many replicas the target has.
    ``later``: a new object is made without the pointer and unarmed, since what serves it may need the object.
    """

    target: TargetRow
    together: Texts = ()
    arming: tuple[Setting, ...] = ()
    request: str = ""
    trust: PathText = ""
    admits: bool = False
    scales: bool = False
    later: bool = False


class SharedRow(Row):
    """A list of those who may, or of what they may: widened to a union, narrowed later.

    ``entries``: ``items`` compared whole, ``rules`` by the single rights that they grant (RBAC),
    ``certificates`` of a base64 PEM bundle, ``pairs`` of a map whose keys start with ``starting``.
    """

    entries: Literal["items", "rules", "certificates", "pairs"] = "items"
    starting: str = ""


class PartRow(Row):
    """Something whose removal takes a part of the object away; ``says`` names it ("port").

    With ``value`` the part goes when the field stops having this value.
    """

    says: str
    value: Any = None


class SoleRow(Row):
    """A flag that exactly one item of a list has; it stays where live has it until ``follows`` has moved."""

    follows: PathText


class ShapeRow(Row):
    """What a field has to be; anything else the API server refuses, and no rule could read it."""

    type: Literal["map", "list"]


class CapacityRow(Row):
    """A number whose decrease takes capacity away; ``absent`` is what the server puts where it is absent."""

    absent: int | None = None


class ImmutableRow(Row):
    """A field that the API server refuses to change in place; ``when`` sees ``live`` and ``desired``."""

    when: str = ""
    excepting: Texts = ()


class DowntimeRow(Row):
    """A change at ``path`` stops old pods before new ones are ready when ``when`` is true of ``object``."""

    when: str
    says: str


class OrderRow(Row):
    """In which order kinds are made (low first; removed the other way round)."""

    rank: int


class ProtectionRow(Row):
    """What is never pruned, or only with approval; ``names`` empty: all of the kind."""

    names: Texts = ()
    prune: Literal["never", "approval"]

    @property
    def key(self) -> tuple[str, ...]:
        """One row of each sort for a kind."""
        return (*self.kind, self.prune)


class IncidentalRow(Row):
    """What the cluster puts into every namespace by itself; ``names`` empty: all of the kind."""

    names: Texts = ()


class ControllerRow(Row):
    """Field managers of the cluster itself: what they write beside Git is their work, and not told."""

    names: Texts


class UnblockingRow(Row):
    """Objects that only constrain and may be deleted first where ``when`` is true of ``object``."""

    when: str
    says: str


class PassingRow(Row):
    """Objects that the cluster takes away when they have ended, where ``when`` is true of ``object``."""

    when: str
    says: str


class ReferenceRow(Row):
    """A field that names what the object needs; ``grants`` marks objects that serve what they name."""

    target: TargetRow
    grants: bool = False


class Tables(BaseModel):
    """All tables; a file may hold any of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pod_templates: tuple[Row, ...] = ()
    kept_templates: tuple[Row, ...] = ()
    lists: tuple[ListRow, ...] = ()
    quantities: tuple[Row, ...] = ()
    base64: tuple[Row, ...] = ()
    defaults: tuple[DefaultRow, ...] = ()
    empty_is_absent: tuple[Row, ...] = ()
    ignored: tuple[IgnoredRow, ...] = ()
    injected: tuple[InjectedRow, ...] = ()
    folds: tuple[FoldRow, ...] = ()
    pointers: tuple[PointerRow, ...] = ()
    shared: tuple[SharedRow, ...] = ()
    parts: tuple[PartRow, ...] = ()
    content: tuple[Row, ...] = ()
    sole: tuple[SoleRow, ...] = ()
    shapes: tuple[ShapeRow, ...] = ()
    capacity: tuple[CapacityRow, ...] = ()
    immutable: tuple[ImmutableRow, ...] = ()
    downtime: tuple[DowntimeRow, ...] = ()
    replacements: tuple[ReplacementRow, ...] = ()
    order: tuple[OrderRow, ...] = ()
    tools: tuple[ToolRow, ...] = ()
    protection: tuple[ProtectionRow, ...] = ()
    incidental: tuple[IncidentalRow, ...] = ()
    controllers: tuple[ControllerRow, ...] = ()
    unblocking: tuple[UnblockingRow, ...] = ()
    passing: tuple[PassingRow, ...] = ()
    references: tuple[ReferenceRow, ...] = ()
    names: tuple[NameRow, ...] = ()
    unique: tuple[UniqueRow, ...] = ()
    bounds: tuple[BoundRow, ...] = ()
    allowed: tuple[AllowedRow, ...] = ()
    choices: tuple[ChoiceRow, ...] = ()
    selecting: tuple[SelectingRow, ...] = ()
    filled: tuple[FilledRow, ...] = ()
    removals: tuple[RemovalRow, ...] = ()


RowT = TypeVar("RowT", bound=Row)


@dataclass(frozen=True, slots=True)
class Placed(Generic[RowT]):
    """A row with its whole path in one kind (pod rows: below that kind's pod template)."""

    row: RowT
    pattern: Pattern
    base: Pattern = ()

    def pattern_of(self, text: str) -> Pattern:
        """Another path of the same row, whole."""
        return self.base + parse_pattern(text)


def place_of(error: Any) -> str:
    """Where in a table an error of pydantic lies: ``pointers row 3, target.name`` (rows count from 1)."""
    table, *inside = error["loc"]
    where = str(table)
    if inside and isinstance(inside[0], int):
        where += f" row {inside.pop(0) + 1}"
    return where + (", " + ".".join(map(str, inside)) if inside else "")
