"""What Trapeze knows about kinds: the policy tables, checked, merged and looked up by kind.

The tables are data (``policies/*.yaml``, shipped; the user's files come after and win for the same kind
and path). A fact about a kind that is not in a table is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from typing import Any, Final, TypeVar

import cel
from pydantic import ValidationError

from agent.core import tables
from agent.core.kind_policy import KindPolicy
from agent.core.model import Body, GroupKind, ObjectId
from agent.core.paths import Pattern, parse_pattern
from agent.core.rules import compile_rules
from agent.core.schemas import Schema
from agent.core.table_errors import in_words
from agent.core.table_row import Row
from agent.core.tables import PassingRow, Placed, RowT, SharedRow, UnblockingRow
from agent.errors import ConfigError

T = TypeVar("T")

PODS: Final = GroupKind("", "Pod")
"""The kind of a target that names pods by their labels."""

_FIELD: Final = re.compile(r"\{([^}]+)\}")

TABLES_OF_OTHERS: Final = frozenset({"kinds", "moves", "readiness"})
"""Tables in the same folder that have models of their own."""


def group_kind(text: str) -> GroupKind:
    """``Kind`` or ``Kind.group``, as tables write it."""
    kind, _, group = text.partition(".")
    return GroupKind(group, kind)


def group_kind_of(body: Body) -> GroupKind:
    """The kind of a body, without its version."""
    return _group_kind(str(body.get("apiVersion", "")), str(body.get("kind", "")))


@lru_cache(maxsize=4096)
def _group_kind(api_version: str, kind: str) -> GroupKind:
    group, slash, _ = api_version.partition("/")
    return GroupKind(group if slash else "", kind)


def id_of(body: Body) -> ObjectId:
    """The identity as the body says it (the namespace as written)."""
    metadata = body.get("metadata") or {}
    kind = group_kind_of(body)
    return ObjectId(*kind, str(metadata.get("namespace") or ""), str(metadata.get("name") or ""))


def _at(kind: GroupKind, rows: Iterable[Row]) -> Pattern | None:
    """The path of the row that speaks of a kind."""
    return next((parse_pattern(row.path) for row in rows if row.kind[0] == str(kind)), None)


@dataclass(frozen=True)
class Policy:
    """The merged tables; build it with ``Policy.parse``."""

    tables: tables.Tables
    _programs: Mapping[str, cel.Program]
    _by_kind: dict[GroupKind, KindPolicy] = field(default_factory=dict)
    schemas: Mapping[GroupKind, Schema] = field(default_factory=dict)
    _naming: dict[GroupKind, frozenset[GroupKind]] = field(default_factory=dict)
    known: dict[Any, tuple[Any, Any]] | None = None  # what was read of bodies, for who changes none of them

    @staticmethod
    def parse(sources: Iterable[tuple[str, Any]]) -> Policy:
        """The tables of ``sources`` (name of the file, its parsed content), later rows over earlier ones.

        Raises ConfigError that names file, table, row (from 1), field, value and what is allowed, also for
        a condition that is no CEL.
        """
        merged: dict[str, dict[tuple[str, ...], Row]] = {}
        programs: dict[str, cel.Program] = {}
        for name, content in sources:
            for table, rows in _checked(name, content):
                for number, row in enumerate(rows, 1):
                    _compile_condition(row, programs, f"{name}: {table} row {number}")
                    for single in _singles(row):
                        merged.setdefault(table, {})[single.key] = single
        whole = tables.Tables.model_validate({key: tuple(rows.values()) for key, rows in merged.items()})
        return Policy(whole, programs)

    def with_schemas(self, schemas: Mapping[GroupKind, Schema]) -> Policy:
        """The same with what schemas say of their kinds, over what the tables say of lists."""
        return replace(self, schemas={**self.schemas, **schemas}, _by_kind={}) if schemas else self

    def with_shared(self, rows: tuple[SharedRow, ...]) -> Policy:
        """The same with more shared lists, over those that the tables name."""
        if not rows:
            return self
        more = self.tables.model_copy(update={"shared": (*self.tables.shared, *rows)})
        touched = {row.kind[0] for row in rows}
        kept = {kind: known for kind, known in self._by_kind.items() if str(kind) not in touched}
        return replace(self, tables=more, _by_kind=kept)

    def recalled(self, what: str, body: Body, work: Callable[[Body, Policy], T]) -> T:
        """What ``work`` makes of a body by these tables: done once where ``known`` keeps it, else anew."""
        if self.known is None:
            return work(body, self)
        if (what, id(body)) not in self.known:
            # The body is kept with what was made of it: its address is its name here.
            self.known[what, id(body)] = (body, work(body, self))
        made: T = self.known[what, id(body)][1]
        return made

    def of(self, kind: GroupKind) -> KindPolicy:
        """All that the tables say of this kind; the rows of ``*`` for a kind that they do not name."""
        known = self._by_kind.get(kind)
        if known is None:
            known = self._by_kind[kind] = self._gather(kind)
        return known

    def holds(self, condition: str, otherwise: bool, **variables: Any) -> bool:  # noqa: FBT001 - the answer where the condition cannot be evaluated, said at each call
        """Whether a condition of the tables is true; ``otherwise`` where the object lacks what it asks."""
        try:
            return self._programs[condition].execute(variables) is True
        except (KeyError, TypeError, ValueError, RuntimeError):
            return otherwise

    def naming(self, kind: GroupKind) -> frozenset[GroupKind]:
        """The kinds with a field that can name an object of this kind; pods are always among them."""
        if kind not in self._naming:
            self._naming[kind] = self._that_name(kind)
        return self._naming[kind]

    def _that_name(self, kind: GroupKind) -> frozenset[GroupKind]:
        of_pods = {PODS, *(group_kind(row.kind[0]) for row in self.tables.pod_templates)}
        found = {PODS}
        rows: list[tables.PointerRow | tables.ReferenceRow] = [*self.tables.pointers, *self.tables.references]
        for row in rows:
            if _can_name(row.target, kind) and row.kind[0] != "*":
                found |= of_pods if row.kind[0] == "pods" else {group_kind(row.kind[0])}
        return frozenset(found)

    def rank(self, kind: GroupKind) -> int:
        """The place of a kind in the order of creation (low first)."""
        ranks = {row.kind[0]: row.rank for row in self.tables.order}
        return ranks.get(str(kind), ranks.get("*", 0))

    def never_pruned(self, object_id: ObjectId) -> bool:
        """Whether this object is protected by name: no approval lets it go."""
        return self._protection(object_id, "never")

    def needs_approval(self, object_id: ObjectId) -> bool:
        """Whether this object is pruned only with approval."""
        return self._protection(object_id, "approval")

    def is_incidental(self, object_id: ObjectId) -> bool:
        """Whether the cluster makes this object in every namespace by itself."""
        return any(
            row.kind[0] == str(object_id.group_kind) and (not row.names or object_id.name in row.names)
            for row in self.tables.incidental
        )

    @cached_property
    def controllers(self) -> frozenset[str]:
        """The field managers of the cluster's own controllers."""
        return frozenset(name for row in self.tables.controllers for name in row.names)

    def request_of(self, body: Body) -> str:
        """The API path of a real request through this pointer, or empty where the tables know none."""
        for placed in self.of(group_kind_of(body)).pointers:
            if placed.row.request:
                return _FIELD.sub(lambda match: str(_field(body, match[1])), placed.row.request)
        return ""

    def unblocks(self, body: Body) -> str:
        """Why this object only constrains and may be deleted first, or empty."""
        return self._says(self.tables.unblocking, body)

    def passes(self, body: Body) -> str:
        """Why this object, once made, may be absent and yet done, or empty."""
        return self._says(self.tables.passing, body)

    def _says(self, rows: Iterable[UnblockingRow | PassingRow], body: Body) -> str:
        kind = str(group_kind_of(body))
        meant = (row for row in rows if row.kind[0] == kind)
        return next((row.says for row in meant if self.holds(row.when, otherwise=False, object=body)), "")

    def _protection(self, object_id: ObjectId, prune: str) -> bool:
        return any(
            row.prune == prune
            and row.kind[0] == str(object_id.group_kind)
            and (not row.names or any(fnmatchcase(object_id.name, name) for name in row.names))
            for row in self.tables.protection
        )

    def placed(self, rows: tuple[RowT, ...], kind: GroupKind) -> tuple[Placed[RowT], ...]:
        """The rows of a table that speak of this kind, with their whole paths."""
        template = _at(kind, (*self.tables.pod_templates, *self.tables.kept_templates))
        out = []
        for row in rows:
            if row.kind[0] in {str(kind), "*"}:
                out.append(Placed(row, parse_pattern(row.path)))
            elif row.kind[0] == "pods" and template is not None:
                out.append(Placed(row, template + parse_pattern(row.path), template))
        return tuple(out)

    def _gather(self, kind: GroupKind) -> KindPolicy:
        def placed(rows: tuple[RowT, ...]) -> tuple[Placed[RowT], ...]:
            return self.placed(rows, kind)

        own = self.tables
        ignored = placed(own.ignored)
        schema = self.schemas.get(kind, Schema())
        rules = compile_rules(
            {
                "lists": placed(own.lists),
                "served_lists": placed(schema.lists),
                "quantities": (*placed(schema.quantities), *placed(own.quantities)),
                "base64": placed(own.base64),
                "defaults": (*placed(schema.defaults), *placed(own.defaults)),
                "empty_is_absent": placed(own.empty_is_absent),
                "ignored": tuple(p for p in ignored if not p.row.when),
                "injected": placed(own.injected),
            }
        )
        return KindPolicy(
            rules=rules,
            pod_template=_at(kind, own.pod_templates),
            ignored_when=tuple(p for p in ignored if p.row.when),
            folds=placed(own.folds),
            pointers=placed(own.pointers),
            shared=placed(own.shared),
            parts=placed(own.parts),
            content=placed(own.content),
            sole=placed(own.sole),
            shapes=placed(own.shapes),
            capacity=placed(own.capacity),
            immutable=placed(own.immutable),
            downtime=placed(own.downtime),
            replacements=placed(own.replacements),
            references=placed(own.references),
        )


def _can_name(target: tables.TargetRow, kind: GroupKind) -> bool:
    if target.kind_from:
        return not target.only or kind.kind in target.only
    return (PODS if target.kind == "pods" else group_kind(target.kind)) == kind


def _field(body: Any, path: str) -> Any:
    for part in parse_pattern(path):
        body = body.get(part) if isinstance(body, dict) else None
    return body


def _checked(name: str, content: Any) -> list[tuple[str, tuple[Row, ...]]]:
    if content is None:
        return []
    if not isinstance(content, dict):
        raise ConfigError(f"{name}: {content!r} is no policy file; it holds tables by name")
    own = {key: value for key, value in content.items() if key not in TABLES_OF_OTHERS}
    try:
        parsed = tables.Tables.model_validate(own)
    except ValidationError as error:
        raise ConfigError(f"{name}: " + "; ".join(map(in_words, error.errors()))) from None
    return [(key, getattr(parsed, key)) for key in parsed.model_fields_set]


def _singles(row: RowT) -> list[RowT]:
    return [row.model_copy(update={"kind": (kind,)}) for kind in row.kind]


def _compile_condition(row: Row, programs: dict[str, cel.Program], where: str) -> None:
    condition = getattr(row, "when", "")
    if condition and condition not in programs:
        try:
            programs[condition] = cel.compile(condition)
        except ValueError as error:
            raise ConfigError(f"{where}, when: {condition!r}: {error}") from None
