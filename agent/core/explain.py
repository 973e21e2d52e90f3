"""Why an object is there: what it names, and who names it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from agent.core.kinds import Kinds
from agent.core.model import Body, FieldPath, ObjectId, path_text
from agent.core.policy import Policy
from agent.core.references import Reference, pod_template, uses
from agent.core.targets import Target


class Link(NamedTuple):
    """One field that names something.

    ``holder`` has it at ``path``; ``says`` is what stands there in words, ``ids`` what that is among the
    objects at hand (of an object by name: itself, also when it is not there). ``grants``: the holder makes
    or serves what it names.
    """

    holder: ObjectId
    path: FieldPath
    says: str
    ids: tuple[ObjectId, ...]
    is_there: bool
    grants: bool = False

    @property
    def field(self) -> str:
        """The path as it is printed."""
        return path_text(self.path)


class Explanation(NamedTuple):
    """Both directions of one object; ``is_there`` is False for one that only others name."""

    id: ObjectId
    is_there: bool
    names: tuple[Link, ...]
    named_by: tuple[Link, ...]


def explain(objects: Mapping[ObjectId, Body], policy: Policy, key: ObjectId) -> Explanation:
    """What ``key`` names among ``objects``, and which of them name it; by name or by labels."""
    own = objects.get(key)
    names = tuple(_links(objects, policy, key, own)) if own is not None else ()
    named_by = tuple(
        link
        for holder, body in sorted(objects.items())
        if holder != key
        for link in _links(objects, policy, holder, body)
        if key in link.ids
    )
    return Explanation(key, own is not None, names, named_by)


def find(objects: Iterable[ObjectId], kinds: Kinds, kind: str, name: str) -> tuple[ObjectId, ...]:
    """The objects that a person means.

    ``kind`` is ``Deployment``, ``deployments`` or ``Kind.group``, ``name`` is ``namespace/name`` or ``name``.
    """
    meant = (key for key in objects if _is_meant(key, kinds, kind.lower()))
    return tuple(sorted(key for key in meant if _is_called(key, name)))


def _is_meant(key: ObjectId, kinds: Kinds, kind: str) -> bool:
    info = kinds.get(key.group_kind)
    spellings = {key.kind.lower(), f"{key.kind}.{key.group}".lower()}
    return kind in (spellings | {info.plural, f"{info.plural}.{key.group}"} if info else spellings)


def _is_called(key: ObjectId, name: str) -> bool:
    return name in (key.path, key.name)


def _links(objects: Mapping[ObjectId, Body], policy: Policy, holder: ObjectId, body: Body) -> Iterator[Link]:
    for reference in uses(body, policy):
        ids = _meant(objects, policy, reference, holder)
        is_there = any(one in objects for one in ids)
        yield Link(holder, reference.path, str(reference.target), ids, is_there, reference.grants)


def _meant(
    objects: Mapping[ObjectId, Body], policy: Policy, reference: Reference, holder: ObjectId
) -> tuple[ObjectId, ...]:
    target = reference.target
    if not isinstance(target, Target):
        # An owner may be cluster-scoped where its reference cannot say so.
        unscoped = target._replace(namespace="")
        return (unscoped if target not in objects and unscoped in objects else target,)
    return tuple(
        key
        for key, body in sorted(objects.items())
        if key != holder and _is_selected(target, key, body, policy)
    )


def _is_selected(target: Target, key: ObjectId, body: Body, policy: Policy) -> bool:
    """Pods are meant, and the workloads that make such pods."""
    bodies = [body] if key.group_kind == target.kind else []
    template = pod_template(body, policy)
    if template is not None and target.kind.kind == "Pod":
        bodies.append(template)
    labels = [(one.get("metadata") or {}).get("labels") or {} for one in bodies]
    return any(target.takes(key.namespace, one) for one in labels)
