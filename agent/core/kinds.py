"""How kinds are served: plural and scope, known from a table, from CRDs and from discovery."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from agent.core.model import Body, GroupKind
from agent.errors import ConfigError

CRD: Final = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")


class KindInfo(NamedTuple):
    """``plural`` is the name in API paths."""

    plural: str
    is_namespaced: bool


@dataclass(frozen=True)
class Kinds:
    """What is known of kinds.

    At sync time the shell adds what discovery says::

        kinds.extended({r.kind: KindInfo(r.plural, r.is_namespaced) for r in discovery.resources.values()})
    """

    known: Mapping[GroupKind, KindInfo] = field(default_factory=lambda: MappingProxyType({}))
    moves: Mapping[GroupKind, GroupKind] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def from_table(cls, table: Any, moves: Any = None) -> Kinds:
        """The kinds of ``policies/kinds.yaml`` and the moves of ``policies/moves.yaml``, already parsed.

        Raises:
            ConfigError: a row is not as the table's own rows are.
        """
        try:
            rows = [(GroupKind(r["group"], r["kind"]), r["plural"], r["namespaced"]) for r in table["kinds"]]
        except (KeyError, TypeError) as error:
            raise ConfigError(
                f"reading the table of kinds: a row needs group, kind, plural, namespaced: {error}"
            ) from None
        known = {kind: KindInfo(plural, is_namespaced) for kind, plural, is_namespaced in rows}
        return cls(known, _moves(moves["moves"]) if moves else MappingProxyType({}))

    def extended(self, more: Mapping[GroupKind, KindInfo]) -> Kinds:
        """The same with more kinds; what ``more`` says counts."""
        return Kinds({**self.known, **more}, self.moves) if more else self

    def stored(self, kind: GroupKind) -> GroupKind:
        """The kind under which the server stores what is written as ``kind``; itself for all but a few."""
        return self.moves.get(kind, kind)

    def get(self, kind: GroupKind) -> KindInfo | None:
        """How the kind is served, or None where nobody has said."""
        return self.known.get(kind)

    def is_namespaced(self, kind: GroupKind) -> bool | None:
        """Whether objects of the kind live in namespaces; None where nobody has said."""
        info = self.known.get(kind)
        return None if info is None else info.is_namespaced


def _moves(rows: Any) -> Mapping[GroupKind, GroupKind]:
    return {GroupKind(row["from"], row["kind"]): GroupKind(row["to"], row["kind"]) for row in rows}


def crd_kinds(bodies: Iterable[Body]) -> Mapping[GroupKind, KindInfo]:
    """The kinds that CustomResourceDefinitions among ``bodies`` define; half-written ones are passed over.

    Source: https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/.
    """
    found: dict[GroupKind, KindInfo] = {}
    for body in bodies:
        spec = body.get("spec")
        if body.get("kind") != CRD.kind or not isinstance(spec, dict):
            continue
        names = spec.get("names")
        if isinstance(names, dict) and names.get("kind") and names.get("plural") and spec.get("group"):
            kind = GroupKind(str(spec["group"]), str(names["kind"]))
            found[kind] = KindInfo(str(names["plural"]), spec.get("scope") == "Namespaced")
    return found
