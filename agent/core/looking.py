"""Which kinds a plan looks at, and where: the agent at a cluster, the rehearsal at its model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from agent.core.absence import EVIDENCE
from agent.core.ledger import Ledger
from agent.core.model import Desired, GroupKind, ObjectId
from agent.core.policy import Policy, group_kind

SPARED: Final = frozenset({GroupKind("", "Secret"), GroupKind("", "ConfigMap")})
"""Read only where members of the set live: nobody else's are any of our business."""


def members_of(desired: Desired, ledger: Ledger) -> frozenset[ObjectId]:
    """What the set wants, what it has, and what it may have by an intent that nobody has told apart yet."""
    intended = (entry.id for entry in ledger.intent.entries) if ledger.intent else ()
    return frozenset({*desired.manifests, *ledger.entries, *intended})


def kinds_to_read(
    policy: Policy, served: Mapping[GroupKind, str], members: Iterable[ObjectId], desired: Desired
) -> frozenset[GroupKind]:
    """Evidence, kinds that refer to others, members' kinds; ``served`` tells each served kind's plural."""
    tables = policy.tables
    rows = (*tables.pod_templates, *tables.pointers, *tables.references)
    named = {group_kind(text) for row in rows for text in row.kind if text not in ("*", "pods")}
    members = tuple(members)
    of_members = {key.group_kind for key in members}
    known = (named - SPARED) & served.keys()
    return frozenset({*EVIDENCE, *known, *of_members, *_defined(served, members, desired)})


def _defined(
    served: Mapping[GroupKind, str], members: Iterable[ObjectId], desired: Desired
) -> frozenset[GroupKind]:
    """The kinds of member CRDs that Git no longer wants: their objects hold the CRD."""
    going = {
        key.name for key in members if key.kind == "CustomResourceDefinition" and key not in desired.manifests
    }
    return frozenset(kind for kind, plural in served.items() if f"{plural}.{kind.group}" in going)


def places_of(kind: GroupKind, members: Collection[ObjectId]) -> tuple[str, ...]:
    """The namespaces in which a kind is listed; one empty name stands for all of them."""
    if kind not in SPARED:
        return ("",)
    return tuple(sorted({key.namespace for key in members if key.group_kind == kind}))


def api_versions(
    kinds: Iterable[GroupKind], versions: Mapping[GroupKind, Sequence[str]], failed: Mapping[str, str]
) -> Mapping[GroupKind, tuple[str, ...]]:
    """The apiVersions of kinds, by the ``versions`` that discovery has told; none where a part failed."""
    return {
        kind: tuple(f"{kind.group}/{version}" if kind.group else version for version in versions[kind])
        for kind in kinds
        if kind in versions and not why_unserved(kind, failed)
    }


def why_unserved(kind: GroupKind, failed: Mapping[str, str]) -> str:
    """Why discovery could not say whether the kind is served, or empty; ``failed`` by group-version."""
    for group_version, reason in failed.items():
        if group_version.partition("/")[0] == kind.group:
            return f"discovery of {group_version} failed: {reason}"
    return ""
